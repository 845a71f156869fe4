/**
 * Generates the test vectors with `node:crypto`, independent of this package.
 * Run the tests with `UPDATE_VECTORS=1` to update `src/vectors.json`.
 */
import { createHmac } from "node:crypto"

export interface Vector {
  readonly name: string
  readonly secrets: ReadonlyArray<string>
  readonly body?: string
  readonly bodyBase64?: string
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> }
  readonly now: number
  readonly toleranceSeconds?: number
  readonly expect: string
}

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
const oldSecret = "whsec_0Vt0w8nWkqk3m1CXzZ0y6gk1wq8uQ3rjG2pZb5YxT9c"
const otherSecret = "whsec_Zm9yZWlnbi1zZWNyZXQtb2Ytc29tZWJvZHktZWxzZSE"
const timestamp = "2026-11-20T10:00:00.000Z"
const now = Date.parse(timestamp) + 1000
const id = "evt_01kq5v4zfxe1r8t0m3n5p7q9sv"
const zeros = `v1=${"0".repeat(64)}`

const event = (members: object = {}) => JSON.stringify({ id, type: "invoice.accepted", ...members })

const wholeEvent = event({
  object: "event",
  mode: "test",
  created_at: timestamp,
  data: { invoice: { id: "inv_01kq5v4zfxe1r8t0m3n5p7q9sv", object: "invoice", mode: "test", status: "accepted" } }
})

const bytes = (body: string | Uint8Array) => (typeof body === "string" ? Buffer.from(body, "utf8") : body)

export const signature = (body: string | Uint8Array, key = secret, at = timestamp) =>
  `v1=${createHmac("sha256", Buffer.from(key, "utf8")).update(`${at}.`).update(bytes(body)).digest("hex")}`

interface Options {
  readonly body?: string | Uint8Array
  readonly headers?: (headers: Record<string, string>) => Vector["headers"]
  readonly secrets?: ReadonlyArray<string>
  readonly now?: number
  readonly toleranceSeconds?: number
  readonly signedWith?: string
  readonly signedBody?: string | Uint8Array
  readonly timestamp?: string
}

const vector = (name: string, expect: string, options: Options = {}): Vector => {
  const body = options.body ?? event()
  const at = options.timestamp ?? timestamp
  const headers = {
    "Gov-Event-Id": id,
    "Gov-Timestamp": at,
    "Gov-Signature": signature(options.signedBody ?? body, options.signedWith, at)
  }
  return {
    name,
    secrets: options.secrets ?? [secret],
    ...(typeof body === "string" ? { body } : { bodyBase64: Buffer.from(body).toString("base64") }),
    headers: options.headers?.(headers) ?? headers,
    now: options.now ?? now,
    ...(options.toleranceSeconds !== undefined && { toleranceSeconds: options.toleranceSeconds }),
    expect
  }
}

const withSignature = (change: (good: string) => string) => (headers: Record<string, string>) => ({
  ...headers,
  "Gov-Signature": change(headers["Gov-Signature"]!)
})
const without = (name: string) => (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name))
const withHeaders = (more: Vector["headers"]) => (headers: Record<string, string>) => ({ ...headers, ...more })
const at = (text: string) => ({ timestamp: text })
const bytesOf = (...parts: ReadonlyArray<string | ReadonlyArray<number>>) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "utf8") : Buffer.from(part))))

const notUtf8 = bytesOf(`{"id":"${id}","type":"invoice.accepted","note":"`, [0xff, 0xfe, 0xc3, 0x28], '"}')
const polish = event({ note: "Zażółć gęślą jaźń: faktura nr 7/2026, 1 234,50 zł, „Łódź”" })

