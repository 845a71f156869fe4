import dns from "node:dns"
import * as net from "node:net"
import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Environment, type KsefClient, type KsefError, type Reason } from "@govoice/ksef/client"
import { SealedDocument, SessionKey } from "@govoice/ksef/crypto"
import type * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { vi } from "vitest"
import { makePair } from "../support/certificates.ts"
import {
  cleanup,
  failure,
  json,
  serveBytes,
  serveHttp,
  serveHttps,
  serveRaw,
  until,
  withClient
} from "../support/servers.ts"

type Client = KsefClient.KsefClient

const accessToken = Redacted.make("SECRET-access")
const document = SealedDocument.seal(SessionKey.generate(), Buffer.from("<Faktura/>"))
const reference = "20250625-SO-2C3E6C8000-B675CF5D68-07"

const publicKeys = (client: Client) => client.publicKeys
const send = (client: Client) => client.send({ accessToken, session: reference, document })
const close = (client: Client) => client.closeOnline({ accessToken, session: reference })
const upo = (client: Client) => client.invoiceUpo({ accessToken, session: reference, invoice: reference })

const at = (port: number) => `http://127.0.0.1:${port}/v2`

const answered = async (
  bytes: string,
  run: (client: Client) => Effect.Effect<unknown, KsefError>,
  timeoutMs = 20_000
) => {
  const server = await serveBytes(bytes)
  return failure({ url: at(server.port), timeoutMs }, run)
}

const publicEnvironment = Environment.environments.prod

describe("a call that has no connection", () => {
  it("is unsent where nobody listens", async () => {
    const server = net.createServer().listen(0, "127.0.0.1")
    await new Promise((done) => server.once("listening", done))
    const { port } = server.address() as net.AddressInfo
    await new Promise((done) => server.close(done))
    const error = await failure({ url: at(port) }, send)
    assert.deepInclude(error, { call: "send", reason: "connect-failed", outcome: "unsent", code: "ECONNREFUSED" })
  })

  it("is unsent where the name has no address", async () => {
    const missing = () =>
      Promise.reject(Object.assign(new Error("SECRET"), { code: "ENOTFOUND", syscall: "getaddrinfo" }))
    const error = await failure({ url: "https://ksef.invalid/v2", resolve: missing }, publicKeys)
    assert.deepInclude(error, { reason: "lookup-failed", outcome: "unsent", code: "ENOTFOUND" })
    const none = await failure({ url: "https://ksef.invalid/v2", resolve: () => Promise.resolve([]) }, publicKeys)
    assert.deepInclude(none, { reason: "lookup-failed", outcome: "unsent", code: "ENODATA" })
  })

  it.each([
    ["10.0.0.1"],
    ["127.0.0.1"],
    ["169.254.169.254"],
    ["::1"],
    ["::ffff:10.0.0.1"],
    ["fd00::1"],
    ["not an address"],
    ["93.184.215.14", "192.168.0.1"]
  ])("is unsent where a host of the Ministry resolves to %s", async (...addresses) => {
    const resolve = () => Promise.resolve(addresses)
    const error = await failure({ environment: publicEnvironment, resolve }, publicKeys)
    assert.deepInclude(error, { reason: "address-refused", outcome: "unsent" })
  })

  it("looks its name up by the lookup that the process has for its sockets", async () => {
    const lookup = vi
      .spyOn(dns, "lookup")
      .mockImplementation(((_name: string, _options: object, callback: (error: Error) => void) =>
        callback(new Error("no such name"))) as never)
    cleanup(() => lookup.mockRestore())
    const error = await failure({ url: "https://ksef.invalid/v2" }, publicKeys)
    assert.deepInclude(error, { reason: "lookup-failed", outcome: "unsent" })
    assert.strictEqual(lookup.mock.calls.length, 1)
  })

  it("is unsent where the connection is not made in time", async () => {
    const unanswered = () => new Promise<never>(() => {})
    const error = await failure({ url: "https://ksef.invalid/v2", resolve: unanswered, timeoutMs: 100 }, send)
    assert.strictEqual(error.outcome, "unsent")
    assert.include(["timeout", "connect-failed"], error.reason)
  })
})

