/**
 * Whatever reads the text of a stranger takes processor time in proportion to the text, for the shapes that cost each reader most.
 *
 * The rule: for n, 2n and 4n characters, where 4n is the longest text that reaches the reader, **each** doubling takes at most 2.5
 * times the processor time. (Time with the square of the text takes four times.) A time is the least of several rounds in which
 * the lengths take turns.
 *
 * One doubling may exceed that by a step: from some length on, V8 keeps an array, a hash table or a string in pages of its own,
 * and each character costs up to twice as much as before, once. So what fails is measured on, with an empty heap, from 4n to 16n
 * characters. A step is no growth: without the largest of the four doublings, the others take at most 2.5 times each on average.
 * A time with a power of the text grows in every doubling.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { afterAll, assert, describe, it } from "vitest"
import * as AccessTokens from "../src/accounts/AccessTokens.ts"
import * as ApiKeySecret from "../src/accounts/ApiKeySecret.ts"
import * as Cursors from "../src/crypto/Cursors.ts"
import { isSameOrigin } from "../src/http/transport/Origin.ts"
import * as SessionCookie from "../src/http/console/SessionCookie.ts"
import * as EntityTags from "../src/http/EntityTags.ts"
import * as Precompressed from "../src/http/Precompressed.ts"
import * as ClientAddress from "../src/http/transport/ClientAddress.ts"
import * as LocalHosts from "../src/http/transport/LocalHosts.ts"
import * as RequestTarget from "../src/http/transport/RequestTarget.ts"
import { parseJson } from "../src/invoices/parseJson.ts"
import { hasMoreValues, readSubmission } from "../src/invoices/readSubmission.ts"
import * as InvoiceDocument from "../src/invoices/xml/InvoiceDocument.ts"
import * as TraceContext from "../src/observability/TraceContext.ts"
import * as Client from "../../../packages/client/src/index.ts"
import * as OptionParsers from "../../../packages/dispatcher/src/OptionParsers.ts"
import { judgeUrl } from "../../../packages/dispatcher/src/Guard.ts"
import { parseRetryAfter } from "../../../packages/dispatcher/src/RetryAfter.ts"
import { Ids, InvoiceXml, Metadata } from "../../../packages/core/src/index.ts"
import { DocumentChecker } from "../../../packages/ksef/src/checks.ts"
import * as answers from "../../../packages/ksef/src/client/answers.ts"
import {
  DiscouragedCharacters,
  InvoiceHeader,
  KsefNumber,
  ReferenceNumber,
  Upo
} from "../../../packages/ksef/src/format.ts"
import {
  LimitAnswers,
  LoginAnswers,
  Problem,
  SessionAnswers,
  SystemWarning
} from "../../../packages/ksef/src/protocol.ts"
import {
  CanonicalXml,
  PrivateKeyFile,
  Signature,
  SigningCredential,
  XmlTree
} from "../../../packages/ksef/src/xades.ts"
import { StrictXml } from "../../../packages/ksef/src/xml.ts"
import { fa3 } from "../../../packages/ksef/test/checks/documents.ts"
import * as certificates from "../../../packages/ksef/test/support/certificates.ts"
import { readHeaders } from "../../../packages/webhooks/src/headers.ts"
import { createVerifier, signSync } from "../../../packages/webhooks/src/index.ts"
import * as Contract from "./http/support/contractServer.ts"

/** Makes a text of about this many characters. */
type Shape = (length: number) => string
type Shapes = Readonly<Record<string, Shape>>

interface Reader {
  /** The longest text that reaches it. */
  readonly limit: number
  readonly read: (text: string) => unknown
  readonly shapes: Shapes
}

const KiB = 1024
const maxRatio = 2.5
const minSliceMs = 1.5
const [minRounds, maxRounds] = [3, 9]

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const repeat =
  (part: string, { before = "", after = "" } = {}): Shape =>
  (length) =>
    before + part.repeat(Math.max(1, Math.floor((length - before.length - after.length) / part.length))) + after

/** Joins as many parts as have this many characters together. */
const count =
  (part: (index: number) => string, { before = "", after = "" } = {}): Shape =>
  (length) => {
    const parts: Array<string> = []
    for (let index = 0, rest = length - before.length - after.length; rest > 0; index++) {
      parts.push(part(index))
      rest -= parts.at(-1)!.length
    }
    return before + parts.join("") + after
  }

// A text that was put together from parts is joined before its first use, not while it is measured.
const flat = (text: string): string => Buffer.from(text).toString()

const attempt = async (reader: Reader, text: string): Promise<void> => {
  try {
    const result = reader.read(text)
    if (result instanceof Promise) await result
  } catch {
    // A refusal is an answer.
  }
}

