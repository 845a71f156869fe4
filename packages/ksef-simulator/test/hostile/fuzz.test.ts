/**
 * Input that means harm, or nothing at all: it never ends the process, never gets a 500, and never holds more than its
 * bounds. The simulator is a process of its own, so that its end and its memory show.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Client, fa3Form, type Opened, sha256, encrypt } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { zip } from "../support/zip.ts"
import { damaged, mutated, Random, xmlBombs } from "./bodies.ts"

let child: ChildProcess
let client: Client
let session: Opened
let errors = ""
let nip = ""

beforeAll(async () => {
  const cli = join(import.meta.dirname, "../../src/cli.ts")
  child = spawn(process.execPath, ["--conditions=source", cli, "--limits", "off", "--processing", "0"], {
    stdio: ["ignore", "pipe", "pipe"]
  })
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (errors += text))
  const [line] = (await once(child.stdout!, "data")) as [Buffer]
  const started = JSON.parse(line.toString("utf8")) as {
    readonly url: string
    readonly nip: string
    readonly token: string
  }
  nip = started.nip
  client = await Client.login(started)
  session = await client.open()
})

afterAll(async () => {
  child.kill("SIGKILL")
  await once(child, "exit")
})

const residentMb = (): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" })) / 1024

// A document still goes all the way, and nothing was reported.
const isWell = async (number: string): Promise<void> => {
  assert.strictEqual((await client.submit(session, fa3({ number, seller: nip }))).status.code, 200)
  assert.isNull(child.exitCode)
  assert.strictEqual(errors, "")
}

/** Sends bytes over a connection of their own, and returns what came back before it ended. */
const raw = (parts: ReadonlyArray<string | Buffer>, waitMs = 300): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(client.base)
    const socket = connect(Number(port), hostname)
    let text = ""
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")))
    socket.on("error", () => {})
    socket.on("close", () => resolve(text))
    for (const part of parts) socket.write(part)
    setTimeout(() => socket.destroy(), waitMs)
  })

const isRefusedOrTaken = (status: number, what: string): void => {
  assert.isTrue(status >= 200 && status < 500, `${what}: ${status}`)
}

