import { assert, describe, it } from "@effect/vitest"
import { type AttemptDiagnostics, Dispatcher, DispatcherMetrics, type DispatcherOptions } from "@govoice/dispatcher"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Tracer from "effect/Tracer"
import {
  delivered,
  dispatcher,
  local,
  sendOnce,
  serveHttp,
  serveRaw,
  stable,
  unusedPort,
  until
} from "./support/servers.ts"

const diagnosed = async (url: string, options: DispatcherOptions = {}): Promise<AttemptDiagnostics> => {
  const attempts: Array<AttemptDiagnostics> = []
  await sendOnce(url, { ...options, onAttempt: (attempt) => attempts.push(attempt) })
  await until(() => attempts.length === 1)
  return attempts[0]!
}

describe("onAttempt", () => {
  it("reports a delivered attempt", async () => {
    const receiver = await serveHttp()
    const { durationMs, timings, ...rest } = await diagnosed(`http://name.test:${receiver.port}/`)
    assert.deepEqual(rest, {
      hostname: "name.test",
      port: receiver.port,
      outcome: "delivered",
      phase: "done",
      address: "127.0.0.1",
      addressesTried: 1,
      reusedConnection: false,
      code: undefined,
      rule: undefined,
      status: 200
    })
    const { connectMs, lookupMs, queueMs, responseMs, tlsMs } = timings
    assert.isUndefined(tlsMs)
    for (const phase of [connectMs, lookupMs, queueMs, responseMs]) assert.isAtLeast(phase!, 0)
    assert.isAtMost(lookupMs! + queueMs! + connectMs! + responseMs!, durationMs + 0.01)
  })

  it("reports that a connection was used again", async () => {
    const receiver = await serveHttp()
    const attempts: Array<AttemptDiagnostics> = []
    const { send } = dispatcher({ onAttempt: (attempt) => attempts.push(attempt) })
    await send({ url: `http://name.test:${receiver.port}/`, body: "" })
    await send({ url: `http://name.test:${receiver.port}/`, body: "" })
    await until(() => attempts.length === 2)
    assert.isTrue(attempts[1]!.reusedConnection)
    assert.isUndefined(attempts[1]!.timings.connectMs)
  })

  it("reports different codes for a refused connection, a missing answer and an unknown host", async () => {
    const port = await unusedPort()
    const refused = await diagnosed(`http://name.test:${port}/`)
    assert.include(refused, { outcome: "failed_connect", phase: "connect", code: "ECONNREFUSED" })
    const silent = await serveRaw(() => {})
    const slow = await diagnosed(`http://name.test:${silent.port}/`, { deadlineMs: 1_000 })
    assert.include(slow, { outcome: "failed_timeout", phase: "response", code: "DEADLINE" })
    const unknown = await diagnosed("http://name.test/", {
      resolve: () => Promise.reject(Object.assign(new Error("x"), { code: "ENOTFOUND" }))
    })
    assert.include(unknown, { outcome: "failed_dns", phase: "lookup", code: "ENOTFOUND" })
  })

  it("reports the rule that blocked a request, and the phase", async () => {
    assert.include(await diagnosed("http://10.0.0.1/"), { outcome: "blocked", phase: "guard", rule: "private" })
    const answered = await diagnosed("http://name.test/", { resolve: async () => ["10.0.0.1"] })
    assert.include(answered, { outcome: "blocked", phase: "lookup", rule: "private", hostname: "name.test" })
  })

  it("reports an interrupted attempt", async () => {
    const silent = await serveRaw(() => {})
    const attempts: Array<AttemptDiagnostics> = []
    const { send } = dispatcher({ onAttempt: (attempt) => attempts.push(attempt) })
    const controller = new AbortController()
    const stuck = send({ url: `http://name.test:${silent.port}/`, body: "" }, { signal: controller.signal })
    await until(() => silent.open === 1)
    controller.abort()
    await stuck.catch(() => {})
    await until(() => attempts.length === 1)
    assert.include(attempts[0]!, { outcome: "interrupted" })
  })

  it("that throws changes no outcome, nor does onConnect", async () => {
    const receiver = await serveHttp()
    const hook = () => {
      throw new Error("The hook is broken")
    }
    const outcome = await sendOnce(`http://name.test:${receiver.port}/`, { onAttempt: hook, onConnect: hook })
    assert.deepEqual(stable(outcome), delivered())
  })

  it("can send another request", async () => {
    const receiver = await serveHttp()
    const url = `http://name.test:${receiver.port}/`
    let again: Promise<unknown> | undefined
    const made = dispatcher({
      onAttempt: () => {
        again ??= made.send({ url, body: "" })
      }
    })
    await made.send({ url, body: "" })
    await until(() => again !== undefined)
    await again
    assert.strictEqual(receiver.requests.length, 2)
  })
})

