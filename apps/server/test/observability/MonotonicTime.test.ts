/** The wall clock of a process or of the database is stepped: what waits or is counted goes by the time that passes. */
import { assert, describe, it } from "@effect/vitest"
import { KsefError } from "@govoice/ksef/client"
import { Effect, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { KeyRing } from "../../src/crypto/KeyRing.ts"
import * as CompletionWriter from "../../src/deliveries/CompletionWriter.ts"
import { DeliveryQueue } from "../../src/deliveries/DeliveryQueue.ts"
import { DeliveryScheduler } from "../../src/deliveries/DeliveryScheduler.ts"
import * as DeliveryWorker from "../../src/deliveries/DeliveryWorker.ts"
import type { CallFailed } from "../../src/invoices/ksef/CallFailure.ts"
import * as LaneCalls from "../../src/invoices/ksef/LaneCalls.ts"
import { makeProcess } from "../../src/invoices/ksef/LaneProcess.ts"
import { RateLimitWindows } from "../../src/invoices/ksef/RateLimitWindows.ts"
import { Notifier } from "../../src/jobs/Notifier.ts"
import * as SlidingWindows from "../../src/limits/SlidingWindows.ts"
import * as MonotonicTime from "../../src/observability/MonotonicTime.ts"
import * as ThrottledLog from "../../src/observability/ThrottledLog.ts"
import { completion } from "../support/completions.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import * as SteppedClock from "../support/SteppedClock.ts"
import * as TestSettings from "../support/TestSettings.ts"

const dayMs = 24 * 3_600_000
const context = "5265877635"

// Calls of the send limit of a minute.
const perMinute = 30

const setUpLane = () => {
  const process = makeProcess()
  const lane = { context, windows: new RateLimitWindows({}, { used: {}, blocked: {} }) }
  return { process, lane, call: LaneCalls.make(process, lane) }
}

const failing = (reason: "server-error" | "rate-limited", retryAfterMs?: number) =>
  Effect.fail(new KsefError({ call: "send", outcome: "answered", reason, retryAfterMs, message: "no" }))

const isPostponed = (error: CallFailed) => error.failure._tag === "postponed"

describe("a wall clock that is stepped", () => {
  for (const stepMs of [600_000, -600_000, dayMs, -dayMs]) {
    const name = `by ${stepMs / 60_000} minutes`

    it.effect(`${name} lets a taxpayer make no more calls than KSeF allows, and no fewer`, () =>
      Effect.gen(function* () {
        const { run, step } = yield* SteppedClock.make
        const { call } = setUpLane()
        const send = run(call("send", Effect.void))
        for (let made = 0; made < perMinute; made++) {
          yield* send
          yield* TestClock.adjust("500 millis")
        }
        step(stepMs)
        assert.isTrue(isPostponed((yield* Effect.flip(send)) as CallFailed))
        yield* TestClock.adjust("50 seconds")
        yield* send
      })
    )

    it.effect(`${name} neither ends nor lengthens the wait that KSeF asked for`, () =>
      Effect.gen(function* () {
        const { run, step } = yield* SteppedClock.make
        const { call } = setUpLane()
        yield* Effect.flip(run(call("send", failing("rate-limited", 20_000))))
        step(stepMs)
        const send = run(call("send", Effect.void))
        assert.isTrue(isPostponed((yield* Effect.flip(send)) as CallFailed))
        yield* TestClock.adjust("22 seconds")
        yield* send
      })
    )

    it.effect(`${name} neither closes the circuit breaker nor keeps it open`, () =>
      Effect.gen(function* () {
        const { run, step } = yield* SteppedClock.make
        const { call, process } = setUpLane()
        const { breaker } = process
        const fail = run(call("send", failing("server-error")))
        for (let failure = 0; failure < 10; failure++) {
          yield* Effect.flip(fail)
          yield* TestClock.adjust("1 second")
        }
        assert.isTrue(breaker.isOpen)
        step(stepMs)
        const now = yield* run(LaneCalls.currentTime(process))
        assert.approximately(breaker.openUntil - now, 14_000, 1)
      })
    )

    it.effect(`${name} lets a limited caller wait for its window alone`, () =>
      Effect.gen(function* () {
        const { run, step } = yield* SteppedClock.make
        const windows = yield* SlidingWindows.SlidingWindowStore
        const window = windows.make({ name: "test", limit: 1, windowMs: 60_000 })
        assert.strictEqual(yield* run(window.take("key")), 0)
        step(stepMs)
        assert.strictEqual(yield* run(window.take("key")), 60_000)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* run(window.take("key")), 0)
      }).pipe(Effect.provide(SlidingWindows.layerMemory))
    )

    it.effect(`${name} keeps no outage out of the log`, () =>
      Effect.gen(function* () {
        const { run, step } = yield* SteppedClock.make
        let lines = 0
        const log = ThrottledLog.make({ down: "down", recovered: "recovered" })
        const failure = run(log.failure("refused")).pipe(
          Effect.provide(Logger.layer([Logger.make<unknown, void>(() => void (lines += 1))]))
        )
        yield* failure
        step(stepMs)
        yield* failure
        assert.strictEqual(lines, 1)
        yield* TestClock.adjust(ThrottledLog.intervalMs)
        yield* failure
        assert.strictEqual(lines, 2)
      })
    )

    it.effect(`${name} has completions of locked rows retried for as long as their leases last`, () =>
      Effect.gen(function* () {
        const { run, step } = yield* SteppedClock.make
        const writer = CompletionWriter.make(
          {
            complete: () => Effect.die("not used"),
            completeUnlocked: (batch) => Effect.succeed({ written: [], locked: batch.map(({ id }) => id) })
          },
          5000
        )
        const writing = yield* Effect.forkChild(run(writer.writeWithRetry([completion(1)])))
        yield* TestClock.adjust("1 second")
        step(stepMs)
        yield* TestClock.adjust("3 seconds")
        assert.isUndefined(writing.pollUnsafe())
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(writing)
      })
    )
  }
})

