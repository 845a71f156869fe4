/**
 * Responses whose end is the end of the connection (RFC 9112 §6.3). The dispatcher closes the connection from inside of
 * undici's parser, which then completes the response.
 */
import type { Socket } from "node:net"
import * as tls from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import { Dispatcher } from "@govoice/dispatcher"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import { makeAuthority } from "./support/certificates.ts"
import { watchFaults } from "./support/faults.ts"
import {
  cleanup,
  delivered,
  dispatcher,
  failed,
  local,
  serveHttp,
  serveRaw,
  sleep,
  stable,
  until
} from "./support/servers.ts"

const refused = (status: number, retryable: boolean) => ({ _tag: "Refused", status, retryable, attempted: true })

const long = "x".repeat(70_000)
const fields = "a: b\r\n".repeat(201)

const responses: ReadonlyArray<readonly [what: string, bytes: string, expected: unknown]> = [
  ["HTTP/1.1 without a length", `HTTP/1.1 200 OK\r\n\r\n${long}`, delivered()],
  ["HTTP/1.0 without a length", `HTTP/1.0 200 OK\r\n\r\n${long}`, delivered()],
  ["HTTP/1.0 with keep-alive and no length", `HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n\r\n${long}`, delivered()],
  ["connection: close without a length", `HTTP/1.1 202 OK\r\nconnection: close\r\n\r\n${long}`, delivered(202)],
  ["a large error page", `HTTP/1.1 500 x\r\ncontent-type: text/html\r\n\r\n${long}`, refused(500, true)],
  ["a large page of a 404", `HTTP/1.0 404 x\r\n\r\n${long}`, refused(404, false)],
  ["HTTP/1.0 with a length", `HTTP/1.0 200 OK\r\ncontent-length: 70000\r\n\r\n${long}`, delivered()],
  ["a coding that is not chunked", `HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n${long}`, delivered()],
  ["too many fields", `HTTP/1.0 200 OK\r\n${fields}\r\n${long}`, failed("protocol", true)],
  ["a status that does not exist", `HTTP/1.0 777 x\r\n\r\n${long}`, failed("protocol", true)],
  [
    "too many informational responses",
    `${"HTTP/1.0 103 x\r\n\r\n".repeat(9)}HTTP/1.0 200 OK\r\n\r\n${long}`,
    failed("protocol", true)
  ]
]

const ends: Readonly<Record<string, (socket: Socket, bytes: string) => unknown>> = {
  FIN: (socket, bytes) => socket.end(bytes),
  "RST after a pause": (socket, bytes) => {
    socket.write(bytes)
    setTimeout(() => socket.resetAndDestroy(), 20)
  },
  "FIN after small writes": async (socket, bytes) => {
    for (let at = 0; at < bytes.length && !socket.destroyed; at += 9_000) {
      socket.write(bytes.slice(at, at + 9_000))
      await sleep(1)
    }
    socket.end()
  }
}

describe("A response that ends with the connection", () => {
  for (const [what, bytes, expected] of responses) {
    for (const [end, run] of Object.entries(ends)) {
      it(`${what}, ended by ${end}, has its outcome and throws nothing`, async () => {
        const faults = watchFaults()
        const receiver = await serveRaw((socket) => void run(socket, bytes))
        const { send } = dispatcher()
        const url = `http://name.test:${receiver.port}/`
        for (let attempt = 0; attempt < 2; attempt++) {
          assert.deepEqual(stable(await send({ url, body: "{}" })), expected)
        }
        await until(() => receiver.open === 0, "connections to close")
        await sleep(10)
        assert.deepEqual(faults, [])
      })
    }

    it(`${what}, over TLS, has its outcome and throws nothing`, async () => {
      const faults = watchFaults()
      const authority = makeAuthority()
      const open = new Set<tls.TLSSocket>()
      const server = tls.createServer(authority.issue({ names: ["name.test"] }), (socket) => {
        open.add(socket.on("error", () => {}).on("close", () => open.delete(socket)))
        socket.once("data", () => socket.end(bytes))
      })
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
      cleanup(() => new Promise((done) => server.close(done)))
      const { send } = dispatcher({ tls: { ca: authority.cert } })
      const address = server.address()
      const port = typeof address === "object" ? address?.port : undefined
      assert.deepEqual(stable(await send({ url: `https://name.test:${port}/`, body: "{}" })), expected)
      await until(() => open.size === 0, "the connection to close")
      await sleep(10)
      assert.deepEqual(faults, [])
    })
  }

  it("with endless line breaks before its status line throws nothing", async () => {
    const faults = watchFaults()
    const receiver = await serveRaw((socket) => socket.end("\r\n".repeat(200_000)))
    assert.strictEqual(
      (await dispatcher().send({ url: `http://name.test:${receiver.port}/`, body: "" }))._tag,
      "Failed"
    )
    await until(() => receiver.open === 0, "the connection to close")
    assert.deepEqual(faults, [])
  })
})

describe("Code of the caller that throws inside of an attempt", () => {
  it.effect("a span that throws changes no outcome", () =>
    Effect.gen(function* () {
      const faults = watchFaults()
      const receiver = yield* Effect.promise(() => serveRaw((socket) => socket.end(`HTTP/1.0 200 OK\r\n\r\n${long}`)))
      const { send } = yield* Dispatcher
      const tracer = Tracer.make({
        span: (options) =>
          Object.assign(new Tracer.NativeSpan(options), {
            attribute: () => {
              throw new Error("The exporter is broken")
            }
          })
      })
      const outcome = yield* send({ url: `http://name.test:${receiver.port}/`, body: "" }).pipe(
        Effect.withTracer(tracer)
      )
      assert.deepEqual(stable(outcome), delivered())
      yield* Effect.promise(() => until(() => receiver.open === 0, "the connection to close"))
      assert.deepEqual(faults, [])
    }).pipe(Effect.provide(Dispatcher.layer(local)))
  )

  for (const hook of ["onConnect", "onAttempt"] as const) {
    for (const [how, run] of Object.entries({
      throws: () => {
        throw new Error("The hook is broken")
      },
      rejects: async () => {
        throw new Error("The hook is broken")
      }
    })) {
      it(`${hook} that ${how} changes no outcome and leaves no unhandled rejection`, async () => {
        const faults = watchFaults()
        const receiver = await serveHttp()
        const { send } = dispatcher({ [hook]: run })
        assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
        await sleep(10)
        assert.deepEqual(faults, [])
      })
    }
  }
})