/** Returns the processor time of this many calls. Of the whole process: that of a thread is behind by up to a tick. */
const cpuMs = async (reader: Reader, text: string, calls: number): Promise<number> => {
  const before = process.cpuUsage()
  for (let call = 0; call < calls; call++) await attempt(reader, text)
  const { system, user } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Returns the processor time of each text: the least of several rounds, each of as many calls. */
const measure = async (
  reader: Reader,
  texts: ReadonlyArray<string>,
  prepare: () => void
): Promise<ReadonlyArray<number>> => {
  let calls = 1
  for (; (await cpuMs(reader, texts[texts.length >> 1]!, calls)) < minSliceMs && calls < 4096;) calls *= 2
  const least = texts.map(() => Infinity)
  for (let round = 0; round < maxRounds; round++) {
    prepare()
    for (const [index, text] of texts.entries()) {
      least[index] = Math.min(least[index]!, await cpuMs(reader, text, calls))
    }
    if (round + 1 >= minRounds && areLinear(least)) break
  }
  return least
}

const areLinear = (times: ReadonlyArray<number>): boolean =>
  times.every((time, index) => index === 0 || time <= maxRatio * times[index - 1]!)

/** Tells whether the doublings but the largest are linear on average. */
const growsByOneStep = (times: ReadonlyArray<number>): boolean => {
  const doublings = times.slice(1).map((time, index) => time / times[index]!)
  const others = doublings.sort((a, b) => a - b).slice(0, -1)
  return others.reduce((product, doubling) => product * doubling, 1) <= maxRatio ** others.length
}

/** Returns the times of a reader that is not linear, `undefined` for one that is. */
const faultOf = async (reader: Reader, shape: Shape): Promise<string | undefined> => {
  const textsOf = (...parts: ReadonlyArray<number>) => parts.map((part) => flat(shape(part * reader.limit)))
  const first = await measure(reader, textsOf(1 / 4, 1 / 2, 1), () => {})
  if (areLinear(first)) return undefined
  const texts = textsOf(1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4)
  const times = await measure(reader, texts, collectGarbage)
  // Where more characters take less time, they are refused before they are read, or their memory costs less: from about a mebibyte on,
  // V8 keeps a text outside of its heap. What counts is up to there.
  if (growsByOneStep(times.slice(0, Math.max(5, times.indexOf(Math.max(...times)) + 1)))) return undefined
  return `${times.map((ms) => ms.toFixed(2)).join(", ")} ms for ${texts.map(({ length }) => length).join(", ")} characters`
}

const json: Shapes = {
  "quotes that end no string": repeat('\\"', { before: '{"' }),
  "escaped names": repeat('"\\u0061":1,', { before: "{", after: '"b":1}' }),
  "one long escaped name": repeat("\\n", { before: '{"', after: '":1}' }),
  "escaped values": repeat('"\\n",', { before: '{"\\n":[', after: '"a"]}' }),
  "strings that begin like names": repeat('",",', { before: '{"\\n":[', after: '"a"]}' }),
  "white space": repeat(" ", { before: '{"\\n"', after: ":1}" }),
  "white space behind strings": repeat('"a"        ,', { before: '{"\\n":[', after: '"a"]}' }),
  backslashes: repeat("\\\\", { before: '{"a":"', after: '"}' }),
  "backslashes that end nothing": repeat("\\", { before: '{"a":"' }),
  nesting: repeat("[", { before: '{"\\n":' }),
  "closed nesting": (length) => `{"\\n":${"[".repeat(length / 2)}${"]".repeat(length / 2)}}`,
  "objects in objects": (length) => `{"\\n":${'{"":'.repeat(length / 5)}1${"}".repeat(length / 5)}}`,
  numbers: repeat("1,", { before: '{"\\n":[', after: "1]}" }),
  "one number": repeat("9", { before: '{"\\n":', after: "}" })
}

const attributes = count((index) => `a${index}="x" `)
const prefixed = count((index) => `a:a${index}="x" `)
const namespaces = count((index) => `xmlns:a${index}="urn:${index}" `)

const xml: Shapes = {
  "open tags": repeat("<a>"),
  "closed nesting": (length) => "<a>".repeat(length / 7) + "</a>".repeat(length / 7),
  siblings: repeat("<a/>", { before: "<r>", after: "</r>" }),
  attributes: (length) => `<r ${attributes(length)}/>`,
  "attributes with prefixes": (length) => `<r xmlns:a="urn:a" ${prefixed(length)}/>`,
  "an attribute again and again": (length) => `<r ${"a='x' ".repeat(length / 6)}/>`,
  namespaces: (length) => `<r ${namespaces(length)}/>`,
  "declarations of namespaces in each element": repeat('<a xmlns="u">', {}),
  "an attribute that does not end": repeat("x", { before: '<r a="' }),
  angles: repeat("<"),
  ampersands: repeat("&", { before: "<r>" }),
  references: repeat("&amp;", { before: "<r>", after: "</r>" }),
  "character references": repeat("&#x41;", { before: "<r>", after: "</r>" }),
  "a reference that does not end": repeat("a", { before: "<r>&" }),
  comments: repeat("<!---->", { before: "<r>", after: "</r>" }),
  "a comment that does not end": repeat("- ", { before: "<r><!--" }),
  CDATA: repeat("<![CDATA[]]>", { before: "<r>", after: "</r>" }),
  "CDATA that does not end": repeat("]]", { before: "<r><![CDATA[" }),
  instructions: repeat("<?a?>", { before: "<r>", after: "</r>" }),
  "an instruction that does not end": repeat("? ", { before: "<r><?a " }),
  "line breaks": repeat("\r\n", { before: "<r>", after: "</q>" }),
  "white space at the front": repeat(" "),
  "white space in a tag": repeat(" ", { before: "<r", after: "/>" }),
  text: repeat("a", { before: "<r>", after: "</r>" }),
  "a doctype": repeat("<!ENTITY a 'b'>", { before: "<!DOCTYPE r [" }),
  brackets: repeat("]]>", { before: "<r>", after: "</r>" })
}

const list = (...parts: ReadonlyArray<string>): Shapes =>
  Object.fromEntries(parts.map((part) => [JSON.stringify(part), repeat(part)]))

const header: Shapes = {
  ...list(
    ",",
    ";",
    "=",
    '"',
    " ",
    "\t",
    "\\",
    "a",
    "0",
    "a,",
    "a;",
    "a=b,",
    'a="',
    'a="\\"',
    " ,",
    ";q=",
    "%",
    "%41",
    "[",
    ":"
  ),
  "a quotation that does not end": repeat('\\"', { before: 'for="' }),
  "white space before a comma": repeat(" ", { before: "a", after: ",b" }),
  "white space before nothing": repeat(" \t", { before: "v1=", after: "x" })
}

const addresses = ClientAddress.make(["10.0.0.0/8"])
const peer = "10.0.0.1"

const target = (url: string) =>
  RequestTarget.read({
    url,
    headers: { host: "a" },
    source: {},
    modify: (changes: object) => changes
    // The router reads no other member of a request.
  } as unknown as HttpServerRequest.HttpServerRequest)

const cursors = Effect.runSync(Effect.provide(Cursors.Cursors, Cursors.layer("x".repeat(32))))
const checker = await DocumentChecker.load()
const check = (text: string) => checker.check(text, { today: "2026-11-22", environment: "demo" })

const webhookHeaders = (signature: string) => ({
  "gov-event-id": "evt_a",
  "gov-timestamp": "2026-11-22T10:00:00Z",
  "gov-signature": signature
})

const url: Shapes = {
  ...list(
    "/",
    ".",
    "%",
    "%2F",
    "?",
    "#",
    ";",
    "a.",
    "@",
    "a@",
    "[",
    ":",
    "-",
    "xn--a.",
    "é",
    "0x1.",
    "\\",
    "//",
    "../"
  ),
  "a query": repeat("a=b&", { before: "/v1/invoices?" }),
  "a URL with many labels": repeat("a.", { before: "https://", after: "com" }),
  "a URL with one label": repeat("a", { before: "https://", after: ".com" }),
  "a URL with a password": repeat("a:", { before: "https://", after: "@example.com" }),
  "a URL with a path": repeat("/..", { before: "https://example.com" }),
  "a URL with digits": repeat("1.", { before: "https://" })
}

const pem: Shapes = {
  "begin lines": repeat("-----BEGIN PRIVATE KEY-----\n"),
  "a key that does not end": repeat("A", { before: "-----BEGIN PRIVATE KEY-----\n" }),
  dashes: repeat("-"),
  "dashes in a key": repeat("---- ", { before: "-----BEGIN PRIVATE KEY-----\n", after: "-----END PRIVATE KEY-----" }),
  "other ends": repeat("-----END RSA PRIVATE KEY-----\n", { before: "-----BEGIN PRIVATE KEY-----\n" }),
  headers: repeat("Proc-Type: 4,ENCRYPTED\n", {
    before: "-----BEGIN RSA PRIVATE KEY-----\n",
    after: "-----END RSA PRIVATE KEY-----"
  }),
  "an encrypted key": repeat("MIIA", {
    before: "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
    after: "\n-----END ENCRYPTED PRIVATE KEY-----"
  })
}

// Values in the rows of a valid document, and rows that violate the schema.
const invoice: Shapes = {
  ...xml,
  "attributes of a row": (length) => fa3.replace("<FaWiersz>", `<FaWiersz ${attributes(length)}>`),
  "namespaces of a row": (length) => fa3.replace("<FaWiersz>", `<FaWiersz ${namespaces(length)}>`),
  "a long value": (length) => fa3.replace("<P_7>", `<P_7>${"a ".repeat(length / 2)}`),
  "unknown elements": (length) => fa3.replace("<FaWiersz>", `${"<Z/>".repeat(length / 4)}<FaWiersz>`),
  "wrong values": (length) =>
    fa3.replace("<FaWiersz>", `${"<FaWiersz><NrWierszaFa>x</NrWierszaFa></FaWiersz>\n".repeat(length / 52)}<FaWiersz>`),
  "comments between elements": (length) => fa3.replace("<FaWiersz>", `${"<!--a-->".repeat(length / 8)}<FaWiersz>`)
}

const submission = (text: string) => readSubmission(Buffer.from(text), { mode: "test", scenario: "accepted" as never })

const token = (text: string): string => Buffer.from(text).toString("base64url")

const asDocument = (shapes: Shapes): Shapes =>
  Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [
      name,
      (length: number) => JSON.stringify({ invoice_xml: shape(length) })
    ])
  )

