/** Slow requests, slow readers, too many connections, and requests that come before the routes are ready. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Exit, Layer, Scope } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type AddressInfo, createConnection, type Socket } from "node:net"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as NodeServer from "../../../src/http/transport/NodeServer.ts"
import * as RequestLifecycle from "../../../src/http/middleware/RequestLifecycle.ts"
import * as TestSettings from "../../support/TestSettings.ts"

const small: NodeServer.Limits = {
  ...NodeServer.limits,
  headersTimeout: 1500,
  requestTimeout: 3000,
  connectionsCheckingInterval: 50,
  maxConnections: 20
}

const echo = HttpRouter.add(
  "POST",
  "/echo",
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    return HttpServerResponse.text(yield* Effect.orDie(request.text))
  })
)

describe("a server with timeouts and a connection limit", () => {
  const scope = Scope.makeUnsafe()
  let port = 0

  beforeAll(async () => {
    const http = NodeHttpServer.layer(() => NodeServer.make(small), { port: 0, host: "127.0.0.1" })
    const layer = HttpRouter.serve(echo.pipe(Layer.provide(RequestLifecycle.layer)), {
      disableLogger: true,
      disableListenLog: true
    }).pipe(Layer.provideMerge(http), Layer.provide(TestSettings.layer()))
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    const { address } = await Effect.runPromise(Effect.provide(HttpServer.HttpServer, context))
    port = Number(new URL(HttpServer.formatAddress(address)).port)
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  /** Sends the first text at once, the second a byte at a time. Resolves when the connection is closed. */
  const trickle = (at: string, then = "", everyMs = 20) =>
    new Promise<{ readonly text: string; readonly milliseconds: number }>((resolve) => {
      const begun = performance.now()
      let text = ""
      let sent = 0
      let timer: NodeJS.Timeout | undefined
      const socket: Socket = createConnection(port, "127.0.0.1", () => {
        socket.write(at)
        timer = setInterval(() => {
          if (sent < then.length && socket.writable) socket.write(then[sent++]!)
        }, everyMs)
      })
      socket.on("data", (chunk) => (text += chunk.toString()))
      socket.on("error", () => {})
      socket.on("close", () => {
        clearInterval(timer)
        resolve({ text, milliseconds: performance.now() - begun })
      })
    })

  const post = (length: number) =>
    `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`

  const assertRefused = (text: string, code: string) => {
    assert.match(
      text,
      code === "request_timeout" ? /^HTTP\/1\.1 408 Request Timeout\r\n/ : /^HTTP\/1\.1 400 Bad Request\r\n/
    )
    assert.match(text, /\r\nRequest-Id: req_/)
    const { error } = JSON.parse(text.slice(text.indexOf("\r\n\r\n"))) as {
      readonly error: Record<string, unknown>
    }
    assert.strictEqual(error["code"], code)
    assert.include(text, `Request-Id: ${String(error["request_id"])}`)
  }

  it("accepts a body in pieces within the timeout", async () => {
    const { text } = await trickle(post(10), "0123456789")
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*0123456789$/)
  })

  it.each([
    ["stops", ""],
    ["never ends", "x".repeat(1000)]
  ])("answers a body that %s, once, and closes the connection", async (_, then) => {
    const { milliseconds, text } = await trickle(`${post(100_000)}x`, then)
    assertRefused(text, "request_timeout")
    assert.strictEqual(text.match(/HTTP\/1\.1/g)?.length, 1)
    assert.isTrue(milliseconds > 2950 && milliseconds < 30_000, String(milliseconds))
  })

  it.each([
    ["stop", ""],
    ["never end", "X-Slow: ".padEnd(1000, "x")]
  ])("answers headers that %s, and closes the connection", async (_, then) => {
    const { milliseconds, text } = await trickle("POST /echo HTTP/1.1\r\nHost: x\r\n", then)
    assertRefused(text, "malformed_request")
    assert.isTrue(milliseconds > 1450 && milliseconds < 30_000, String(milliseconds))
  })

  it("closes connections over the limit, and accepts others below it", async () => {
    const slow = Array.from({ length: 60 }, () => trickle("POST /echo HTTP/1.1\r\n"))
    const ends = await Promise.all(slow)
    const closed = ends.filter(({ text }) => text === "")
    assert.lengthOf(closed, 40)
    assert.match((await trickle(post(1), "x")).text, /^HTTP\/1\.1 200/)
  })
})

describe("a server whose routes are not ready", () => {
  it("closes a connection that sends more requests than may wait, and answers another one", async () => {
    const server = NodeServer.make(NodeServer.limits)
    try {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo
      const flood = createConnection(port, "127.0.0.1").on("error", () => {})
      const closed = new Promise<boolean>((resolve) => flood.once("close", () => resolve(true)))
      flood.write("GET /flood HTTP/1.1\r\nHost: x\r\n\r\n".repeat(NodeServer.maxWaiting + 1))
      assert.isTrue(await Promise.race([closed, setTimeout(20_000, false)]))

      const arrived = new Promise<Socket>((resolve) => server.once("connection", resolve))
      const early = fetch(`http://127.0.0.1:${port}/early`)
      const connection = await arrived
      while (connection.bytesRead === 0) await setTimeout(10)
      const paths: Array<string | undefined> = []
      server.on("request", (request, response) => {
        paths.push(request.url)
        response.end("answered")
      })
      assert.strictEqual(await (await early).text(), "answered")
      assert.deepStrictEqual(paths, ["/early"])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it("answers requests that came before, once, and those that come after", async () => {
    const server = NodeServer.make(NodeServer.limits)
    try {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const address = server.address()
      assert.isObject(address)
      const url = `http://127.0.0.1:${(address as AddressInfo).port}`

      const arrived = new Promise<unknown>((resolve) => server.once("connection", resolve))
      const early = fetch(`${url}/early`, { headers: { connection: "close" } })
      await arrived
      const abandoned = createConnection((address as AddressInfo).port, "127.0.0.1")
      abandoned.end("GET /abandoned HTTP/1.1\r\nHost: x\r\n\r\n")
      await new Promise((resolve) => abandoned.once("close", resolve).destroy())
      await setTimeout(100)

      const paths: Array<string | undefined> = []
      server.on("request", (request, response) => {
        paths.push(request.url)
        response.end("answered")
      })
      assert.strictEqual(await (await early).text(), "answered")
      assert.strictEqual(await (await fetch(`${url}/late`)).text(), "answered")
      assert.deepStrictEqual(
        paths.filter((path) => path !== "/abandoned"),
        ["/early", "/late"]
      )
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