describe("TLS to KSeF", () => {
  const name = "ksef.example.com"
  const resolve = () => Promise.resolve(["127.0.0.1"])
  const pair = makePair({ key: "P-256", names: [name] })
  const tls = { cert: pair.certificate, key: pair.privateKey }
  const serve = (options: object = {}) => serveHttps({ ...tls, ...options }, (response) => response.end("[]"))
  const call = async (port: number, options: object = {}, host = name) =>
    withClient({ url: `https://${host}:${port}/v2`, resolve, ca: pair.certificate, ...options }, publicKeys)

  it("succeeds with a server whose certificate is trusted", async () => {
    const server = await serve()
    assert.deepStrictEqual(Result.getOrThrow((await call(server.port)).result), [])
  })

  it.each<[what: string, server: object, client: object, host?: string]>([
    ["is not trusted", {}, { ca: undefined }],
    ["is trusted by another authority alone", {}, { ca: makePair({ key: "P-256" }).certificate }],
    ["is for another name", {}, {}, "other.example.com"],
    [
      "has expired",
      (() => {
        const old = makePair({ key: "P-256", names: [name], from: 0, until: Date.now() - 1000 })
        return { cert: old.certificate, key: old.privateKey, expired: old.certificate }
      })(),
      {}
    ],
    ["speaks TLS 1.1 only", { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" }, {}]
  ])("fails with a server that %s", async (_, serverOptions, clientOptions, host) => {
    const server = await serve(serverOptions)
    const trusted = "expired" in serverOptions ? { ca: serverOptions.expired } : {}
    const { result } = await call(server.port, { ...trusted, ...clientOptions }, host)
    assert.isTrue(Result.isFailure(result))
    assert.deepInclude(Result.isFailure(result) ? result.failure : {}, { reason: "tls-failed", outcome: "unsent" })
    assert.isEmpty(server.received)
  })

  it("verifies certificates also with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
    cleanup(() => {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before
    })
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0"
    const server = await serve()
    const { result } = await call(server.port, { ca: undefined })
    assert.strictEqual(Result.isFailure(result) && result.failure.reason, "tls-failed")
  })

  it("leaves a call unsent where the server aborts the handshake", async () => {
    const server = await serveRaw((socket) => socket.destroy())
    const { result } = await call(server.port)
    assert.deepInclude(Result.isFailure(result) ? result.failure : {}, { reason: "tls-failed", outcome: "unsent" })
  })

  it("does not begin with certificates that cannot be read", async () => {
    for (const ca of ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"]) {
      const made = await withClient({ ca }, publicKeys).then(
        () => "made",
        (error: unknown) => String(error)
      )
      assert.match(made, /Expected certificates in PEM/)
    }
  })
})

describe("a call without an answer", () => {
  it.each<[what: string, answer: string]>([
    ["nothing", ""],
    ["half a status line", "HTTP/1.1 20"],
    ["half a head", "HTTP/1.1 200 OK\r\ncontent-le"],
    ["half a body", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"],
    ["half a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\n{"],
    ["informational heads alone", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50)]
  ])("has an unknown outcome after %s, when its deadline passes", async (_, answer) => {
    const server = await serveBytes(answer)
    const before = performance.now()
    const error = await failure({ url: at(server.port), timeoutMs: 1_500 }, send)
    assert.deepInclude(error, { reason: "timeout", outcome: "unknown" })
    assert.isBelow(performance.now() - before, 20_000)
    await until(() => server.open() === 0)
  })

  it.each<[what: string, answer: string]>([
    ["nothing", ""],
    ["half a head", "HTTP/1.1 200 OK\r\ncontent-le"],
    ["half a body", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"],
    ["half a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\n{"]
  ])("has an unknown outcome after %s, when the connection breaks", async (_, answer) => {
    const server = await serveRaw((socket, received) => {
      if (!received.includes("\r\n\r\n")) return
      if (answer === "") socket.resetAndDestroy()
      else socket.end(answer)
    })
    const error = await failure({ url: at(server.port), timeoutMs: 20_000 }, send)
    assert.deepInclude(error, { reason: "connection-lost", outcome: "unknown" })
  })

  it.each<[what: string, answer: string]>([
    ["no HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["a head without an end", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}`],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n[]"],
    ["a wrong chunk size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
    ["an upgrade", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"]
  ])("has an unknown outcome after %s", async (_, answer) => {
    const error = await answered(answer, send)
    assert.deepInclude(error, { reason: "connection-lost", outcome: "unknown" })
  })
})

describe("an answer that cannot be used", () => {
  it.each<[what: string, answer: string, reason: string]>([
    ["HTML with 200", json("<!DOCTYPE html><html></html>"), "html"],
    ["broken JSON", json('[{"certificate":'), "unreadable"],
    ["JSON of another form", json({ keys: [] }), "unreadable"],
    ["an entry without its members", json([{ certificate: "x" }]), "unreadable"],
    ["an empty body", json(""), "unreadable"],
    ["a body that is compressed", json("\u001f\u008b\b", "200 OK", "content-encoding: gzip\r\n"), "unreadable"],
    ["no content", "HTTP/1.1 204 No Content\r\n\r\n", "unreadable"],
    ["a body that ends with its connection", "HTTP/1.0 200 OK\r\n\r\n[{", "timeout"]
  ])("has the reason of its form: %s", async (_, answer, reason) => {
    const error = await answered(answer, publicKeys, reason === "timeout" ? 2_000 : undefined)
    assert.strictEqual(error.reason, reason)
  })

  it("is reported with the names of the invalid members, without their values", async () => {
    const error = await answered(
      json({ accessToken: { token: "SECRET", validUntil: "SECRET" }, refreshToken: { token: "SECRET" } }),
      (client) => client.redeem(accessToken)
    )
    assert.include(error.message, "accessToken.validUntil")
    assert.notInclude(inspect(error, { depth: null, showHidden: true }), "SECRET")
  })

  it.each<[what: string, head: string]>([
    ["a length", "content-length: 1073741824"],
    ["chunks", "transfer-encoding: chunked"],
    ["no length", "connection: close"]
  ])("is not read beyond 8 MiB: a huge body with %s", async (what, head) => {
    const megabyte = Buffer.alloc(1 << 20, "x")
    const server = await serveRaw((socket, received) => {
      if (!received.endsWith("\r\n\r\n")) return
      socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`)
      const more = (): void => {
        if (socket.destroyed) return
        const bytes =
          what === "chunks" ? Buffer.concat([Buffer.from("100000\r\n"), megabyte, Buffer.from("\r\n")]) : megabyte
        socket.write(bytes, () => setImmediate(more))
      }
      more()
    })
    const error = await failure({ url: at(server.port), timeoutMs: 20_000 }, publicKeys)
    assert.deepInclude(error, { reason: "too-large", outcome: "answered" })
    await until(() => server.open() === 0)
    assert.isBelow(server.written(), 64 << 20)
  })

  it("of an error is read in part, and its status is reported", async () => {
    const server = await serveHttp((response) => response.writeHead(502).end("x".repeat(1 << 20)))
    const error = await failure({ url: at(server.port) }, send)
    assert.deepInclude(error, { reason: "server-error", outcome: "answered", status: 502 })
    assert.strictEqual(error.problem?.format, "unreadable")
  })

  it.each<[what: string, headers: object, body: string, reason: string]>([
    [
      "another hash",
      { "x-ms-meta-hash": "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=" },
      "<Potwierdzenie/>",
      "hash-mismatch"
    ],
    ["HTML with 200", {}, "<html><head><script src='/_Incapsula'></script></head></html>", "html"],
    ["nothing", {}, "", "unreadable"],
    ["more than 1 MiB", {}, "x".repeat(1_100_000), "too-large"]
  ])("of a receipt has the reason of its form: %s", async (_, headers, body, reason) => {
    const server = await serveHttp((response) => response.writeHead(200, { ...headers }).end(body))
    const error = await failure({ url: at(server.port) }, upo)
    assert.strictEqual(error.reason, reason)
  })

  it("has no text that a database refuses: no NUL, no unpaired surrogate", async () => {
    const text = String.raw`"a\u0000 \uD800 \\u0000 \udc00\ud83d\ude00"`
    const stored = "a\uFFFD \uFFFD \\u0000 \uFFFD\u{1F600}"
    const answers = {
      sent: await serveBytes(json(`{"referenceNumber":${text}}`, "202 Accepted")),
      limits: await serveBytes(json(`{${text}:{"perSecond":1,"perMinute":2,"perHour":3}}`))
    }
    const sent = await withClient({ url: at(answers.sent.port) }, send)
    assert.deepInclude(Result.getOrThrow(sent.result), { referenceNumber: stored })
    const limits = await withClient({ url: at(answers.limits.port) }, (client) => client.rateLimits(accessToken))
    assert.hasAllKeys(Result.getOrThrow(limits.result), [stored])
    const error = await answered(
      json(`{"title":${text},"status":400,"errors":[{"code":21405,"details":[${text}]}]}`, "400 Bad Request"),
      send
    )
    assert.deepInclude(error.problem, {
      title: stored,
      errors: [{ code: 21405, description: undefined, details: [stored] }]
    })
  })

  it("cannot be read with a code that is no integer of 32 bits", async () => {
    for (const code of [2 ** 31, -(2 ** 31) - 1, 99_999_999_999]) {
      const status = { status: { code, description: "x" } }
      const session = { ...status, dateCreated: "2026-11-26T08:00:00Z", dateUpdated: "2026-11-26T08:00:00Z" }
      const status200 = await answered(json(session), (client) =>
        client.sessionStatus({ accessToken, session: reference })
      )
      assert.deepInclude(status200, { reason: "unreadable", outcome: "answered" })
      const error = await answered(json({ title: "x", errors: [{ code }] }, "400 Bad Request"), send)
      assert.strictEqual(error.problem?.format, "unreadable")
    }
  })

  it("of a receipt is returned with its hash, and with whether KSeF stated the hash", async () => {
    let headers = {}
    const server = await serveHttp((response) => response.writeHead(200, headers).end("abc"))
    const stated = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    const download = async () => Result.getOrThrow((await withClient({ url: at(server.port) }, upo)).result)
    assert.deepStrictEqual(await download(), { bytes: Buffer.from("abc"), hash: stated, isHashStated: false })
    headers = { "x-ms-meta-hash": stated }
    assert.deepStrictEqual(await download(), { bytes: Buffer.from("abc"), hash: stated, isHashStated: true })
  })
})

describe("an error response", () => {
  const problem = { title: "x", status: 0, detail: "y", traceId: "trace" }

  it.each<[status: string, reason: Reason]>([
    ["400 Bad Request", "rejected"],
    ["401 Unauthorized", "unauthorized"],
    ["403 Forbidden", "forbidden"],
    ["404 Not Found", "rejected"],
    ["409 Conflict", "rejected"],
    ["410 Gone", "gone"],
    ["429 Too Many Requests", "rate-limited"],
    ["500 Internal Server Error", "server-error"],
    ["502 Bad Gateway", "server-error"],
    ["503 Service Unavailable", "server-error"],
    ["599 x", "server-error"],
    ["999 x", "server-error"]
  ])("of status %s is %s, for every body and content type", async (status, reason) => {
    const bodies = [JSON.stringify(problem), "<html></html>", "", "text", "\u0000\u0001"]
    const formats = ["problem-details", "html", "empty", "unreadable", "unreadable"]
    for (const [index, body] of bodies.entries()) {
      for (const type of ["application/json", "application/problem+json", "text/html"]) {
        const text = `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
        const error = await answered(text, send)
        assert.deepInclude(error, { reason, outcome: "answered", status: Number(status.slice(0, 3)) })
        assert.strictEqual(error.problem?.format, formats[index])
      }
    }
  })

  it("is reported with its error codes and trace id", async () => {
    const error = await answered(
      json({ ...problem, errors: [{ code: 21180, description: "x" }, { code: 21405 }] }, "400 Bad Request"),
      send
    )
    assert.deepStrictEqual(
      error.problem?.errors.map(({ code }) => code),
      [21180, 21405]
    )
    assert.strictEqual(error.problem?.traceId, "trace")
    assert.strictEqual(error.message, "send: rejected (400: 21180, 21405)")
  })

  it("is reported with the wait of its Retry-After, in seconds or until a date", async () => {
    const wait = async (value: string) =>
      (await answered(json(problem, "429 Too Many Requests", `retry-after: ${value}\r\n`), send)).retryAfterMs
    assert.strictEqual(await wait("2680"), 2_680_000)
    assert.strictEqual(await wait("0"), 0)
    assert.isUndefined(await wait("soon"))
    const date = await wait(new Date(Date.now() + 60_000).toUTCString())
    assert.isAtLeast(date ?? 0, 50_000)
    assert.isAtMost(date ?? 0, 60_000)
  })

  it.each([301, 302, 303, 307, 308])("of status %i is not followed to its location", async (status) => {
    const target = await serveHttp((response) => response.end("[]"))
    const server = await serveHttp((response) => response.writeHead(status, { location: at(target.port) }).end())
    const error = await failure({ url: at(server.port) }, send)
    assert.deepInclude(error, { reason: "redirect", outcome: "answered", status })
    assert.isEmpty(target.received)
    assert.strictEqual(server.received.length, 1)
  })

  it("of status 429, 500 or 503 is not retried by the client", async () => {
    for (const status of [429, 500, 503]) {
      const server = await serveHttp((response) => response.writeHead(status, { "retry-after": "0" }).end())
      await failure({ url: at(server.port) }, publicKeys)
      assert.strictEqual(server.received.length, 1)
    }
  })
})

describe("a successful response", () => {
  it("without content counts as a success with status 200, 202 and 204", async () => {
    for (const status of [200, 202, 204]) {
      const server = await serveHttp((response) => response.writeHead(status).end())
      assert.isTrue(Result.isSuccess((await withClient({ url: at(server.port) }, close)).result))
    }
  })

  it("is read after informational responses", async () => {
    const server = await serveBytes(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${json([])}`)
    assert.deepStrictEqual(Result.getOrThrow((await withClient({ url: at(server.port) }, publicKeys)).result), [])
  })

  it("without a length is read to the end of its connection", async () => {
    const server = await serveRaw((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n[]"))
    assert.deepStrictEqual(Result.getOrThrow((await withClient({ url: at(server.port) }, publicKeys)).result), [])
  })
})