const receiptHead = `<Potwierdzenie xmlns="${Upo.namespace}">`
const document = "<Dokument><NipSprzedawcy>1</NipSprzedawcy><NumerFaktury>1</NumerFaktury></Dokument>"
const upo: Shapes = {
  ...xml,
  documents: (length) => repeat(document, { before: receiptHead, after: "</Potwierdzenie>" })(length),
  "elements that are no document": repeat("<Dokumenty/>", { before: receiptHead, after: "</Potwierdzenie>" }),
  "text in pieces": repeat("a&amp;<!---->", { before: receiptHead, after: "</Potwierdzenie>" })
}

// Requests of the API that pass through its middleware and the decoders of its schemas.
const contract = Contract.makeServer()
const send = Contract.sendTo(contract)
afterAll(() => contract.dispose())

const member = (name: string, others: string, ...rest: ReadonlyArray<string>): Shapes =>
  Object.fromEntries([
    ["a long value", repeat("a ", { before: `{${others}"${name}":"`, after: '"}' })],
    ["a value of escapes", repeat("\\n", { before: `{${others}"${name}":"`, after: '"}' })],
    ["unknown members", count((index) => `"a${index}":1,`, { before: "{", after: `${others}"${name}":"a"}` })],
    ["one member many times", repeat(`"${name}":"a",`, { before: "{", after: `${others}"${name}":"a"}` })],
    ["a list", repeat("1,", { before: `{${others}"${name}":[`, after: "1]}" })],
    ["an object", count((index) => `"a${index}":"a",`, { before: `{${others}"${name}":{`, after: '"a":"a"}}' })],
    ...rest.map((value): readonly [string, Shape] => [
      `a list of ${value}`,
      repeat(`${value},`, { before: `{${others}"${name}":[`, after: `${value}]}` })
    ])
  ])

