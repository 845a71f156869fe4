import { channel } from "node:diagnostics_channel"
import { assert, describe, it } from "@effect/vitest"
import { Dispatcher, DispatcherError, type DispatchRequest } from "@govoice/dispatcher"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import { cleanup, delivered, dispatcher, local, serveHttp, stable } from "./support/servers.ts"

const refusal = async (headers: unknown): Promise<DispatcherError> => {
  const receiver = await serveHttp()
  const request = { url: `http://name.test:${receiver.port}/`, body: "", headers } as DispatchRequest
  try {
    await dispatcher().send(request)
  } catch (error) {
    assert.instanceOf(error, DispatcherError)
    assert.strictEqual(error.code, "invalid_request")
    assert.strictEqual(receiver.connections, 0)
    return error
  }
  throw new Error("It was sent")
}

describe("The headers of a request", () => {
  for (const name of [
    "Host",
    "host",
    "Connection",
    "Keep-Alive",
    "Proxy-Connection",
    "Proxy-Authorization",
    "Proxy-Authenticate",
    "Transfer-Encoding",
    "transfer-encoding",
    "Content-Length",
    "TE",
    "Trailer",
    "Upgrade",
    "Expect",
    "HTTP2-Settings"
  ]) {
    it(`are refused with the name ${name}`, async () => {
      assert.include((await refusal({ [name]: "x" })).message, name.toLowerCase())
    })
  }

  for (const [what, headers] of [
    ["a value with CR", { "x-a": "a\rb" }],
    ["a value with LF", { "x-a": "a\nb" }],
    ["a value with CR LF and a header", { "x-a": "a\r\nHost: evil.test" }],
    ["a value with NUL", { "x-a": "a\0b" }],
    ["a value with DEL", { "x-a": "a\u007fb" }],
    ["a value that ends in LF", { "x-a": "a\n" }],
    ["a value beyond Latin-1", { "x-a": "a\u0100" }],
    ["a value whose low byte is LF", { "x-a": "a\u010a" }],
    ["a value that is a number", { "x-a": 1 }],
    ["a value that is a list", { "x-a": ["a", "b"] }],
    ["a value that is nothing", { "x-a": undefined }],
    ["a name with CR LF", { "x\r\nhost": "a" }],
    ["a name with a space", { "x a": "a" }],
    ["a name with a colon", { "x:": "a" }],
    ["a name with NUL", { "x\0": "a" }],
    ["an empty name", { "": "a" }],
    ["a pseudo header", { ":authority": "evil.test" }],
    ["a name beyond ASCII", { "x-\u00e4": "a" }],
    ["a name that lowercases to host by a Kelvin sign's kin", { "ho\u017ft": "a" }],
    ["Headers of fetch", new Headers({ "x-a": "1" })],
    ["a Map", new Map([["x-a", "1"]])],
    ["an empty list", []],
    ["the same name twice", { "x-a": "1", "X-A": "2" }]
  ] as const) {
    it(`are refused: ${what}`, async () => {
      await refusal(headers)
    })
  }

  it("that are refused are named in the message, without their values", async () => {
    const { message, stack } = await refusal({ "x-secret": "hunter2\n" })
    assert.include(message, "x-secret")
    assert.notInclude(`${message}${stack}`, "hunter2")
  })

  for (const [name, shown] of [
    ["content type", '"content type"'],
    ["", '""'],
    ["x-\u00e4", String.raw`"x-\u00e4"`],
    ["x\0\u001b[2J", String.raw`"x\u0000\u001b[2J"`],
    ["Authorization: Bearer hunter2", '"Authorization"...'],
    ["x\r\nhunter2", '"x"...'],
    ["x ".repeat(100), `"${"x ".repeat(32)}"...`]
  ] as const) {
    it(`the message names ${JSON.stringify(name).slice(0, 40)}, which is no token, as ${shown.slice(0, 40)}`, async () => {
      const { message } = await refusal({ [name]: "a" })
      assert.strictEqual(message, `the header name ${shown} must be a token (RFC 9110 §5.6.2)`)
    })
  }

  it("are sent without inherited members", async () => {
    const receiver = await serveHttp()
    const headers = Object.assign(Object.create({ "x-inherited": "1" }) as Record<string, string>, { "x-own": "2" })
    await dispatcher().send({ url: `http://name.test:${receiver.port}/`, body: "", headers })
    assert.isUndefined(receiver.requests[0]!.headers["x-inherited"])
    assert.strictEqual(receiver.requests[0]!.headers["x-own"], "2")
  })
})

describe("Tracing", () => {
  it.effect("of Effect adds no header", () =>
    Effect.gen(function* () {
      const receiver = yield* Effect.promise(() => serveHttp())
      const { send } = yield* Dispatcher
      const tracer = Tracer.make({ span: (options) => new Tracer.NativeSpan(options) })
      yield* send({ url: `http://name.test:${receiver.port}/`, body: "" }).pipe(
        Effect.withSpan("outer"),
        Effect.withTracer(tracer)
      )
      assert.deepEqual(Object.keys(receiver.requests[0]!.headers), ["host", "connection", "content-length"])
    }).pipe(Effect.provide(Dispatcher.layer(local)))
  )

  it("of the process, which listens to undici, adds no header", async () => {
    const receiver = await serveHttp()
    let seen = 0
    // OpenTelemetry and others do this. Some keep the request and write later.
    const instrument = (message: unknown) => {
      seen++
      const { request } = message as {
        request: { addHeader: (name: string, value: string) => void; headers: Array<string> }
      }
      request.addHeader("traceparent", "00-1-2-01")
      request.addHeader("host", "evil.test")
      request.headers.push("baggage", "secret=1")
      queueMicrotask(() => request.addHeader("b3", "1"))
    }
    const created = channel("undici:request:create")
    created.subscribe(instrument)
    cleanup(() => created.unsubscribe(instrument))
    const { send } = dispatcher()
    for (let attempt = 0; attempt < 2; attempt++) {
      const request = { url: `http://name.test:${receiver.port}/`, body: "", headers: { "x-own": "1" } }
      assert.deepEqual(stable(await send(request)), delivered())
    }
    assert.strictEqual(seen, 2)
    for (const { headers } of receiver.requests) {
      assert.deepEqual(headers, {
        host: `name.test:${receiver.port}`,
        connection: "keep-alive",
        "x-own": "1",
        "content-length": "0"
      })
    }
  })
})
