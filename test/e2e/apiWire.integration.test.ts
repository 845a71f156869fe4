/** Raw bytes on a connection are answered in the envelope, or the connection is closed. */
import { readFile } from "node:fs/promises"
import { request } from "node:http"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Agreement, type Answer, checkAnswer, problemOf } from "./support/agreement.ts"
import {
  type Call,
  makeCall,
  password,
  readAgreement,
  signUp,
  submit,
  type Tenant,
  until,
  xml
} from "./support/client.ts"
import { exchange, parse } from "./support/raw.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"

const codeOf = (answer: Answer | undefined): string =>
  answer === undefined ? "nothing" : answer.status < 400 ? String(answer.status) : problemOf(answer).code

const head = (target: string, headers = "", method = "GET"): string =>
  `${method} ${target} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`

describe("the server on the wire", () => {
  let database: TestDatabase
  let server: Server
  let agreement: Agreement
  let call: Call
  let tenant: Tenant

  beforeAll(async () => {
    database = await openMigrated()
    // A proxy passes on any Host.
    server = await startServer({ ...database.settings, GOVOICE_TRUSTED_PROXIES: "127.0.0.1" })
    agreement = await readAgreement(server.url)
    call = makeCall(() => server.url, agreement)
    tenant = await signUp(call)
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  const ask = async (text: string, method = "GET"): Promise<ReadonlyArray<Answer>> => {
    const { bytes, end } = await exchange(server.port, [text])
    assert.strictEqual(end, "closed")
    const answers = parse(bytes, method)
    for (const answer of answers) checkAnswer(answer, method)
    return answers
  }

  const cases: ReadonlyArray<readonly [string, string, string]> = [
    ["text that is no HTTP", "hello\r\n\r\n", "malformed_request"],
    ["a TLS handshake", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000", "malformed_request"],
    ["HTTP/2 without asking", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "malformed_request"],
    ["another version", "GET / HTTP/9.9\r\nHost: x\r\n\r\n", "malformed_request"],
    ["HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n", "200"],
    ["no Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", "malformed_request"],
    ["two Hosts", head("/healthz", "Host: y\r\n"), "malformed_request"],
    ["an unknown method", head("/healthz", "", "FOO"), "malformed_request"],
    ["a method in lower case", head("/healthz", "", "get"), "malformed_request"],
    ["PROPFIND", head("/v1/me", "", "PROPFIND"), "method_not_allowed"],
    ["TRACE", head("/v1/me", "", "TRACE"), "method_not_allowed"],
    ["CONNECT", head("example.com:443", "", "CONNECT"), "not_found"],
    ["OPTIONS for the whole server", head("*", "", "OPTIONS"), "204"],
    ["no target", "GET  HTTP/1.1\r\nHost: x\r\n\r\n", "malformed_request"],
    ["a space in the target", head("/a b"), "malformed_request"],
    ["bytes in the target that are not ASCII", head("/v1/invoices/\u00e9"), "malformed_request"],
    ["an absolute target", head("http://elsewhere.example/healthz"), "200"],
    ["an absolute target of the API", head("http://elsewhere.example/v1/me"), "missing_api_key"],
    ["an absolute target of another scheme", head("ftp://elsewhere.example/v1/me"), "not_found"],
    ["a fragment", head("/healthz#fragment"), "200"],
    ["a query that cannot be decoded", head("/healthz?a=%zz&%"), "200"],
    ["dots", head("/v1/../healthz"), "not_found"],
    ["a NUL in a header", head("/healthz", "X: a\u0000b\r\n"), "malformed_request"],
    ["a space in the name of a header", head("/healthz", "X y: b\r\n"), "malformed_request"],
    ["a folded header", head("/healthz", "X: a\r\n b\r\n"), "malformed_request"],
    ["a header of 20,000 bytes", head("/healthz", `X: ${"a".repeat(20_000)}\r\n`), "headers_too_large"],
    ["2,500 headers", head("/healthz", "a: b\r\n".repeat(2500)), "headers_too_large"],
    ["a target of 20,000 bytes", head(`/${"a".repeat(20_000)}`), "headers_too_large"],
    ["two lengths", head("/v1/invoices", "Content-Length: 2\r\nContent-Length: 3\r\n", "POST"), "malformed_request"],
    [
      "a length and chunks",
      head("/v1/invoices", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "POST"),
      "malformed_request"
    ],
    ["a negative length", head("/v1/invoices", "Content-Length: -1\r\n", "POST"), "malformed_request"],
    ["an unknown transfer coding", head("/v1/me", "Transfer-Encoding: gzip\r\n"), "missing_api_key"],
    ["two credentials", head("/v1/me", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), "missing_api_key"],
    ["a body with GET", `${head("/healthz", "Content-Length: 5\r\n")}hello`, "200"],
    [
      "an upgrade to a web socket",
      head(
        "/v1/me",
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      ),
      "missing_api_key"
    ],
    [
      "an upgrade to another protocol with a chunked body",
      `${head("/v1/me", "Connection: Upgrade\r\nUpgrade: other\r\nTransfer-Encoding: chunked\r\n")}0\r\n\r\n`,
      "missing_api_key"
    ],
    ["an upgrade to another protocol", head("/healthz", "Connection: Upgrade\r\nUpgrade: h2c\r\n"), "200"],
    ["an unknown expectation", head("/healthz", "Expect: 200-maybe\r\n"), "200"],
    [
      "a method that the path does not have",
      head("/healthz", "Content-Length: 2\r\n", "POST") + "{}",
      "method_not_allowed"
    ]
  ]

  it.each(cases)("answers %s", async (_, text, expected) => {
    const answers = await ask(text)
    assert.deepStrictEqual(answers.map(codeOf), [expected])
  })

  it("answers HEAD without a body, also for errors", async () => {
    for (const [target, status] of [
      ["/nope", 404],
      ["/v1/me", 401],
      ["/v1/control-plane/auth/login", 405],
      ["/docs", 200]
    ] as const) {
      const [answer] = await ask(head(target, "", "HEAD"), "HEAD")
      assert.strictEqual(answer?.status, status)
      assert.isAbove(Number(answer?.headers.get("content-length")), 0)
    }
  })

  it("answers two pipelined requests in order, each with its own Request-Id", async () => {
    const answers = await ask(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n${head("/nope")}`)
    assert.deepStrictEqual(answers.map(codeOf), ["200", "not_found"])
    assert.strictEqual(new Set(answers.map(({ headers }) => headers.get("request-id"))).size, 2)
  })

  it("answers a malformed request after a valid one", async () => {
    const answers = await ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n")
    assert.deepStrictEqual(answers.map(codeOf), ["200", "malformed_request"])
  })

  it("ignores the Request-Id of a client", async () => {
    const [answer] = await ask(head("/healthz", "Request-Id: req_01m7q5cqg0e6786ptds43fm4k3\r\n"))
    assert.notStrictEqual(answer?.headers.get("request-id"), "req_01m7q5cqg0e6786ptds43fm4k3")
  })

  it("gives each response its own Request-Id", async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => fetch(`${server.url}/healthz`)))
    assert.strictEqual(new Set(answers.map(({ headers }) => headers.get("request-id"))).size, 200)
  })

  const post = (path: string, headers: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.testKey}\r\nContent-Type: application/json\r\n${headers}Connection: close\r\n\r\n`

  it("refuses a repeated Idempotency-Key header", async () => {
    const body = JSON.stringify({ invoice_xml: xml })
    const length = `Content-Length: ${body.length}\r\n`
    const twice = await ask(post("/v1/invoices", `Idempotency-Key: a\r\nIdempotency-Key: b\r\n${length}`) + body)
    assert.deepStrictEqual(twice.map(codeOf), ["invalid_idempotency_key"])
    const comma = await ask(post("/v1/invoices", `Idempotency-Key: a, b\r\n${length}`) + body)
    assert.deepStrictEqual(comma.map(codeOf), ["201"])
  })

  it("answers a malformed chunk, and survives a body that ends too soon", async () => {
    const headers = "Idempotency-Key: chunks\r\nTransfer-Encoding: chunked\r\n"
    assert.deepStrictEqual((await ask(`${post("/v1/invoices", headers)}zz\r\n`)).map(codeOf), ["malformed_request"])
    const socket = connect(server.port, "127.0.0.1")
    socket.write(`${post("/v1/invoices", "Idempotency-Key: half\r\nContent-Length: 1000\r\n")}{"invoice`)
    await sleep(100)
    socket.destroy()
    await sleep(100)
    assert.strictEqual((await fetch(`${server.url}/healthz`)).status, 200)
  })

  it("sends 100 Continue, or the error response in its place", async () => {
    const body = JSON.stringify({ invoice_xml: xml })
    const headers = `Idempotency-Key: expects\r\nExpect: 100-continue\r\n`
    const taken = await exchange(server.port, [
      post("/v1/invoices", `${headers}Content-Length: ${body.length}\r\n`),
      body
    ])
    assert.match(taken.bytes.toString(), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201/)
    const refused = await exchange(server.port, [post("/v1/invoices", `${headers}Content-Length: 9000000\r\n`)])
    assert.deepStrictEqual(parse(refused.bytes).map(codeOf), ["request_too_large"])
    assert.notInclude(refused.bytes.toString(), "100 Continue")
  })

  const mebibyte = Buffer.alloc(1024 * 1024, "a")
  const chunk = Buffer.concat([Buffer.from("100000\r\n"), mebibyte, Buffer.from("\r\n")])

  it.each([
    [
      "with a content length",
      () => [
        post("/v1/invoices", `Idempotency-Key: a\r\nContent-Length: ${40 * 2 ** 20}\r\n`),
        ...Array<Buffer>(40).fill(mebibyte)
      ],
      "request_too_large"
    ],
    [
      "in chunks",
      () => [
        post("/v1/invoices", "Idempotency-Key: a\r\nTransfer-Encoding: chunked\r\n"),
        ...Array<Buffer>(40).fill(chunk)
      ],
      "request_too_large"
    ],
    [
      "without a key",
      () => [
        `POST /v1/invoices HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`,
        ...Array<Buffer>(40).fill(chunk)
      ],
      "missing_api_key"
    ],
    [
      "to an unknown path",
      () => [
        `POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: ${40 * 2 ** 20}\r\nConnection: close\r\n\r\n`,
        ...Array<Buffer>(40).fill(mebibyte)
      ],
      "not_found"
    ]
  ])(
    "closes the connection only after the response to a body of 40 MiB %s can be read",
    async (_, chunks, expected) => {
      for (let time = 0; time < 3; time++) {
        const { bytes } = await exchange(server.port, chunks(), 10_000)
        const [answer] = parse(bytes)
        assert.strictEqual(codeOf(answer), expected)
      }
    }
  )

  it("answers a client that sends 40 MiB on a keep-alive connection", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${server.url}/v1/invoices`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${tenant.testKey}`,
          "content-type": "application/json",
          "idempotency-key": "large"
        }
      })
      sent.on("response", (response) => {
        response.resume()
        response.on("end", () => resolve(response.statusCode))
      })
      sent.on("error", reject)
      for (let count = 0; count < 40; count++) sent.write(mebibyte)
      sent.end()
    })
    assert.strictEqual(status, 413)
  })

  // In KiB.
  const rss = async () =>
    Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${server.process.pid}/status`, "utf8"))?.[1])

  it("keeps no refused bodies in memory", async () => {
    const before = await rss()
    const head = post("/v1/invoices", "Idempotency-Key: a\r\nTransfer-Encoding: chunked\r\n")
    await Promise.all(
      Array.from({ length: 10 }, () => exchange(server.port, [head, ...Array<Buffer>(60).fill(chunk)], 10_000))
    )
    assert.isBelow((await rss()) - before, 250_000, "600 MiB were sent")
  })

  it("limits the large bodies in memory without delaying small bodies and other organizations", async () => {
    const before = await rss()
    const other = await signUp(call)
    const length = 4 * 2 ** 20
    const sockets = Array.from({ length: 80 }, () => {
      const socket = connect(server.port, "127.0.0.1")
      socket.on("error", () => {})
      socket.write(post("/v1/invoices", `Idempotency-Key: large\r\nContent-Length: ${length}\r\n`))
      socket.write(Buffer.alloc(length - 1, " "))
      return socket
    })
    await sleep(3000)
    assert.isBelow((await rss()) - before, 150_000, "320 MiB were sent")

    const login = "/v1/control-plane/auth/login"
    const small = await call("POST", login, { body: { email: "nobody@example.com", password } })
    assert.strictEqual(codeOf(small), "invalid_credentials")
    const invoice_xml = `<a>${"a".repeat(400_000)}</a>`
    // 24 MB: less than the burst of the rate limit on bytes.
    // A server that is late by a second asks for a retry, which a busy machine makes it.
    const submitted = (key: string) => {
      const ask = () => submit(call, key, { body: { invoice_xml } })
      return until(ask, ({ status }) => status !== 503)
    }
    const documents = await Promise.all(Array.from({ length: 60 }, () => submitted(other.testKey)))
    assert.deepStrictEqual(documents.map(codeOf), Array<string>(60).fill("201"))

    for (const socket of sockets) socket.destroy()
    assert.strictEqual(codeOf(await submitted(tenant.testKey)), "201")
  })

  it("logs nothing about clients that disconnect", async () => {
    const before = server.output().length
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const socket = connect(server.port, "127.0.0.1")
        socket.on("error", () => {})
        socket.write(post("/v1/invoices", `Idempotency-Key: gone-${index}\r\nContent-Length: 100000\r\n`))
        await sleep(20)
        socket.resetAndDestroy()
      })
    )
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const aborted = new AbortController()
        setTimeout(() => aborted.abort(), 3)
        await submit(call, tenant.testKey).catch(() => {})
        await fetch(`${server.url}/docs`, { signal: aborted.signal }).catch(() => {})
      })
    )
    await sleep(200)
    // A busy machine may be late with answers, which is logged when it has passed.
    const lines = server.output().slice(before).split("\n")
    assert.deepStrictEqual(
      lines.filter((line) => line !== "" && !line.includes("in time")),
      []
    )
  })

  it("answers and closes connections whose headers do not end", async () => {
    const { bytes, end } = await exchange(server.port, ["GET /healthz HTTP/1.1\r\nHost: x\r\n"], 20_000)
    assert.strictEqual(end, "closed")
    const answers = parse(bytes)
    assert.deepStrictEqual(answers.map(codeOf), ["malformed_request"])
    checkAnswer(answers[0]!, "GET")
  })

  it("exits with 0 on SIGTERM and ignores a duplicate of the signal", async () => {
    const other = await startServer(database.settings)
    other.process.kill("SIGTERM")
    assert.strictEqual(await other.stop(), 0)
  })
})
