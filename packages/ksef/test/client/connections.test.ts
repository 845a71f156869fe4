import { assert, describe, it } from "@effect/vitest"
import { KsefClient } from "@govoice/ksef/client"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as net from "node:net"
import { makePair } from "../support/certificates.ts"
import {
  cleanup,
  environmentAt,
  failure,
  json,
  serveBytes,
  serveHttp,
  serveHttps,
  serveRaw,
  until,
  withClient
} from "../support/servers.ts"

const at = (port: number) => `http://127.0.0.1:${port}/v2`

const options = (port: number) => ({ environment: environmentAt(at(port)), userAgent: "Govoice/0.0.0-test" })

describe("the connections of KsefClient", () => {
  it("carry one call after the other: one connection carries 20", async () => {
    const server = await serveHttp((response) => response.end("[]"))
    await withClient({ url: at(server.port) }, (client) => Effect.replicateEffect(client.publicKeys, 20))
    assert.strictEqual(server.received.length, 20)
    assert.strictEqual(server.connections(), 1)
  })

  it("are as many as there are calls at once", async () => {
    // Answers when all calls have arrived.
    const waiting: Array<() => unknown> = []
    const server = await serveHttp((response) => {
      waiting.push(() => response.end("[]"))
      if (waiting.length === 10) for (const answer of waiting) answer()
    })
    await withClient({ url: at(server.port) }, (client) =>
      Effect.all(
        Array.from({ length: 10 }, () => client.publicKeys),
        { concurrency: "unbounded" }
      )
    )
    assert.strictEqual(server.connections(), 10)
  })

  it("that went silent together while they were idle fail one call alone", async () => {
    const silent = new Set<unknown>()
    const waiting: Array<{ readonly socket: unknown; readonly answer: () => void }> = []
    const server = await serveHttp((response) => {
      if (silent.has(response.socket)) return
      const answer = () => void response.setHeader("keep-alive", "timeout=60").end("[]")
      if (silent.size > 0) return answer()
      waiting.push({ socket: response.socket, answer })
      if (waiting.length === 5) for (const { answer } of waiting) answer()
    })
    const { result } = await withClient({ url: at(server.port), timeoutMs: 500 }, (client) =>
      Effect.gen(function* () {
        yield* Effect.all(
          Array.from({ length: 5 }, () => client.publicKeys),
          { concurrency: "unbounded" }
        )
        for (const { socket } of waiting) silent.add(socket)
        return [yield* Effect.result(client.publicKeys), yield* Effect.result(client.publicKeys)]
      })
    )
    const [first, second] = Result.getOrThrow(result)
    assert.strictEqual(Result.isFailure(first!) && first.failure.reason, "timeout")
    assert.isTrue(Result.isSuccess(second!))
  })

  it("are not used again after an answer that was not read to its end", async () => {
    let answer = "x".repeat(1 << 20)
    const server = await serveHttp((response) => response.writeHead(answer === "[]" ? 200 : 500).end(answer))
    const { result } = await withClient({ url: at(server.port) }, (client) =>
      Effect.gen(function* () {
        yield* Effect.ignore(client.publicKeys)
        answer = "[]"
        return yield* client.publicKeys
      })
    )
    assert.deepStrictEqual(Result.getOrThrow(result), [])
    assert.strictEqual(server.connections(), 2)
  })

  it("that the server closed while they were idle are replaced", async () => {
    const server = await serveHttp((response) => response.setHeader("connection", "close").end("[]"))
    const { result } = await withClient({ url: at(server.port) }, (client) =>
      Effect.replicateEffect(client.publicKeys, 5)
    )
    assert.isTrue(Result.isSuccess(result))
    assert.strictEqual(server.connections(), 5)
  })

  it("drop an answer that arrives without a call", async () => {
    const server = await serveBytes(json([]) + json([{ certificate: "smuggled" }]))
    const { result } = await withClient({ url: at(server.port), timeoutMs: 10_000 }, (client) =>
      Effect.gen(function* () {
        const first = yield* Effect.result(client.publicKeys)
        yield* Effect.sleep(50)
        const second = yield* Effect.result(client.publicKeys)
        return [first, second]
      })
    )
    for (const answer of Result.getOrThrow(result))
      if (Result.isSuccess(answer)) assert.deepStrictEqual(answer.success, [])
  })

  it("are closed when their call is interrupted", async () => {
    const server = await serveHttp(() => {})
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const client = yield* KsefClient.make(options(server.port))
          const fiber = yield* Effect.forkChild(client.publicKeys)
          yield* Effect.promise(() => until(() => server.received.length === 1))
          yield* Fiber.interrupt(fiber)
          yield* Effect.promise(() => until(() => server.open() === 0))
        })
      )
    )
  })

  it("that wait for the lookup are abandoned when their call is interrupted", async () => {
    let asked = 0
    const resolve = () => {
      asked++
      return new Promise<never>(() => {})
    }
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const client = yield* KsefClient.make({
            ...options(1),
            environment: environmentAt("https://ksef.invalid/v2"),
            resolve
          })
          const fiber = yield* Effect.forkChild(client.publicKeys)
          yield* Effect.promise(() => until(() => asked === 1))
          yield* Fiber.interrupt(fiber)
        })
      )
    )
  })

  it("are closed with the scope, and calls under way fail", async () => {
    const server = await serveHttp((response, { path }) => {
      if (path === "/latarnia/status") response.end('{"status":"AVAILABLE"}')
    })
    const scope = Scope.makeUnsafe()
    const client = await Effect.runPromise(KsefClient.make(options(server.port)).pipe(Scope.provide(scope)))
    await Effect.runPromise(client.beacon)
    const pending = Effect.runPromise(Effect.result(client.publicKeys))
    await until(() => server.received.length === 2)
    await Effect.runPromise(Scope.close(scope, Exit.void))
    const result = await pending
    assert.strictEqual(Result.isFailure(result) && result.failure.reason, "connection-lost")
    await until(() => server.open() === 0)
  })

  it("go through the forward proxy of the options, by the name of the host, which is not looked up here", async () => {
    const pair = makePair({ key: "P-256", names: ["localhost"] })
    const server = await serveHttps({ key: pair.privateKey, cert: pair.certificate }, (response) => response.end("[]"))
    const asked: Array<string> = []
    const proxy = await serveRaw((socket, received) => {
      if (!received.endsWith("\r\n\r\n")) return
      asked.push(received)
      socket.removeAllListeners("data")
      const onwards = net.connect(server.port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        socket.pipe(onwards).pipe(socket)
      })
      onwards.on("error", () => socket.destroy())
    })
    const resolve = () => Promise.reject(new Error("A name was looked up"))
    const { result } = await withClient(
      {
        url: "https://localhost/v2",
        ca: pair.certificate,
        proxy: `http://us%65r:secret@127.0.0.1:${proxy.port}`,
        resolve
      },
      (client) => Effect.replicateEffect(client.publicKeys, 5)
    )
    assert.isTrue(Result.isSuccess(result), JSON.stringify(result))
    assert.strictEqual(server.received.length, 5)
    assert.deepStrictEqual(asked, [
      `CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\nProxy-Authorization: Basic ${btoa("user:secret")}\r\n\r\n`
    ])
  })

  it("fail where the proxy refuses the tunnel, before anything is sent", async () => {
    const proxy = await serveRaw((socket) => socket.write("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"))
    const { code, outcome, reason } = await failure(
      { url: "https://localhost/v2", proxy: `http://127.0.0.1:${proxy.port}` },
      (client) => client.publicKeys
    )
    assert.deepStrictEqual(
      { code, outcome, reason },
      { code: "GOVOICE_PROXY", outcome: "unsent", reason: "connect-failed" }
    )
    await until(() => proxy.open() === 0)
  })

  it("do not use the proxies of the environment variables", async () => {
    const proxy = await serveRaw((socket) => socket.destroy())
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"]) {
      const before = process.env[name]
      cleanup(() => {
        if (before === undefined) delete process.env[name]
        else process.env[name] = before
      })
      process.env[name] = name === "NODE_USE_ENV_PROXY" ? "1" : `http://127.0.0.1:${proxy.port}`
    }
    const server = await serveHttp((response) => response.end("[]"))
    const { result } = await withClient({ url: at(server.port) }, (client) => client.publicKeys)
    assert.isTrue(Result.isSuccess(result))
    assert.strictEqual(proxy.connections(), 0)
  })

  it("serve a thousand calls with some failing, and leave none open", async () => {
    let count = 0
    const server = await serveHttp((response) => {
      if (++count % 7 === 0) response.destroy()
      else if (count % 5 === 0) response.writeHead(503).end("<html>")
      else response.end("[]")
    })
    const { result } = await withClient({ url: at(server.port) }, (client) =>
      Effect.all(
        Array.from({ length: 1000 }, () => Effect.result(client.publicKeys)),
        { concurrency: 32 }
      )
    )
    const results = Result.getOrThrow(result)
    assert.strictEqual(results.length, 1000)
    assert.isAbove(results.filter((each) => Result.isSuccess(each)).length, 600)
    await until(() => server.open() === 0)
  })
})