const password = '"password":"a password that is long",'
const organization = "/v1/control-plane/organizations/org_01m7q5cqg0e6786ptds43fm4k3"
const post = (path: string) => (raw: string) => send("POST", path, { raw })

const query: Shapes = {
  ...list(
    "a=b&",
    "&",
    "=",
    "%",
    "%5B",
    "+",
    "metadata[a]=x&",
    "metadata[",
    "metadata[a]",
    "[",
    "cursor=",
    "limit=1&",
    "status=queued&"
  ),
  "metadata by many names": count((index) => `metadata[a${index}]=x&`),
  "metadata of one long name": repeat("a", { before: "metadata[", after: "]=x" }),
  "metadata of one long value": repeat("%20", { before: "metadata[a]=" }),
  "many names": count((index) => `a${index}=x&`),
  "a long time": repeat("0", { before: "created_after=2026-11-22T10:00:00.", after: "Z" })
}

const bearer: Shapes = {
  ...list(".", "a.", "=", "-", "_", "a", "sk_test_", "e30.", " ", "Bearer "),
  "a head with many members": (length) =>
    `${token(count((index) => `"a${index}":1,`, { before: '{"alg":"HS256",', after: '"b":1}' })(length * 0.7))}.e30.AA`,
  "a head with lists in lists": (length) =>
    `${token(repeat("[", { before: '{"alg":"HS256","b":' })(length * 0.7))}.e30.AA`,
  "critical members": (length) =>
    `${token(repeat('"b64",', { before: '{"alg":"HS256","crit":[', after: '"b64"]}' })(length * 0.7))}.e30.AA`,
  "a long payload": (length) => `${token('{"alg":"HS256"}')}.${"e30".repeat(length / 3)}.AA`,
  "a long signature": (length) => `${token('{"alg":"HS256"}')}.e30.${"AAAA".repeat(length / 4)}`
}