it.effect("a clock that is set back stops no promotion of retries", () =>
  Effect.gen(function* () {
    const { run, step } = yield* SteppedClock.make
    let promotions = 0
    const promoteDue = Effect.sync(() => {
      promotions += 1
      return { retries: 0, leases: 0, next: undefined, anyDue: false }
    })
    const claim = Effect.succeed({ deliveries: [], more: false, left: false })
    const worker = DeliveryWorker.layer.pipe(
      Layer.provide([
        Layer.succeed(DeliveryScheduler)({ promoteDue }),
        Layer.mock(DeliveryQueue)({ claim: () => claim }),
        Layer.succeed(Notifier)({
          wake: () => Effect.void,
          recheck: () => Effect.void,
          wait: (_, milliseconds) => Effect.as(Effect.sleep(Math.max(0, milliseconds)), false)
        }),
        Fake.make(() => Effect.succeed(Fake.delivered)).layer,
        Layer.succeed(KeyRing)(fixtures.keyRing),
        TestSettings.layer()
      ])
    )
    yield* run(Layer.build(worker))
    yield* TestClock.adjust("3 seconds")
    const before = promotions
    step(-dayMs)
    yield* TestClock.adjust("3 seconds")
    assert.isAbove(promotions, before)
  })
)

describe("makeSteps", () => {
  it("tells each step once, and none where the clocks go alike or drift apart slowly", () => {
    const stepOf = MonotonicTime.makeSteps()
    assert.strictEqual(stepOf(1_000_000, 0), 0)
    assert.strictEqual(stepOf(1_010_000, 10_000), 0)
    assert.strictEqual(stepOf(1_010_400, 10_000), 0)
    assert.strictEqual(stepOf(1_010_600, 10_000), 600)
    assert.strictEqual(stepOf(1_010_600, 10_000), 0)
    assert.strictEqual(stepOf(10_600, 10_000), -1_000_000)
    assert.strictEqual(stepOf(20_600, 20_000), 0)
  })
})
