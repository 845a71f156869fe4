/** The promise API and the Effect API behave the same: one suite, run with each. */
import { assert, describe, it } from "@effect/vitest"
import {
  Dispatcher,
  DispatcherError,
  type DispatcherOptions,
  type DispatchRequest,
  makeDispatcher,
  type Outcome
} from "@govoice/dispatcher"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Effect from "effect/Effect"
import {
  blocked,
  cleanup,
  delivered,
  failed,
  local,
  serveHttp,
  serveRaw,
  sleep,
  stable,
  unusedPort,
  until
} from "./support/servers.ts"

type Send = (request: DispatchRequest, signal?: AbortSignal) => Promise<Outcome>

const promiseApi = (options: DispatcherOptions): Send => {
  const made = makeDispatcher(options)
  cleanup(() => made.close())
  return (request, signal) => made.send(request, { signal })
}

const effectApi = (options: DispatcherOptions): Send => {
  const runtime = ManagedRuntime.make(Dispatcher.layer(options))
  cleanup(() => runtime.dispose())
  return (request, signal) =>
    runtime.runPromise(
      Effect.flatMap(Dispatcher, ({ send }) => send(request)),
      signal === undefined ? undefined : { signal }
    )
}

const rejection = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error("It did not reject")
}

const codeOf = (error: unknown) => (error instanceof DispatcherError ? error.code : error)