const accessTokens = Effect.runSync(Effect.provide(AccessTokens.AccessTokens, AccessTokens.layer("x".repeat(32))))
const isServed = LocalHosts.make("127.0.0.1")

// What a service, a proxy or an attacker between them answers to the client.
const answered = async (
  text: string,
  status: number,
  headers: Record<string, string> = {}
): Promise<Client.Connection> =>
  Client.createConnection({
    apiKey: "sk_test_a",
    baseUrl: "http://localhost",
    maxRetries: 0,
    fetch: async () => new Response(text, { status, headers })
  })
const invoiceId = "inv_01m7q5cqg0e6786ptds43fm4k3"
const record = JSON.stringify(Contract.examples["invoices.get"].response)
const records: Shapes = {
  ...json,
  records: repeat(`${record},`, {
    before: '{"object":"list","has_more":false,"next_cursor":null,"data":[',
    after: `${record}]}`
  }),
  "names with underscores": count((index) => `"a_b_${index}":1,`, { before: "{", after: '"b":1}' }),
  "one name of underscores": repeat("_a", { before: '{"', after: '":1}' }),
  metadata: count((index) => `"a${index}":"a",`, {
    before: record.replace(/"metadata":.*/s, '"metadata":{'),
    after: '"a":"a"}}'
  })
}
const refusals: Shapes = {
  ...json,
  ...xml,
  "a long message": repeat("sk_test_a", {
    before: '{"error":{"type":"api_error","code":"a","param":null,"request_id":"a","retryable":true,"message":"',
    after: '"}}'
  })
}

const call = "sessionInvoices"
const responseOf = (text: string, status = 200) => ({ status, headers: {}, body: Buffer.from(text), isWhole: true })
const decodeWith = (schema: Parameters<typeof answers.json>[0]) => {
  const decode = answers.json(schema)
  return (text: string) => Effect.runSync(Effect.result(decode(call, responseOf(text))))
}
const decodeStarted = decodeWith(LoginAnswers.LoginStarted)
const status = '{"code":200,"description":"a","details":["a"]}'
const time = '"2026-11-22T10:00:00.1234567+00:00"'
const answer = (before: string, element: string, after: string): Shapes => ({
  elements: repeat(`${element},`, { before, after: `${element}${after}` }),
  "wrong elements": repeat("1,", { before, after: `1${after}` }),
  "elements with unknown members": count((index) => `${element.slice(0, -1)},"a${index}":1},`, {
    before,
    after: `${element}${after}`
  }),
  "long values": (length) => `${before}${element.replace('"a"', `"${"a ".repeat(length / 2)}"`)}${after}`
})
const invoiceStatus = `{"referenceNumber":"a","invoiceHash":"a","status":${status},"invoicingDate":${time}}`
const publicKey = '{"certificate":"a","publicKeyId":"a","usage":["a"],"validFrom":"a","validTo":"a"}'

// Encrypted keys and certificates as strangers can write them.
const tlv = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const size = Buffer.alloc(5, 0x84)
  size.writeUInt32BE(content.length, 1)
  return Buffer.concat([Buffer.from([tag]), size, content])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>): Buffer => tlv(0x30, ...parts)
const encrypted = (algorithm: Buffer): string =>
  `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${sequence(algorithm, tlv(0x04)).toString("base64")}\n-----END ENCRYPTED PRIVATE KEY-----\n`
const pbes2 = tlv(0x06, Buffer.from("2a864886f70d01050d", "hex"))
const bytes = (length: number, byte: number): Buffer => Buffer.alloc((length * 3) / 4, byte)
const encryptedKeys: Shapes = {
  "an encryption with a long identifier": (length) => encrypted(sequence(tlv(0x06, bytes(length, 0xff)), sequence())),
  "an encryption with an identifier of many parts": (length) =>
    encrypted(sequence(tlv(0x06, bytes(length, 0x01)), sequence())),
  "a derivation with a long identifier": (length) =>
    encrypted(sequence(pbes2, sequence(sequence(tlv(0x06, bytes(length, 0xff)), sequence()), sequence(tlv(0x06))))),
  "parameters of many numbers": (length) =>
    encrypted(sequence(tlv(0x06), sequence(...Array.from({ length: length / 4 }, () => Buffer.from([2, 1, 1]))))),
  "a parameter of one long number": (length) => encrypted(sequence(tlv(0x06), tlv(0x02, bytes(length, 0xff)))),
  "parameters in parameters": (length) => {
    let parameters = Buffer.alloc(0)
    for (let depth = 0; depth < length / 8; depth++) parameters = Buffer.concat([Buffer.from([0x30, 0x80]), parameters])
    return encrypted(sequence(tlv(0x06), parameters))
  }
}