describe("Metrics", () => {
  it.effect("count attempts by outcome, connections and phases; gauges return to 0", () =>
    Effect.gen(function* () {
      const receiver = yield* Effect.promise(() => serveHttp())
      const port = yield* Effect.promise(() => unusedPort())
      const silent = yield* Effect.promise(() => serveRaw(() => {}))
      const count = (outcome: AttemptDiagnostics["outcome"]) =>
        Effect.map(Metric.value(DispatcherMetrics.attempts(outcome)), ({ count }) => count)
      const gauge = (kind: Parameters<typeof DispatcherMetrics.inUse>[0]) =>
        Effect.map(Metric.value(DispatcherMetrics.inUse(kind)), ({ value }) => value)

      yield* Effect.provide(
        Effect.gen(function* () {
          const { send } = yield* Dispatcher
          const to = (url: string, deadlineMs?: number) => send({ url, body: "", deadlineMs })
          yield* to(`http://name.test:${receiver.port}/`)
          yield* to(`http://name.test:${receiver.port}/`)
          yield* to(`http://name.test:${port}/`)
          yield* to("http://10.0.0.1/")
          yield* to(`http://name.test:${silent.port}/`, 1_000)
          assert.strictEqual(yield* count("delivered"), 2)
          assert.strictEqual(yield* count("failed_connect"), 1)
          assert.strictEqual(yield* count("failed_timeout"), 1)
          assert.strictEqual(yield* count("blocked"), 1)
          assert.strictEqual(yield* count("interrupted"), 0)
          assert.strictEqual((yield* Metric.value(DispatcherMetrics.connectionsOpened)).count, 2)
          assert.strictEqual((yield* Metric.value(DispatcherMetrics.phaseDuration("lookup"))).count, 4)
          assert.strictEqual((yield* Metric.value(DispatcherMetrics.phaseDuration("connect"))).count, 2)
          assert.strictEqual((yield* Metric.value(DispatcherMetrics.phaseDuration("response"))).count, 3)
          assert.strictEqual(yield* gauge("attempts"), 0)
          assert.strictEqual(yield* gauge("lookups"), 0)
          assert.strictEqual(yield* gauge("waiting"), 0)
          assert.strictEqual(yield* gauge("connections"), 1)
          assert.strictEqual(yield* gauge("idle_connections"), 1)
          assert.strictEqual(yield* gauge("pools"), 1)
        }),
        Dispatcher.layer(local),
        { local: true }
      )
      assert.strictEqual(yield* gauge("connections"), 0)
      assert.strictEqual(yield* gauge("idle_connections"), 0)
      assert.strictEqual(yield* gauge("pools"), 0)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("count waiting attempts", () =>
    Effect.gen(function* () {
      const silent = yield* Effect.promise(() => serveRaw(() => {}))
      const { send } = yield* Dispatcher
      const request = { url: `http://name.test:${silent.port}/`, body: "" }
      for (let index = 0; index < 3; index++) {
        yield* Effect.forkChild(send(request), { startImmediately: true })
      }
      yield* Effect.promise(() => until(() => silent.open === 1))
      assert.strictEqual((yield* Metric.value(DispatcherMetrics.inUse("attempts"))).value, 3)
      assert.strictEqual((yield* Metric.value(DispatcherMetrics.inUse("waiting"))).value, 2)
    }).pipe(
      Effect.provide(Dispatcher.layer({ ...local, maxConnectionsPerTarget: 1 }), { local: true }),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  )
})

describe("Spans", () => {
  const recorded = (url: string, options: DispatcherOptions) =>
    Effect.gen(function* () {
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const { send } = yield* Dispatcher
      yield* send({ url, body: "secret", headers: { authorization: "hunter2" } }).pipe(
        Effect.withSpan("outer"),
        Effect.withTracer(tracer)
      )
      const [outer, span] = spans
      assert.strictEqual(span!.name, "Dispatcher.send")
      assert.strictEqual(span!.kind, "client")
      assert.strictEqual(span!.traceId, outer!.traceId)
      assert.strictEqual(span!.status._tag, "Ended")
      return span!.attributes
    }).pipe(Effect.provide(Dispatcher.layer(options), { local: true }))

  it.effect("have the address and the outcome of an attempt, and no secret", () =>
    Effect.gen(function* () {
      const receiver = yield* Effect.promise(() => serveHttp())
      const attributes = yield* recorded(`http://name.test:${receiver.port}/T0KEN?key=hunter2`, local)
      assert.strictEqual(attributes.get("server.address"), "name.test")
      assert.strictEqual(attributes.get("server.port"), receiver.port)
      assert.strictEqual(attributes.get("network.peer.address"), "127.0.0.1")
      assert.strictEqual(attributes.get("http.response.status_code"), 200)
      assert.strictEqual(attributes.get("dispatcher.outcome"), "delivered")
      assert.isNumber(attributes.get("dispatcher.connectMs"))
      assert.notMatch(JSON.stringify([...attributes]), /T0KEN|hunter2|secret/)
    })
  )

  it.effect("have the code of a failure", () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(() => unusedPort())
      const attributes = yield* recorded(`http://name.test:${port}/`, local)
      assert.strictEqual(attributes.get("error.type"), "ECONNREFUSED")
      assert.strictEqual(attributes.get("dispatcher.outcome"), "failed_connect")
    })
  )
})
