/** Bodies on real sockets, read within small limits. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Exit, Layer, Scope } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import * as ByteBudget from "../../../src/limits/ByteBudget.ts"
import * as BodyReader from "../../../src/http/transport/BodyReader.ts"
import * as NodeServer from "../../../src/http/transport/NodeServer.ts"

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const kibibyte = 1024
const patient = { timeout: 50_000 }
const small: BodyReader.BodyLimits = { ...BodyReader.limits, graceMs: 500, checkMs: 50, allSmallBytes: 96 * kibibyte }
const memory = ByteBudget.make({ totalBytes: 512 * kibibyte, ownerBytes: 512 * kibibyte, bodyBytes: 256 * kibibyte })

const route = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const reader = yield* BodyReader.make(small)
    yield* router.add(
      "POST",
      "/:owner",
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const options = { maxBytes: 256 * kibibyte, memory, owner: request.url }
        return yield* reader.withBody(request, options, {
          onBody: (body) =>
            Effect.succeed(
              HttpServerResponse.text(body.every((byte) => byte === 97) ? String(body.length) : "other bytes")
            ),
          onFault: (fault) => Effect.succeed(HttpServerResponse.text(fault, { headers: { connection: "close" } }))
        })
      })
    )
  })
)

describe("BodyReader", () => {
  const scope = Scope.makeUnsafe()
  let port = 0
  let sockets: Array<Socket> = []

  beforeAll(async () => {
    const http = NodeHttpServer.layer(() => NodeServer.make(NodeServer.limits), { port: 0, host: "127.0.0.1" })
    const layer = HttpRouter.serve(route, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(http)
    )
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    const { address } = await Effect.runPromise(Effect.provide(HttpServer.HttpServer, context))
    port = Number(new URL(HttpServer.formatAddress(address)).port)
  })
  afterEach(async () => {
    for (const socket of sockets) socket.destroy()
    sockets = []
    await vi.waitFor(() => assert.strictEqual(memory.usedBytes(), 0), patient)
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  const open = (owner: string, headers: string) => {
    const socket = connect(port, "127.0.0.1")
    sockets.push(socket)
    let text = ""
    socket.on("error", () => {})
    socket.on("data", (data: Buffer) => (text += data.toString()))
    socket.write(`POST /${owner} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)
    const answer = async (milliseconds = 50_000): Promise<string> => {
      const deadline = performance.now() + milliseconds
      while (!text.includes("\r\n\r\n") && performance.now() < deadline) await sleep(10)
      return text.slice(text.indexOf("\r\n\r\n") + 4)
    }
    return { socket, answer, text: () => text }
  }
  const chunked = "Transfer-Encoding: chunked\r\n"
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${"a".repeat(bytes)}\r\n`
  const last = "0\r\n\r\n"

  it("reads a body of a known length, in chunks, in pieces, and none", async () => {
    const known = open("a", "Content-Length: 5\r\n")
    known.socket.write("aaaaa")
    assert.strictEqual(await known.answer(), "5")
    const pieces = open("a", chunked)
    for (let count = 0; count < 5; count++) {
      pieces.socket.write(chunk(50 * kibibyte))
      await sleep(20)
    }
    pieces.socket.write(last)
    assert.strictEqual(await pieces.answer(), String(250 * kibibyte))
    assert.strictEqual(await open("a", "").answer(), "0")
  })

  it("takes memory by the bytes of a body, whatever pieces they come in", async () => {
    const used = () => {
      collectGarbage()
      const { arrayBuffers, heapUsed } = process.memoryUsage()
      return arrayBuffers + heapUsed
    }
    const before = used()
    const body = open("a", chunked)
    const bytes = 255 * kibibyte
    body.socket.write(`10\r\n${"a".repeat(16)}\r\n`.repeat(bytes / 16))
    await vi.waitFor(() => assert.strictEqual(memory.usedBytes(), bytes), patient)
    assert.isBelow(used() - before, 6 * 1024 * kibibyte)
    body.socket.write(last)
    assert.strictEqual(await body.answer(), String(bytes))
  })

  it("takes memory for a small body while others have as much as all small ones may", async () => {
    const bodies = Array.from({ length: 5 }, (_, index) => open(`small${index}`, "Content-Length: 30001\r\n"))
    for (const body of bodies) body.socket.write("a".repeat(30_000))
    await vi.waitFor(() => assert.strictEqual(memory.usedBytes(), 2 * 30_000), patient)
    for (const body of bodies) body.socket.write("a")
    for (const body of bodies) assert.strictEqual(await body.answer(), "30001")
    const again = open("again", "Content-Length: 30001\r\n")
    again.socket.write("a".repeat(30_001))
    assert.strictEqual(await again.answer(), "30001")
    assert.strictEqual(memory.usedBytes(), 0)
  })

  it("stops at more chunks than a client makes", async () => {
    const body = open("a", chunked)
    body.socket.write("1\r\na\r\n".repeat(5000))
    assert.strictEqual(await body.answer(), "chunks-too-small")
  })

  it("stops at the largest body", async () => {
    const large = open("a", chunked)
    for (let count = 0; count < 5; count++) large.socket.write(chunk(64 * kibibyte))
    assert.strictEqual(await large.answer(), "too-large")
  })

  it("times out a body that stops after any number of bytes", async () => {
    for (const first of ["", chunk(10), chunk(200 * kibibyte)]) {
      const begun = performance.now()
      const stopped = open("a", chunked)
      stopped.socket.write(first)
      assert.strictEqual(await stopped.answer(), "too-slow")
      assert.isAbove(performance.now() - begun, 480)
      assert.isBelow(performance.now() - begun, 20_000)
    }
  })

  it("reads at the minimum rate, and times out below it", async () => {
    const send = async (bytes: number): Promise<string> => {
      const body = open("a", chunked)
      for (let count = 0; count < 30; count++) {
        body.socket.write(chunk(bytes))
        await sleep(50)
      }
      body.socket.write(last)
      return body.answer()
    }
    // Timers run late, never early: at 50 ms, 16 KiB a second are 819 bytes.
    const [slow, fast] = await Promise.all([send(400), send(8000)])
    assert.strictEqual(slow, "too-slow")
    assert.strictEqual(fast, "240000")
  })

  it("answers 100 Continue before it reads", async () => {
    const body = open("a", "Content-Length: 5\r\nExpect: 100-continue\r\n")
    await body.answer()
    assert.match(body.text(), /^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    body.socket.write("aaaaa")
    await vi.waitFor(() => assert.match(body.text(), /200 OK/), patient)
    assert.match(body.text(), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n5$/)
  })

  it("frees the memory of a disconnected client", async () => {
    const gone = open("a", chunked)
    gone.socket.write(chunk(100 * kibibyte))
    await vi.waitFor(() => assert.isAbove(memory.usedBytes(), 0), patient)
    gone.socket.resetAndDestroy()
    await vi.waitFor(() => assert.strictEqual(memory.usedBytes(), 0), patient)
  })

  it("times out the slowest body first while other bodies wait for memory", async () => {
    const slow = Array.from({ length: 5 }, (_, owner) => {
      const body = open(`slow-${owner}`, chunked)
      body.socket.write(chunk(130 * kibibyte))
      const timer = setInterval(() => body.socket.writable && body.socket.write(chunk(1000)), 50)
      return { ...body, stop: () => clearInterval(timer) }
    })
    await sleep(900)
    const begun = performance.now()
    const fast = open("fast", `Content-Length: ${200 * kibibyte}\r\n`)
    fast.socket.write("a".repeat(200 * kibibyte))
    assert.strictEqual(await fast.answer(), String(200 * kibibyte))
    // At their rate, the slow bodies would take more than 5 s.
    assert.isBelow(performance.now() - begun, 4900)
    for (const { stop } of slow) stop()
    assert.include(slow.map(({ text }) => text()).join(), "memory-exhausted")
  })
})