const certificate =
  (options: (length: number) => certificates.Options): Shape =>
  (length) =>
    certificates.makePair({ key: "P-256", ...options((length * 3) / 8) }).certificate
const { types } = certificates
const named = (type: string, part: string): Shape =>
  certificate((length) => ({ subject: [[type, part.repeat(length / part.length)]] }))
const foreignCertificates: Shapes = {
  ...Object.fromEntries(
    Object.entries(pem).map(([name, shape]) => [
      name,
      (length: number) => shape(length).replaceAll("PRIVATE KEY", "CERTIFICATE")
    ])
  ),
  "a common name": named(types.commonName, "+ "),
  "marks of a tax number": named(types.organizationIdentifier, "VATPL"),
  "marks of a serial number": named(types.serialNumber, "NIP"),
  "marks of a person": named(types.serialNumber, "PNOPL"),
  "digits without a mark": named(types.serialNumber, "123456789 "),
  "a long serial number": certificate((length) => ({ serial: `01${"ff".repeat(length)}` })),
  "many names": certificate((length) => ({
    subject: Array.from({ length: length / 16 }, () => [types.commonName, "a"] as const)
  })),
  "an unknown name with many parts": certificate((length) => ({ subject: [[`1.2${".1".repeat(length)}`, "a"]] })),
  "many hosts": certificate((length) => ({ names: Array.from({ length: length / 4 }, () => "a.b") }))
}

const webhookSecret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
const { verifySync } = createVerifier({ secret: webhookSecret, now: () => 0 })
const verified = (body: string) => {
  const timestamp = new Date(0).toISOString()
  return verifySync(body, {
    "gov-event-id": "evt_a",
    "gov-timestamp": timestamp,
    "gov-signature": signSync({ secret: webhookSecret, timestamp, body })
  })
}
const event: Shapes = {
  ...json,
  "a known event": repeat("1,", { before: '{"id":"evt_a","type":"invoice.accepted","data":[', after: "1]}" }),
  "one id many times": repeat('"id":"evt_a",', { before: "{", after: '"id":"evt_a"}' })
}

const signedXml: Shapes = {
  ...xml,
  "children with a prefix": repeat("<a:b/>", { before: '<r xmlns:a="urn:a">', after: "</r>" }),
  "declarations in turns": repeat('<a xmlns="urn:a"><b xmlns="urn:b"></b></a>', { before: "<r>", after: "</r>" })
}

const signatureOf = (references: string): string =>
  `<d:Signature><d:SignedInfo><d:SignatureMethod Algorithm="${more}ecdsa-sha256"/>${references}</d:SignedInfo></d:Signature>`
const more = "http://www.w3.org/2001/04/xmldsig-more#"
const digest = '<d:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><d:DigestValue>AA</d:DigestValue>'
const signedDocument = (content: string, references: string): string =>
  `<a xmlns:d="http://www.w3.org/2000/09/xmldsig#"><b Id="b">${content}</b>${signatureOf(references)}</a>`
const exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"
const signatures: Shapes = {
  ...xml,
  references: (length) =>
    signedDocument("a".repeat(length / 2), repeat(`<d:Reference URI="#b">${digest}</d:Reference>`)(length / 2)),
  "prefixes of a canonical form": (length) =>
    signedDocument(
      "<b/>".repeat(length / 8),
      `<d:Reference URI="#b"><d:Transforms><d:Transform Algorithm="${exclusive}"><e:InclusiveNamespaces xmlns:e="${exclusive}" PrefixList="${"a ".repeat(length / 4)}"/></d:Transform></d:Transforms>${digest}</d:Reference>`
    )
}