const suite = (name: string, makeSend: (options: DispatcherOptions) => Send) => {
  describe(name, () => {
    it("sends method, path, headers and body, and nothing else", async () => {
      const receiver = await serveHttp()
      const send = makeSend(local)
      const url = `http://name.test:${receiver.port}/hook/%C3%A4?a=b%20c#fragment`
      const headers = {
        "Content-Type": "application/json",
        "Gov-Event-Id": "evt_1",
        "x-empty": "",
        "x-latin": "caf\u00e9"
      }
      assert.deepEqual(stable(await send({ url, headers, body: '{"a":"ä"}' })), delivered())
      const [request] = receiver.requests
      assert.strictEqual(request!.method, "POST")
      assert.strictEqual(request!.url, "/hook/%C3%A4?a=b%20c")
      assert.deepEqual(request!.rawHeaders, [
        "host",
        `name.test:${receiver.port}`,
        "connection",
        "keep-alive",
        "Content-Type",
        "application/json",
        "Gov-Event-Id",
        "evt_1",
        "x-empty",
        "",
        "x-latin",
        "caf\u00e9",
        "content-length",
        "10"
      ])
      assert.deepEqual(receiver.bodies, ['{"a":"ä"}'])
    })

    it("sends bytes as they are, and an empty body", async () => {
      const receiver = await serveHttp()
      const send = makeSend(local)
      const url = `http://name.test:${receiver.port}/`
      // A view into something larger.
      const bytes = new TextEncoder().encode("[hello]").subarray(1, 6)
      assert.deepEqual(stable(await send({ url, body: bytes })), delivered())
      assert.deepEqual(stable(await send({ url, body: "" })), delivered())
      assert.deepEqual(stable(await send({ url, body: new Uint8Array(0) })), delivered())
      assert.deepEqual(receiver.bodies, ["hello", "", ""])
      assert.strictEqual(receiver.requests[1]!.headers["content-length"], "0")
    })

    for (const method of ["PUT", "PATCH", "DELETE"] as const) {
      it(`sends ${method}`, async () => {
        const receiver = await serveHttp()
        const send = makeSend(local)
        assert.deepEqual(
          stable(await send({ url: `http://name.test:${receiver.port}/`, body: "x", method })),
          delivered()
        )
        assert.strictEqual(receiver.requests[0]!.method, method)
        assert.deepEqual(receiver.bodies, ["x"])
      })
    }

    it("sends GET without a body", async () => {
      const receiver = await serveHttp()
      const send = makeSend(local)
      const url = `http://name.test:${receiver.port}/`
      assert.deepEqual(stable(await send({ url, body: "", method: "GET" })), delivered())
      assert.isUndefined(receiver.requests[0]!.headers["content-length"])
      assert.strictEqual(codeOf(await rejection(send({ url, body: "x", method: "GET" }))), "invalid_request")
    })

    it("returns an outcome of each kind", async () => {
      const refusing = await serveHttp((_, response) => response.writeHead(503, { "retry-after": "3" }).end())
      const send = makeSend(local)
      assert.deepEqual(stable(await send({ url: `http://name.test:${refusing.port}/`, body: "" })), {
        _tag: "Refused",
        status: 503,
        retryable: true,
        retryAfterMs: 3_000,
        attempted: true
      })
      const port = await unusedPort()
      assert.deepEqual(stable(await send({ url: `http://name.test:${port}/`, body: "" })), failed("connect", false))
      assert.deepEqual(stable(await send({ url: "http://10.0.0.1/", body: "" })), blocked("private"))
    })

    for (const [what, request] of [
      ["no object", undefined],
      ["a body that is an object", { url: "http://name.test/", body: { a: 1 } }],
      ["no body", { url: "http://name.test/" }],
      ["a method that is none", { url: "http://name.test/", body: "", method: "CONNECT" }],
      ["a method with a line break", { url: "http://name.test/", body: "", method: "POST / HTTP/1.1\r\n" }],
      ["a deadline of 0", { url: "http://name.test/", body: "", deadlineMs: 0 }],
      ["a deadline that is no number", { url: "http://name.test/", body: "", deadlineMs: Number.NaN }],
      ["a deadline beyond what timers can", { url: "http://name.test/", body: "", deadlineMs: 2 ** 31 }],
      ["no URL", { body: "" }],
      ["a member that does not exist", { url: "http://name.test/", body: "", metod: "PUT" }],
      ["headers that are a string", { url: "http://name.test/", body: "", headers: "a: b" }]
    ] as const) {
      it(`rejects a request with ${what}`, async () => {
        const send = makeSend(local)
        assert.strictEqual(codeOf(await rejection(send(request as unknown as DispatchRequest))), "invalid_request")
      })
    }

    for (const [what, url] of [
      ["null", null],
      ["a number", 1],
      ["an object", {}],
      ["a list", []],
      ["a symbol", Symbol("x")],
      ["empty text", ""],
      ["a word", "x"],
      ["half a literal", "http://["]
    ] as const) {
      it(`calls a URL that is ${what} blocked`, async () => {
        const send = makeSend(local)
        const request = { url, body: "" } as unknown as DispatchRequest
        assert.deepEqual(stable(await send(request)), blocked("url"))
      })
    }

    it("closes the connection when it is interrupted, and goes on afterwards", async () => {
      const receiver = await serveRaw((socket, received) => {
        if (received.includes("/well")) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
      })
      const send = makeSend(local)
      const controller = new AbortController()
      const stuck = rejection(send({ url: `http://name.test:${receiver.port}/`, body: "" }, controller.signal))
      await until(() => receiver.open === 1)
      controller.abort()
      assert.notInstanceOf(await stuck, DispatcherError)
      await until(() => receiver.open === 0, "the connection to close")
      assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/well`, body: "" })), delivered())
    })
  })
}

suite("The promise API", promiseApi)
suite("The Effect API", effectApi)

describe("makeDispatcher", () => {
  it("rejects with the reason of the signal", async () => {
    const receiver = await serveRaw(() => {})
    const send = promiseApi(local)
    const url = `http://name.test:${receiver.port}/`
    const reason = new Error("enough")
    assert.strictEqual(await rejection(send({ url, body: "" }, AbortSignal.abort(reason))), reason)
    assert.strictEqual(receiver.connections, 0)
    const controller = new AbortController()
    const stuck = rejection(send({ url, body: "" }, controller.signal))
    await until(() => receiver.open === 1)
    controller.abort(reason)
    assert.strictEqual(await stuck, reason)
  })

  for (const [what, options] of [
    ["allowHttp", { allowHttp: "yes" }],
    ["allowNetworks", { allowNetworks: ["10.0.0.1/8"] }],
    ["allowNetworks", { allowNetworks: ["10.0.0.0/33"] }],
    ["allowNetworks", { allowNetworks: ["localhost"] }],
    ["allowNetworks", { allowNetworks: "10.0.0.0/8" }],
    ["denyNetworks", { denyNetworks: ["::/129"] }],
    ["denyNetworks", { denyNetworks: [1] }],
    ["denyNetworks", { denyNetworks: ["10.0.0.0/08"] }],
    ["allowPorts", { allowPorts: [65_536] }],
    ["allowPorts", { allowPorts: ["80"] }],
    ["denyPorts", { denyPorts: [1.5] }],
    ["nat64Prefixes", { nat64Prefixes: ["64:ff9b::/97"] }],
    ["nat64Prefixes", { nat64Prefixes: ["10.0.0.0/8"] }],
    ["deadlineMs", { deadlineMs: -1 }],
    ["deadlineMs", { deadlineMs: "1000" }],
    ["deadlineMs", { deadlineMs: Number.POSITIVE_INFINITY }],
    ["maxConnectionsPerTarget", { maxConnectionsPerTarget: 0 }],
    ["maxTargets", { maxTargets: 1.5 }],
    ["resolve", { resolve: ["127.0.0.1"] }],
    ["onConnect", { onConnect: true }],
    ["onAttempt", { onAttempt: {} }],
    ["tls.ca", { tls: { ca: "-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----" } }],
    ["tls.ca", { tls: { ca: [1] } }],
    ["tls", { tls: "-----BEGIN CERTIFICATE-----" }]
  ] as const) {
    it(`throws on an option that cannot be read, and names it: ${JSON.stringify(options)}`, () => {
      assert.throws(() => makeDispatcher(options as unknown as DispatcherOptions), DispatcherError, what)
      try {
        makeDispatcher(options as unknown as DispatcherOptions)
      } catch (error) {
        assert.strictEqual(codeOf(error), "invalid_options")
      }
    })
  }

  it("completes attempts in flight when it is closed, and rejects later ones", async () => {
    let answer = () => {}
    const receiver = await serveHttp((_, response) => {
      answer = () => response.end()
    })
    const made = makeDispatcher(local)
    const url = `http://name.test:${receiver.port}/`
    const first = made.send({ url, body: "" })
    await until(() => receiver.requests.length === 1)
    let closed = false
    const closing = made.close().then(() => (closed = true))
    assert.strictEqual(codeOf(await rejection(made.send({ url, body: "" }))), "closed")
    assert.isFalse(closed)
    answer()
    assert.deepEqual(stable(await first), delivered())
    await closing
    await until(() => receiver.open === 0, "the connection to close")
    assert.strictEqual(codeOf(await rejection(made.send({ url, body: "" }))), "closed")
    assert.strictEqual(made.close(), made.close())
  })

  it("closes within the deadline of attempts that hang, in every phase", async () => {
    const silent = await serveRaw(() => {})
    const made = makeDispatcher({
      ...local,
      deadlineMs: 200,
      maxConnectionsPerTarget: 1,
      resolve: (name) => (name === "hang.test" ? new Promise<never>(() => {}) : Promise.resolve(["127.0.0.1"]))
    })
    const url = `http://name.test:${silent.port}/`
    const stuck = [
      made.send({ url: "http://hang.test/", body: "" }),
      made.send({ url, body: "" }),
      made.send({ url, body: "" }),
      made.send({ url: `https://name.test:${silent.port}/`, body: "" })
    ]
    const started = performance.now()
    await made.close()
    assert.isBelow(performance.now() - started, 10_000)
    for (const outcome of await Promise.all(stuck)) assert.strictEqual(stable(outcome)["reason"], "timeout")
    await until(() => silent.open === 0, "connections to close")
  })

  it("closes a connection that still discards a body", async () => {
    const receiver = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"))
    const made = makeDispatcher(local)
    await made.send({ url: `http://name.test:${receiver.port}/`, body: "" })
    await made.close()
    await until(() => receiver.open === 0, "the connection to close")
  })

  it("is disposed of by `await using`", async () => {
    const receiver = await serveHttp()
    {
      await using made = makeDispatcher(local)
      await made.send({ url: `http://name.test:${receiver.port}/`, body: "" })
      assert.strictEqual(receiver.open, 1)
    }
    await until(() => receiver.open === 0, "the connection to close")
  })
})

describe("The stack of a caller's mistake contains the caller", () => {
  const throughCaller = async (run: () => Promise<unknown>): Promise<string> => {
    const theCaller = async () => run()
    const error = await rejection(theCaller())
    assert.instanceOf(error, Error)
    return error.stack ?? ""
  }
  const bad = { url: "https://name.test/", body: "", headers: { host: "other.test" } }

  it("send of the promise API", async () => {
    const { send } = makeDispatcher(local)
    assert.match(await throughCaller(() => send(bad)), /theCaller/)
  })

  it("send of the promise API, from an asynchronous function that has waited", async () => {
    const { send } = makeDispatcher(local)
    const stack = await throughCaller(async () => {
      await sleep(1)
      return send(bad)
    })
    assert.match(stack, /PromiseAndEffectApi/)
  })

  it("send after close", async () => {
    const made = makeDispatcher(local)
    await made.close()
    assert.match(await throughCaller(() => made.send({ url: "https://name.test/", body: "" })), /theCaller/)
  })

  it("send of the Effect API", async () => {
    const sendBad = ({ send }: Dispatcher["Service"]) => send(bad)
    const effect = Effect.provide(Effect.flatMap(Dispatcher, sendBad), Dispatcher.layer(local))
    assert.match(await throughCaller(() => Effect.runPromise(effect)), /sendBad/)
  })

  it("options", async () => {
    const options = { allowNetworks: ["nonsense"] }
    assert.match(await throughCaller(async () => makeDispatcher(options)), /theCaller/)
    const layer = () => Dispatcher.layer(options)
    const build = () => Effect.runPromise(Effect.provide(Effect.asVoid(Dispatcher), layer()))
    assert.match(await throughCaller(build), /theCaller/)
  })
})
