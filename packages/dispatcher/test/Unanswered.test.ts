import { assert, describe, it } from "@effect/vitest"
import { type AttemptDiagnostics, Dispatcher } from "@govoice/dispatcher"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { delivered, dispatcher, failed, local, sendOnce, serveHttp, sleep, stable, until } from "./support/servers.ts"
import { serveUnaccepting } from "./support/unaccepting.ts"

describe("A connection that is never accepted", () => {
  it("ends the attempt at its deadline, unsent", async () => {
    const port = await serveUnaccepting()
    const outcome = await sendOnce(`http://name.test:${port}/`, { deadlineMs: 200 })
    assert.deepEqual(stable(outcome), failed("timeout", false))
    assert.isBelow(outcome.durationMs, 10_000)
  })

  it("is abandoned for the next address after half of the remaining time", async () => {
    const port = await serveUnaccepting()
    await serveHttp(undefined, { address: "127.0.0.2", port })
    const attempts: Array<AttemptDiagnostics> = []
    const outcome = await sendOnce(`http://name.test:${port}/`, {
      deadlineMs: 3_000,
      resolve: async () => ["127.0.0.1", "127.0.0.2"],
      onAttempt: (attempt) => attempts.push(attempt)
    })
    assert.deepEqual(stable(outcome), delivered())
    assert.isAtLeast(outcome.durationMs, 1_490)
    await until(() => attempts.length === 1)
    assert.include(attempts[0]!, { address: "127.0.0.2", addressesTried: 2 })
  })

  it("does not delay other receivers", async () => {
    const port = await serveUnaccepting()
    const healthy = await serveHttp()
    const { send } = dispatcher({ deadlineMs: 5_000 })
    let ended = 0
    const stuck = Array.from({ length: 20 }, () =>
      send({ url: `http://stuck.test:${port}/`, body: "" }).finally(() => ended++)
    )
    const outcome = await send({ url: `http://well.test:${healthy.port}/`, body: "" })
    assert.deepEqual(stable(outcome), delivered())
    assert.strictEqual(ended, 0, "the healthy receiver is served before the others time out")
    for (const outcome of await Promise.all(stuck)) assert.deepEqual(stable(outcome), failed("timeout", false))
  })

  it.effect("ends when its attempt is interrupted, and does not delay the close of the dispatcher", () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(() => serveUnaccepting())
      const attempts: Array<AttemptDiagnostics> = []
      yield* Effect.gen(function* () {
        const { send } = yield* Dispatcher
        const fiber = yield* Effect.forkChild(send({ url: `http://name.test:${port}/`, body: "" }), {
          startImmediately: true
        })
        yield* Effect.promise(() => sleep(50))
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      }).pipe(Effect.provide(Dispatcher.layer({ ...local, onAttempt: (attempt) => attempts.push(attempt) })))
      yield* Effect.promise(() => until(() => attempts.length === 1))
      assert.include(attempts[0]!, { outcome: "interrupted", phase: "connect" })
      assert.isBelow(attempts[0]!.durationMs, 10_000)
    })
  )
})
