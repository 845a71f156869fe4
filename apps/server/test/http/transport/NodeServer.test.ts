/** Slow requests, slow readers, too many connections, and requests that come before the routes are ready. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Exit, Layer, Logger, Scope } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { type AddressInfo, createConnection, type Socket } from "node:net"
import { fileURLToPath } from "node:url"
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

describe("the server of a deployment", () => {
  it.skipIf(!existsSync("/proc/self/limits"))("takes no more connections than half of its open files", () => {
    const program = fileURLToPath(new URL("printLimits.ts", import.meta.url))
    const run = 'ulimit -n 300 && exec "$0" --conditions=source "$1"'
    const printed = execFileSync("sh", ["-c", run, process.execPath, program], { encoding: "utf8" })
    assert.strictEqual(printed, "150")
  })

  it("says once in the log that it has all connections", async () => {
    const messages: Array<unknown> = []
    const scope = Scope.makeUnsafe()
    const layer = NodeServer.layerWith({ ...small, maxConnections: 2 }).pipe(
      Layer.provide(TestSettings.layer({ http: { port: 0, host: "127.0.0.1" } })),
      Layer.provide(Logger.layer([Logger.make(({ message }) => void messages.push(message))]))
    )
    try {
      const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
      const { address } = await Effect.runPromise(Effect.provide(HttpServer.HttpServer, context))
      const port = Number(new URL(HttpServer.formatAddress(address)).port)
      const open = () => createConnection(port, "127.0.0.1").on("error", () => {})
      const kept = [open(), open()]
      await Promise.all(kept.map((socket) => once(socket, "connect")))
      for (let more = 0; more < 2; more++) await once(open().resume(), "close")
      for (const socket of kept) socket.destroy()
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
    assert.deepStrictEqual(messages.flat(), ["Connection refused: the server has 2 connections, the most it takes."])
  })
})

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
  it("answers that it is alive and why it is unavailable, until somebody serves", async () => {
    let reason = "The database cannot be reached."
    const server = NodeServer.make(NodeServer.limits, () => reason)
    try {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const ask = async (path: string, method = "GET") => {
        const response = await fetch(`${url}${path}`, { method })
        const { headers, status } = response
        return { status, headers, body: (await response.json()) as { readonly error?: Record<string, unknown> } }
      }
      const alive = await ask("/healthz?probe")
      assert.deepStrictEqual([alive.status, alive.body], [200, { status: "ok" }])
      for (const [path, method] of [
        ["/readyz", "GET"],
        ["/v1/invoices", "POST"]
      ] as const) {
        const { body, headers, status } = await ask(path, method)
        assert.strictEqual(status, 503)
        assert.strictEqual(headers.get("retry-after"), "1")
        assert.include(body.error, { code: "service_unavailable", message: reason, retryable: true })
        assert.strictEqual(headers.get("request-id"), body.error?.["request_id"])
      }
      reason = "The server is starting."
      assert.strictEqual((await ask("/readyz")).body.error?.["message"], reason)

      const paths: Array<string | undefined> = []
      server.on("request", (request, response) => {
        paths.push(request.url)
        response.end(JSON.stringify({}))
      })
      assert.strictEqual((await ask("/readyz")).status, 200)
      assert.deepStrictEqual(paths, ["/readyz"])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
