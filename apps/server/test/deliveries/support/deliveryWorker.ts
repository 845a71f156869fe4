/**
 * Shared by the tests of the delivery worker: a worker on the database of a suite, in the time of `TestClock`.
 */
import { assert } from "@effect/vitest"
import type { DispatchRequest, Outcome } from "@govoice/dispatcher"
import { Clock, Effect, Exit, Layer, Scope } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { KeyRing } from "../../../src/crypto/KeyRing.ts"
import * as Notifier from "../../../src/jobs/Notifier.ts"
import type { SettingsShape } from "../../../src/settings/Settings.ts"
import * as DeliveryQueue from "../../../src/deliveries/DeliveryQueue.ts"
import * as DeliveryScheduler from "../../../src/deliveries/DeliveryScheduler.ts"
import * as DeliveryWorker from "../../../src/deliveries/DeliveryWorker.ts"
import * as Fake from "../../support/FakeDispatcher.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as TestSettings from "../../support/TestSettings.ts"
import { patienceMs } from "../../../../../test/support/patienceMs.ts"

export const count = (condition: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly n: number }>`
      SELECT count(*)::int AS n FROM deliveries WHERE ${sql.literal(condition)}
    `
    return row!.n
  })

export const outage = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("gone") }) })

// Real time for the database. The worker has the time of `TestClock`.
const pause = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))

/** Waits for a condition. The time of the worker advances by `withinMs` meanwhile, a little at a time, and no further. */
export const eventually = <E, R>(name: string, withinMs: number, check: Effect.Effect<boolean, E, R>, stepMs = 5) =>
  Effect.gen(function* () {
    const deadline = performance.now() + patienceMs
    const until = (yield* Clock.currentTimeMillis) + withinMs
    while (!(yield* check)) {
      if (performance.now() > deadline) assert.fail(`The condition does not hold: ${name}`)
      if ((yield* Clock.currentTimeMillis) < until) yield* TestClock.adjust(stepMs)
      yield* pause
    }
  })

/** Lets time pass for the worker, a little at a time, so that it does everything that is due. */
export const pass = Effect.fnUntraced(function* (milliseconds: number) {
  for (let passed = 0; passed < milliseconds; passed += 10) yield* Effect.andThen(TestClock.adjust(10), pause)
})

/** Runs an effect while time passes for the worker. */
export const whileTimePasses = <A, E, R>(effect: Effect.Effect<A, E, R>, stepMs = 10) =>
  Effect.raceFirst(effect, Effect.forever(Effect.andThen(TestClock.adjust(stepMs), pause)))

/** Starts a worker on the database of the suite. It stops with the test at the latest. */
export const start = Effect.fnUntraced(function* (
  answer: (request: DispatchRequest) => Effect.Effect<Outcome>,
  changes: Partial<SettingsShape> = {},
  queue: typeof DeliveryQueue.layer = DeliveryQueue.layer,
  notifier: typeof Notifier.layer = Notifier.layer
) {
  const dispatcher = Fake.make(answer)
  const worker = DeliveryWorker.layer.pipe(
    Layer.provide([queue, DeliveryScheduler.layer, dispatcher.layer]),
    Layer.provideMerge(notifier),
    Layer.provide([Layer.succeed(KeyRing)(fixtures.keyRing), TestSettings.layer(changes)])
  )
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(Layer.fresh(worker), scope)
  const { recheck, wake } = yield* Effect.provide(Notifier.Notifier, context)
  const stop = whileTimePasses(Scope.close(scope, Exit.void), 20)
  yield* Effect.addFinalizer(() => stop)
  return {
    requests: dispatcher.requests,
    wake: wake("deliveries"),
    recheck: recheck("deliveries"),
    stop
  }
})
