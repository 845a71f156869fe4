import { assert, describe, it } from "@effect/vitest"
import { KsefError } from "@govoice/ksef/client"
import { type Operation, Problem } from "@govoice/ksef/protocol"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { CallFailed } from "../../../src/invoices/ksef/CallFailure.ts"
import * as LaneCalls from "../../../src/invoices/ksef/LaneCalls.ts"
import { makeProcess } from "../../../src/invoices/ksef/LaneProcess.ts"
import { RateLimitWindows } from "../../../src/invoices/ksef/RateLimitWindows.ts"

/** Logins a second that a process begins. */
const loginsPerSecond = 20

const setUp = () => {
  const process = makeProcess(1)
  const lane = { context: "5265877635", windows: new RateLimitWindows({}, { used: {}, blocked: {} }) }
  let made = 0
  const call = LaneCalls.make(process, lane)
  const logIn = call(
    "challenge",
    Effect.sync(() => void (made += 1))
  )
  const anonymousAt = () => process.anonymous.earliest("anonymous", 0)
  return { process, call, logIn, anonymousAt, made: () => made }
}

/** An answer that calls the request malformed. */
const malformed = (call: Operation.Operation) =>
  new KsefError({
    call,
    outcome: "answered",
    reason: "rejected",
    message: "no",
    problem: Problem.read(JSON.stringify({ title: "Bad Request", status: 400, errors: [{ code: 21405 }] }))
  })

describe("malformed requests", () => {
  for (const [operation, isOpen] of [
    ["openOnline", true],
    ["send", true],
    ["openBatch", true],
    ["closeBatch", false]
  ] as const) {
    it.effect(`of ${operation} ${isOpen ? "open" : "do not open"} the circuit breaker of all taxpayers`, () =>
      Effect.gen(function* () {
        const { call, process } = setUp()
        for (let time = 0; time < 3; time++) {
          const { failure } = (yield* Effect.flip(call(operation, Effect.fail(malformed(operation))))) as CallFailed
          assert.deepInclude(failure, { _tag: "code", action: "defect" })
        }
        assert.strictEqual(process.breaker.isOpen, isOpen)
      })
    )
  }
})

describe("a lane whose lease is lost", () => {
  it.effect("makes no call, also where it waited for its turn and cannot be interrupted", () =>
    Effect.gen(function* () {
      const process = makeProcess(1)
      let isLost = false
      const windows = new RateLimitWindows({}, { used: {}, blocked: {} })
      const call = LaneCalls.make(process, { context: "5265877635", windows, isLost: () => isLost })
      let made = 0
      const send = call(
        "send",
        Effect.sync(() => void (made += 1))
      )
      yield* send
      yield* process.permits.take(1)
      const waiting = yield* Effect.forkChild(Effect.uninterruptible(send), { startImmediately: true })
      isLost = true
      yield* process.permits.release(1)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(waiting)))
      assert.strictEqual(made, 1)
    })
  )
})

describe("failures in a row", () => {
  for (const [operation, isOpen] of [
    ["sessionStatus", true],
    ["invoiceUpo", false],
    ["invoiceUpoByKsefNumber", false]
  ] as const) {
    it.effect(`of ${operation} ${isOpen ? "open" : "do not open"} the circuit breaker of all taxpayers`, () =>
      Effect.gen(function* () {
        const { call, process } = setUp()
        const failed = new KsefError({ call: operation, outcome: "answered", reason: "server-error", message: "no" })
        for (let time = 0; time < 10; time++) yield* Effect.flip(call(operation, Effect.fail(failed)))
        assert.strictEqual(process.breaker.isOpen, isOpen)
      })
    )
  }
})

describe("calls of a lane", () => {
  it.effect("that read receipts hold no permit of the others, however long KSeF takes", () =>
    Effect.gen(function* () {
      const { call } = setUp()
      yield* Effect.forkChild(call("invoiceUpo", Effect.never), { startImmediately: true })
      yield* call("send", Effect.void)
    })
  )

  it.effect("that are interrupted while they wait for a permit take no place in the window of all lanes", () =>
    Effect.gen(function* () {
      const { anonymousAt, logIn, made, process } = setUp()
      yield* process.permits.take(1)
      const waiting = yield* Effect.forEach(Array.from({ length: loginsPerSecond }), () => Effect.forkChild(logIn))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(anonymousAt(), Infinity, "all of the window is in flight")
      // As the lanes of a process are when their leases expire.
      yield* Fiber.interruptAll(waiting)
      assert.strictEqual(anonymousAt(), 0, "calls that never left occupy nothing")
      yield* process.permits.release(1)
      const next = yield* Effect.forkChild(Effect.timeoutOption(logIn, "1 minute"))
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* Fiber.join(next))._tag, "Some")
      assert.strictEqual(made(), 1)
    })
  )

  it.effect("that are interrupted while they wait for their window end at once, and take no place in it", () =>
    Effect.gen(function* () {
      const { anonymousAt, logIn, made, process } = setUp()
      yield* process.permits.take(1)
      const first = yield* Effect.forEach(Array.from({ length: loginsPerSecond }), () => Effect.forkChild(logIn))
      const late = yield* Effect.forkChild(logIn)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(late)
      yield* process.permits.release(1)
      yield* Fiber.joinAll(first)
      assert.strictEqual(made(), loginsPerSecond)
      assert.isAbove(anonymousAt(), 0)
      assert.isBelow(anonymousAt(), 10_000, "nothing is in flight")
    })
  )
})