const readers: Readonly<Record<string, Reader>> = {
  "the body of a request": { limit: 64 * KiB, read: parseJson, shapes: json },
  "the count of values": {
    limit: 64 * KiB,
    read: (text) => hasMoreValues(Buffer.from(text), Infinity),
    shapes: json
  },
  "a submission": { limit: 64 * KiB, read: submission, shapes: { ...json, ...asDocument(xml) } },
  metadata: { limit: 64 * KiB, read: (text) => Metadata.fault(JSON.parse(text)), shapes: json },
  invoice_xml: { limit: 64 * KiB, read: InvoiceXml.fault, shapes: xml },
  "a document": { limit: 64 * KiB, read: InvoiceDocument.read, shapes: xml },
  "well-formedness": { limit: 64 * KiB, read: (text) => StrictXml.read(text), shapes: xml },
  "the head of an invoice": { limit: 64 * KiB, read: InvoiceHeader.read, shapes: xml },
  "the checks of an invoice": { limit: 64 * KiB, read: check, shapes: invoice },
  "discouraged characters": { limit: 64 * KiB, read: DiscouragedCharacters.search, shapes: xml },
  "a receipt": { limit: 256 * KiB, read: Upo.read, shapes: upo },
  "a signed document": { limit: 256 * KiB, read: Signature.verify, shapes: signatures },
  "a tree of XML": {
    limit: 256 * KiB,
    read: (text) => StrictXml.read(text) ?? CanonicalXml.write(XmlTree.parse(text), CanonicalXml.exclusive),
    shapes: signedXml
  },
  "a problem of KSeF": { limit: 64 * KiB, read: Problem.read, shapes: { ...json, ...xml } },
  "a warning of KSeF": { limit: 16 * KiB, read: SystemWarning.read, shapes: { ...json, ...header } },
  "a KSeF number": { limit: 16 * KiB, read: KsefNumber.isValid, shapes: header },
  "a reference number": { limit: 16 * KiB, read: ReferenceNumber.isValid, shapes: header },
  "a private key": {
    limit: 64 * KiB,
    read: (text) => Effect.runSync(Effect.result(PrivateKeyFile.read(text, "x"))),
    shapes: pem
  },
  "a plain private key": { limit: 64 * KiB, read: PrivateKeyFile.readPlain, shapes: pem },
  "an encrypted private key": {
    limit: 16 * KiB,
    read: (text) => Effect.runSync(Effect.result(PrivateKeyFile.read(text, "x"))),
    shapes: encryptedKeys
  },
  "a certificate": {
    limit: 64 * KiB,
    // Without a key, whose check would take most of the time.
    read: (certificate) => SigningCredential.read({ certificate, privateKey: "" }, 0),
    shapes: foreignCertificates
  },
  "a login": {
    limit: 16 * KiB,
    read: post("/v1/control-plane/login"),
    shapes: { ...json, ...member("email", password) }
  },
  "a new endpoint": {
    limit: 256 * KiB,
    read: post(`${organization}/webhook-endpoints`),
    shapes: {
      ...json,
      ...member("event_types", '"url":"https://example.com",', '"*"', '"invoice.failed"', '"unknown"'),
      ...member("headers", '"url":"https://example.com","event_types":["*"],')
    }
  },
  "a credential of KSeF": {
    limit: 256 * KiB,
    read: (raw) => send("PUT", `${organization}/gateway-credential`, { raw }),
    shapes: {
      ...json,
      ...member("private_key", '"type":"certificate","certificate":"a","context":{"type":"Nip","value":"5265877635"},')
    }
  },
  "the query of a list": { limit: 16 * KiB, read: (text) => send("GET", `/v1/invoices?${text}`), shapes: query },
  "the query of deliveries": {
    limit: 16 * KiB,
    read: (text) => send("GET", `${organization}/webhook-deliveries?${text}`),
    shapes: query
  },
  "a path": {
    limit: 16 * KiB,
    read: (text) => send("GET", text.startsWith("/") ? text : `/v1/invoices/${text}`),
    shapes: url
  },
  Authorization: { limit: 16 * KiB, read: (key) => send("GET", "/v1/me", { key }), shapes: bearer },
  "Idempotency-Key": {
    limit: 16 * KiB,
    read: (text) => send("POST", "/v1/invoices", { raw: "{}", headers: { "idempotency-key": text } }),
    shapes: header
  },
  "an API key": { limit: 16 * KiB, read: ApiKeySecret.isWellFormed, shapes: bearer },
  "an access token": { limit: 16 * KiB, read: (text) => Effect.runPromise(accessTokens.verify(text)), shapes: bearer },
  Host: { limit: 16 * KiB, read: (text) => isServed(text), shapes: { ...header, ...url } },
  Origin: { limit: 16 * KiB, read: (text) => isSameOrigin({ origin: text, host: text }), shapes: url },
  "an answer to the client": {
    limit: 256 * KiB,
    read: async (text) => Client.getInvoice(await answered(text, 200), invoiceId),
    shapes: records
  },
  "a page to the client": {
    limit: 256 * KiB,
    read: async (text) => Client.listSubmittedInvoices(await answered(text, 200)).page(),
    shapes: records
  },
  "a refusal to the client": {
    limit: 256 * KiB,
    read: async (text) => Client.getInvoice(await answered(text, 400), invoiceId),
    shapes: refusals
  },
  "the headers of a refusal to the client": {
    limit: 16 * KiB,
    read: async (text) =>
      Client.getInvoice(
        await answered(record, 429, { ratelimit: text, "retry-after": text, "request-id": text }),
        invoiceId
      ),
    shapes: { ...header, ...list('";r=1', 'bytes";r=', '";r=') }
  },
  "a list of invoices of KSeF": {
    limit: 256 * KiB,
    read: decodeWith(SessionAnswers.InvoicePage),
    shapes: { ...json, ...answer('{"continuationToken":null,"invoices":[', invoiceStatus, "]}") }
  },
  "the keys of KSeF": {
    limit: 256 * KiB,
    read: decodeWith(LoginAnswers.PublicKeys),
    shapes: answer("[", publicKey, "]")
  },
  "the limits of KSeF": {
    limit: 256 * KiB,
    read: decodeWith(LimitAnswers.RateLimits),
    shapes: {
      ...json,
      groups: count((index) => `"a${index}":{"perSecond":1,"perMinute":1,"perHour":1},`, {
        before: "{",
        after: '"b":1}'
      })
    }
  },
  "the beacon of KSeF": {
    limit: 256 * KiB,
    read: decodeWith(LimitAnswers.Beacon),
    shapes: answer('{"status":"AVAILABLE","messages":[', '{"title":"a","text":"a"}', "]}")
  },
  "a time of KSeF": {
    limit: 16 * KiB,
    read: (text) =>
      decodeStarted(JSON.stringify({ referenceNumber: "a", authenticationToken: { token: "a", validUntil: text } })),
    shapes: { ...header, "many digits": repeat("0", { before: "2026-11-22T10:00:00.", after: "Z" }) }
  },
  "a refusal of KSeF": {
    limit: 256 * KiB,
    read: (text) => Effect.runSync(Effect.result(answers.succeeded(call, responseOf(text, 400), 0))),
    shapes: { ...answer('{"title":"a","errors":[', status, "]}"), ...xml }
  },
  "a document of KSeF": {
    limit: 256 * KiB,
    read: (text) => Effect.runSync(Effect.result(answers.xml(call, responseOf(text)))),
    shapes: xml
  },
  "the body of a webhook": { limit: 256 * KiB, read: verified, shapes: event },
  Forwarded: { limit: 16 * KiB, read: (forwarded) => addresses.find(peer, { forwarded }), shapes: header },
  "X-Forwarded-For": {
    limit: 16 * KiB,
    read: (text) => addresses.find(peer, { "x-forwarded-for": text }),
    shapes: header
  },
  "an address": { limit: 16 * KiB, read: ClientAddress.group, shapes: header },
  Cookie: { limit: 16 * KiB, read: SessionCookie.read, shapes: header },
  "Accept-Encoding": { limit: 16 * KiB, read: (text) => Precompressed.negotiate(text), shapes: header },
  "If-None-Match": { limit: 16 * KiB, read: (text) => EntityTags.matches(text, '"a"'), shapes: header },
  traceparent: {
    limit: 16 * KiB,
    read: (text) => Effect.runSync(TraceContext.under(Effect.void, text)),
    shapes: header
  },
  "Retry-After": { limit: 16 * KiB, read: (text) => parseRetryAfter(text, 0), shapes: header },
  "a target": { limit: 16 * KiB, read: target, shapes: url },
  "a cursor": { limit: 16 * KiB, read: (text) => cursors.read(["a"], text), shapes: url },
  "an id": { limit: 16 * KiB, read: (text) => Ids.is("inv", text), shapes: header },
  "the URL of an endpoint": { limit: 64 * KiB, read: (text) => judgeUrl(text), shapes: url },
  "a network": { limit: 16 * KiB, read: (text) => OptionParsers.networks([text]), shapes: header },
  "the headers of a webhook": {
    limit: 16 * KiB,
    read: (text) => Result.try(() => readHeaders(webhookHeaders(text))),
    shapes: header
  }
}

const cases = Object.entries(readers).flatMap(([name, reader]) =>
  Object.entries(reader.shapes).map(([shape, make]) => [name, shape, reader, make] as const)
)

describe("processor time", () => {
  // Noise of the machine passes the second or third time; time that grows faster than the text never does.
  it.each(cases)("of %s grows with the text: %s", { retry: 2 }, async (_name, _shape, reader, shape) => {
    const fault = await faultOf(reader, shape)
    assert.isUndefined(fault, fault)
  })

  it("that grows by one step is allowed, and with a power of the text is not", () => {
    assert.isTrue(growsByOneStep([3.04, 12.3, 23.15, 53.2, 121.56]))
    assert.isFalse(growsByOneStep([1, 2.9, 8.4, 24.4, 70.7]))
    assert.isFalse(growsByOneStep([1, 4, 16, 64, 256]))
    assert.isFalse(growsByOneStep([1, 4, 16, 64]))
  })

  it("that grows with the square of the text is found", async () => {
    const quadratic = { limit: KiB, read: (text: string) => /x+y/.test(text), shapes: {} }
    assert.isDefined(await faultOf(quadratic, repeat("x")))
  })
})