export const makeVectors = (): ReadonlyArray<Vector> => [
  vector("good", "ok"),
  vector("good, a whole event", "ok", { body: wholeEvent }),
  vector("good, body as bytes", "ok", { body: bytesOf(event()) }),
  vector("good, Polish text", "ok", { body: polish }),
  vector("good, characters outside the basic plane", "ok", { body: event({ note: "🧾 €" }) }),
  vector("good, byte order mark before the JSON", "ok", { body: bytesOf([0xef, 0xbb, 0xbf], event()) }),
  vector("good, byte order mark in text", "ok", { body: `\uFEFF${event()}` }),
  vector("good, bytes that are not UTF-8 in a string", "ok", { body: notUtf8 }),
  vector("good, escapes and line ends", "ok", {
    body: `{\r\n "id": "${id}",\t"type": "invoice.accepted",\n"x": "\\u0000"}\n`
  }),
  vector("good, a type of event that is not known yet", "ok", { body: event({ type: "invoice.archived" }) }),
  vector("good, header names in lowercase", "ok", {
    headers: (headers) =>
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  }),
  vector("good, header names in capitals", "ok", {
    headers: (headers) =>
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
  }),
  vector("good, among other headers", "ok", {
    headers: withHeaders({
      "Content-Type": "application/json",
      "User-Agent": "Govoice-Webhooks/1",
      Host: "example.com"
    })
  }),
  vector("good, timestamp without a fraction", "ok", at("2026-11-20T10:00:00Z")),
  vector("good, timestamp in nanoseconds", "ok", at("2026-11-20T10:00:00.123456789Z")),
  vector("good, leap day", "ok", { timestamp: "2028-02-29T12:00:00Z", now: Date.parse("2028-02-29T12:00:00Z") }),

  vector("rotated, signed with the old secret", "ok", { secrets: [secret, oldSecret], signedWith: oldSecret }),
  vector("rotated, signed with the new secret", "ok", { secrets: [oldSecret, secret] }),
  vector("rotated, signed with a secret that is gone", "no_match", { secrets: [secret], signedWith: oldSecret }),
  vector("rotated, signatures of both secrets", "ok", {
    headers: withSignature((good) => `${signature(event(), oldSecret)},${good}`)
  }),
  vector("several signatures, commas and white space", "ok", {
    headers: withSignature((good) => `${zeros} ,\t${good} , v1=${"f".repeat(64)}`)
  }),
  vector("several signatures, none fits", "no_match", {
    headers: withSignature(() => `${zeros}, v1=${"f".repeat(64)}`)
  }),
  vector("unknown version beside a good signature", "ok", { headers: withSignature((good) => `v2=abc,${good}`) }),
  vector("unknown version alone", "no_match", { headers: withSignature(() => "v2=abc") }),
  vector("good signature under an unknown version", "no_match", {
    headers: withSignature((good) => good.replace("v1=", "v0="))
  }),
  vector("good signature under a version in capitals", "no_match", {
    headers: withSignature((good) => good.replace("v1=", "V1="))
  }),
  vector("malformed signature beside a good one", "ok", { headers: withSignature((good) => `v1=abc, ${good}`) }),
  vector("good signature in the eighth place", "ok", {
    headers: withSignature((good) => [...Array.from({ length: 7 }, () => zeros), good].join(","))
  }),
  vector("good signature in the ninth place", "no_match", {
    headers: withSignature((good) => [...Array.from({ length: 8 }, () => zeros), good].join(","))
  }),

  vector("tampered, one character of the body", "no_match", {
    body: event().replace("accepted", "acceptee"),
    signedBody: event()
  }),
  vector("tampered, white space added", "no_match", { body: `${event()} `, signedBody: event() }),
  vector("tampered, serialized again", "no_match", {
    body: JSON.stringify(JSON.parse(`{ "id": "${id}" }`)),
    signedBody: `{ "id": "${id}" }`
  }),
  vector("tampered, byte order mark taken off", "no_match", { body: event(), signedBody: `\uFEFF${event()}` }),
  vector("tampered, bytes replaced by U+FFFD", "no_match", { body: notUtf8.toString("utf8"), signedBody: notUtf8 }),
  vector("tampered, timestamp written in another way", "no_match", {
    headers: withHeaders({ "Gov-Timestamp": "2026-11-20T10:00:00Z" })
  }),
  vector("tampered, timestamp moved", "no_match", {
    headers: withHeaders({ "Gov-Timestamp": "2026-11-20T10:00:01.000Z" })
  }),
  vector("tampered, last digit of the signature", "no_match", {
    headers: withSignature((good) => good.slice(0, -1) + (good.endsWith("0") ? "1" : "0"))
  }),
  vector("signed with another secret", "no_match", { signedWith: otherSecret }),
  vector("signed with the secret without its prefix", "no_match", { signedWith: secret.slice("whsec_".length) }),
  vector("event id that is not the event's", "id_mismatch", { headers: withHeaders({ "Gov-Event-Id": `${id}x` }) }),
  vector("event id in another case", "id_mismatch", { headers: withHeaders({ "Gov-Event-Id": id.toUpperCase() }) }),
  vector("event without an id", "id_mismatch", { body: '{"type":"invoice.accepted"}' }),
  vector("event that is a list", "id_mismatch", { body: "[]" }),

  vector("empty, rightly signed", "body_not_json", { body: "" }),
  vector("empty, not signed", "no_match", { body: "", signedBody: "{}" }),
  vector("not JSON, rightly signed", "body_not_json", { body: "id=evt_1&type=invoice.accepted" }),
  vector("not JSON, not signed", "no_match", { body: "{", signedBody: "{}" }),
  vector("cut off, rightly signed", "body_not_json", { body: event().slice(0, -1) }),

  vector("age at the limit", "ok", { now: Date.parse(timestamp) + 300_000 }),
  vector("stale by a millisecond", "timestamp_too_old", { now: Date.parse(timestamp) + 300_001 }),
  vector("stale by a year", "timestamp_too_old", { now: Date.parse(timestamp) + 365 * 86_400_000 }),
  vector("ahead at the limit", "ok", { now: Date.parse(timestamp) - 300_000 }),
  vector("ahead by a millisecond over the limit", "timestamp_too_new", { now: Date.parse(timestamp) - 300_001 }),
  vector("ahead by ten minutes", "timestamp_too_new", { now: Date.parse(timestamp) - 600_000 }),
  vector("stale within a wider tolerance", "ok", { now: Date.parse(timestamp) + 3_000_000, toleranceSeconds: 3600 }),
  vector("stale for a tolerance of zero", "timestamp_too_old", { toleranceSeconds: 0 }),
  vector("on time for a tolerance of zero", "ok", { toleranceSeconds: 0, now: Date.parse(timestamp) }),

  ...[
    "",
    "1763632800",
    "1763632800000",
    "2026-11-20",
    "2026-11-20T10:00Z",
    "2026-11-20T10:00:00",
    "2026-11-20T10:00:00z",
    "2026-11-20t10:00:00Z",
    "2026-11-20 10:00:00Z",
    "2026-11-20T10:00:00+00:00",
    "2026-11-20T11:00:00+01:00",
    "2026-11-20T10:00:00.Z",
    "2026-11-20T10:00:00,5Z",
    "2026-02-30T10:00:00Z",
    "2026-02-29T10:00:00Z",
    "2026-11-31T10:00:00Z",
    "2026-11-00T10:00:00Z",
    "2026-13-20T10:00:00Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T10:60:00Z",
    "2026-11-20T10:00:60Z",
    "26-11-20T10:00:00Z",
    "+002026-11-20T10:00:00Z",
    "Fri, 20 Nov 2026 10:00:00 GMT",
    "２０２６-11-20T10:00:00Z",
    " 2026-11-20T10:00:00Z",
    "2026-11-20T10:00:00Z ",
    "2026-11-20T10:00:00ZZ",
    "now"
  ].map((text) =>
    vector(
      text === "" ? "timestamp is empty" : `malformed timestamp ${JSON.stringify(text)}`,
      text === "" ? "missing_header" : /, /.test(text) ? "duplicate_header" : "malformed_timestamp",
      { timestamp: text }
    )
  ),

  ...["Gov-Event-Id", "Gov-Timestamp", "Gov-Signature"].flatMap((name) => [
    vector(`missing ${name}`, "missing_header", { headers: without(name) }),
    vector(`empty ${name}`, "missing_header", { headers: withHeaders({ [name]: "" }) }),
    vector(`${name} twice, in two cases`, "duplicate_header", {
      headers: (headers) => ({ ...headers, [name.toLowerCase()]: headers[name]! })
    }),
    vector(`${name} twice, as a list`, "duplicate_header", {
      headers: (headers) => ({ ...headers, [name]: [headers[name]!, headers[name]!] })
    }),
    vector(`${name} once, as a list`, "ok", { headers: (headers) => ({ ...headers, [name]: [headers[name]!] }) })
  ]),
  vector("Gov-Timestamp twice, joined", "duplicate_header", {
    headers: withHeaders({ "Gov-Timestamp": `${timestamp}, ${timestamp}` })
  }),
  vector("Gov-Event-Id twice, joined", "duplicate_header", {
    headers: withHeaders({ "Gov-Event-Id": `${id}, ${id}` })
  }),
  vector("no headers", "missing_header", { headers: () => ({}) }),

  ...(
    [
      ["without a version", (good) => good.slice(3)],
      ["with capitals", (good) => `v1=${good.slice(3).toUpperCase()}`],
      ["a digit short", (good) => good.slice(0, -1)],
      ["a digit long", (good) => `${good}0`],
      ["with a digit that is not hex", (good) => `${good.slice(0, -1)}g`],
      ["with a digit from another script", (good) => `${good.slice(0, -1)}\u0661`],
      ["with a letter that ends in the right byte", (good) => good.replace("v1=", "v1=\u0161").slice(0, 67)],
      ["in base64", (good) => `v1=${Buffer.from(good.slice(3), "hex").toString("base64")}`],
      ["with a colon", (good) => good.replace("=", ":")],
      ["with a space inside", (good) => `${good.slice(0, 20)} ${good.slice(20)}`],
      ["followed by more", (good) => `${good} more`],
      ["in quotes", (good) => `"${good}"`],
      ["without digits", () => "v1="],
      ["that is a comma", () => ","],
      ["that is a word", () => "garbage"]
    ] satisfies ReadonlyArray<[string, (good: string) => string]>
  ).map(([name, change]) =>
    vector(`malformed signature ${name}`, "malformed_header", { headers: withSignature(change) })
  ),

  ...(
    [
      ["empty", ""],
      ["without the prefix", secret.slice("whsec_".length)],
      ["that is only the prefix", "whsec_"],
      ["with a line end", `${secret}\n`],
      ["with a space before", ` ${secret}`],
      ["with a space inside", secret.replace("5", " 5")],
      ["with a zero-width space", `${secret}\u200b`],
      ["with another prefix", secret.replace("whsec_", "sk_test_")]
    ] as const
  ).map(([name, bad]) => vector(`bad secret ${name}`, "bad_secret", { secrets: [bad] })),
  vector("bad secret beside a good one", "bad_secret", { secrets: [secret, "whsec"] }),
  vector("bad secret, none at all", "bad_secret", { secrets: [] })
]

/** Returns the contents of the published file. */
export const printVectors = () =>
  `[\n${makeVectors()
    .map((vector) => JSON.stringify(vector))
    .join(",\n")}\n]\n`