describe("the simulator survives", () => {
  it("mutated bodies on every operation that has one", async () => {
    const random = new Random("bodies")
    const { body: encryption } = await client.encryption()
    const part = { ordinalNumber: 1, fileSize: 16, fileHash: sha256("x") }
    const batchFile = { fileSize: 16, fileHash: sha256("x"), fileParts: [part] }
    const bodies: ReadonlyArray<readonly [path: string, body: object]> = [
      [
        "/auth/ksef-token",
        { challenge: "x".repeat(36), contextIdentifier: { type: "Nip", value: nip }, encryptedToken: "AAAA" }
      ],
      ["/sessions/online", { formCode: fa3Form, encryption }],
      ["/sessions/batch", { formCode: fa3Form, encryption, batchFile }],
      [`/sessions/online/${session.reference}/invoices`, client.sendBody(session, fa3())],
      ["/tokens", { permissions: ["InvoiceRead"], description: "a description" }],
      ["/testdata/context/block", { contextIdentifier: { type: "Nip", value: "1111111111" } }],
      [
        "/testdata/permissions",
        {
          contextIdentifier: { type: "Nip", value: nip },
          authorizedIdentifier: { type: "Nip", value: nip },
          permissions: []
        }
      ]
    ]
    for (let round = 0; round < 40; round++) {
      for (const [path, body] of bodies) {
        const text = JSON.stringify(mutated(random, body))
        const bytes = round % 4 === 3 ? damaged(random, Buffer.from(text)) : Buffer.from(text)
        const answer = await fetch(`${client.base}${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${client.access}`, "content-type": "application/json" },
          body: bytes
        })
        isRefusedOrTaken(answer.status, `${path} ${text.slice(0, 300)}`)
        await answer.arrayBuffer()
      }
    }
    await isWell("after bodies")
  })

  it("damaged bearers and headers of every kind", async () => {
    const random = new Random("headers")
    const [header = "", payload = "", mac = ""] = client.access.split(".")
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")
    const claims = (text: string) => `${header}.${Buffer.from(text).toString("base64url")}.${mac}`
    const bearers = [
      "",
      ".",
      "..",
      "...",
      `${none}.${payload}.`,
      `${none}.${payload}.${mac}`,
      claims("{"),
      claims("null"),
      claims('{"typ":"ContextToken","arn":"__proto__","exp":1e999}'),
      `${header}.${payload}.${mac}${mac}`,
      "x".repeat(8000)
    ]
    const damagedOnes = Array.from({ length: 100 }, () =>
      damaged(random, Buffer.from(client.access)).toString("base64url")
    )
    for (const bearer of [...bearers, ...damagedOnes]) {
      const answer = await client.call("GET", "/rate-limits", { token: bearer })
      assert.strictEqual(answer.status, 401, bearer.slice(0, 100))
    }
    for (const value of [
      "\u00ff",
      "%",
      "__proto__",
      "W10=",
      "x".repeat(3000),
      Buffer.from('[{"offset":-1}]').toString("base64")
    ]) {
      const headers = { "x-continuation-token": value, "x-error-format": value, "x-ksef-feature": value }
      const answer = await client.call("GET", `/sessions/${session.reference}/invoices`, { headers })
      assert.strictEqual(answer.status, 400, value.slice(0, 100))
    }
    const tooMany = await raw([`GET / HTTP/1.1\r\nhost: x\r\na: ${"x".repeat(20_000)}\r\n\r\n`], 20_000)
    assert.match(tooMany, /^HTTP\/1\.1 431 /)
    assert.match(await raw(["no http\r\n\r\n"], 20_000), /^HTTP\/1\.1 400 /)
    await isWell("after headers")
  })

  it("paths and queries of every kind", async () => {
    const random = new Random("paths")
    const segments = [
      "sessions",
      "online",
      "invoices",
      "ksef",
      "upo",
      "auth",
      "%00",
      "%",
      "..",
      "%2e%2e",
      "%2F",
      "",
      "constructor",
      session.reference
    ]
    for (let round = 0; round < 300; round++) {
      const path = Array.from({ length: 1 + random.below(6) }, () => random.pick(segments)).join("/")
      const query =
        random.below(2) === 0
          ? ""
          : `?pageSize=${random.pick(["-1", "1e9", "a", "10&pageSize=20", "%00"])}&statuses=x&sessionType=${random.pick(["Online", "x", "__proto__"])}`
      const answer = await raw(
        [
          `${random.pick(["GET", "POST", "DELETE", "PUT", "TRACE"])} /v2/${path}${query} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.access}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
        ],
        20_000
      )
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
      assert.isTrue((status >= 200 && status < 500) || status === 501, `${path}${query}: ${answer.slice(0, 200)}`)
    }
    await isWell("after paths")
  })

  it("requests that are cut, stretched, chunked wrongly or not HTTP", async () => {
    const random = new Random("wire")
    const head = (extra: string) =>
      `POST /v2/sessions/online/${session.reference}/invoices HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.access}\r\ncontent-type: application/json\r\n${extra}\r\n`
    const body = JSON.stringify(client.sendBody(session, fa3()))
    const requests: ReadonlyArray<ReadonlyArray<string | Buffer>> = [
      [head("content-length: 100000\r\n"), body.slice(0, 50)],
      [head("content-length: 99999999999\r\n"), "x"],
      [head("content-length: -1\r\n"), body],
      [head("content-length: 5\r\ncontent-length: 6\r\n"), body],
      [head("content-length: 5\r\ntransfer-encoding: chunked\r\n"), "0\r\n\r\n"],
      [head("transfer-encoding: chunked\r\n"), "ffffffffffffffff\r\nx"],
      [head("transfer-encoding: chunked\r\n"), "zz\r\nx"],
      [head("transfer-encoding: chunked\r\n"), "5\r\nhello\r\n"],
      [head("transfer-encoding: gzip\r\n"), body],
      [head("expect: 100-continue\r\ncontent-length: 10\r\n")],
      ["GET http://elsewhere.example/v2/rate-limits HTTP/1.1\r\nhost: x\r\n\r\n"],
      ["GET //elsewhere.example/ HTTP/1.1\r\nhost: x\r\n\r\n"],
      ["CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: x\r\n\r\n"],
      ["GET /v2/rate-limits HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"],
      [`GET / HTTP/1.1\r\nhost: x\r\n${"a: b\r\n".repeat(5000)}\r\n`],
      [`GET /${"x".repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
      ["\u0016\u0003\u0001\u0002\u0000"],
      ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
      ...Array.from({ length: 40 }, () => [
        damaged(random, Buffer.from(head(`content-length: ${body.length}\r\n`) + body))
      ]),
      ...Array.from({ length: 10 }, () => [random.bytes(2000)])
    ]
    await Promise.all(requests.map((parts) => raw(parts)))
    await isWell("after the wire")
  })

  it("endless bodies, and refuses each beyond its limit, whatever length it announces", async () => {
    const endless = async (path: string, megabytes: number): Promise<string> => {
      const chunk = Buffer.alloc(1_000_000, "a")
      const header = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.access}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
      const parts: Array<string | Buffer> = [header]
      for (let sent = 0; sent < megabytes; sent++) parts.push("f4240\r\n", chunk, "\r\n")
      // The connection is closed while the client still sends. The reset can overtake the answer.
      for (let attempt = 0; attempt < 20; attempt++) {
        const answer = await raw(parts, 5000)
        if (answer !== "") return answer
      }
      return ""
    }
    const before = residentMb()
    const answers = await Promise.all([
      endless("/v2/sessions/online", 30),
      endless("/v2/auth/challenge", 30),
      endless("/_simulator/faults", 30),
      endless(`/v2/sessions/online/${session.reference}/invoices`, 60)
    ])
    assert.match(answers[0]!, /^HTTP\/1\.1 413/)
    assert.match(answers[2]!, /^HTTP\/1\.1 413/)
    assert.match(answers[3]!, /^HTTP\/1\.1 413/)
    assert.isBelow(residentMb() - before, 150)
    await isWell("after endless bodies")
  })

  it("damaged login documents and certificates, each with a 400", async () => {
    const random = new Random("asn1")
    const { signed } = await import("../../../ksef/test/xades/foreign.ts")
    const { makePair } = await import("../../../ksef/test/support/certificates.ts")
    const { der } = makePair()
    const login = async (document: string | Buffer) => {
      const answer = await fetch(`${client.base}/auth/xades-signature`, {
        method: "POST",
        headers: { "content-type": "application/xml" },
        body: document
      })
      return { status: answer.status, text: await answer.text() }
    }
    const documents: Array<string | Buffer> = [...xmlBombs]
    const template = signed()
    for (let round = 0; round < 150; round++) {
      documents.push(damaged(random, Buffer.from(template)))
      // The digest of the certificate fits, so that what is damaged is read.
      const certificate = damaged(random, der)
      documents.push(signed({ pair: { ...makePair(), der: certificate } }))
    }
    for (const algorithm of ["constructor", "__proto__", "toString", ""]) {
      documents.push(template.replaceAll(/Algorithm="[^"]*"/g, `Algorithm="${algorithm}"`))
      documents.push(template.replace(/(DigestMethod Algorithm=")[^"]*/, `$1${algorithm}`))
    }
    for (const document of documents) {
      const { status, text } = await login(document)
      assert.strictEqual(status, 400, `${text} for ${document.toString().slice(0, 400)}`)
    }
    await isWell("after certificates")
  })

  it("documents that are not invoices, each with a verdict", async () => {
    const random = new Random("documents")
    const valid = Buffer.from(fa3({ number: "damaged", seller: nip }))
    const documents = [
      ...xmlBombs.map((text) => Buffer.from(text)),
      Buffer.alloc(1),
      random.bytes(5000),
      ...Array.from({ length: 60 }, () => damaged(random, valid))
    ].filter(({ length }) => length > 0)
    for (const document of documents) {
      const { status } = await client.submit(session, document)
      assert.include([200, 410, 430, 440, 450], status.code, document.toString().slice(0, 200))
    }
    await isWell("after documents")
  })

  it("damaged archives and bombs: each batch ends as a whole, and disk and memory stay bounded", async () => {
    const random = new Random("archives")
    const before = residentMb()
    const file = [{ name: "a.xml", bytes: Buffer.from(fa3({ number: "z", seller: nip })) }]
    const good = zip(file)
    // 200 MB of zeros in 200 kB, and the same inside of itself.
    const zeros = gzipSync(Buffer.alloc(200_000_000))
    const archives: ReadonlyArray<readonly [kind: string, bytes: Buffer]> = [
      ["TarGz", zeros],
      ["TarGz", gzipSync(zeros)],
      ["TarGz", random.bytes(1000)],
      ["TarGz", gzipSync(random.bytes(10_000))],
      ["Zip", random.bytes(1000)],
      ["Zip", Buffer.from("PK\x05\x06" + "\0".repeat(18))],
      ["Zip", zip([{ name: "../../../../tmp/escaped.xml", bytes: file[0]!.bytes }])],
      ["Zip", zip([{ name: "/etc/escaped.xml", bytes: file[0]!.bytes }])],
      ...Array.from({ length: 25 }, () => ["Zip", damaged(random, good)] as const),
      ...Array.from({ length: 25 }, () => ["TarGz", damaged(random, gzipSync(Buffer.concat([good, good])))] as const)
    ]
    for (const [compressionType, archive] of archives) {
      if (archive.length === 0) continue
      const { body: encryption, secret } = await client.encryption()
      const part = encrypt(secret, archive)
      const fileParts = [{ ordinalNumber: 1, fileSize: part.length, fileHash: sha256(part) }]
      const batchFile = { fileSize: archive.length, fileHash: sha256(archive), compressionType, fileParts }
      const { json } = await client.call("POST", "/sessions/batch", {
        body: { formCode: fa3Form, encryption, batchFile }
      })
      const { headers, url } = json.partUploadRequests[0]!
      assert.strictEqual((await fetch(url, { method: "PUT", headers, body: part })).status, 201)
      assert.strictEqual((await client.close({ reference: json.referenceNumber }, "batch")).status, 204)
      const { status } = await client.sessionStatus(json.referenceNumber)
      assert.include([200, 430, 440, 445], status.code, JSON.stringify(status))
    }
    assert.isBelow(residentMb() - before, 250)
    await isWell("after archives")
  })
})
