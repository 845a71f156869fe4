/**
 * Shared by the tests of the delivery queue: a queue and a scheduler for each test, on each database.
 */
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Completion } from "../../../src/deliveries/Completion.ts"
import * as DeliveryQueue from "../../../src/deliveries/DeliveryQueue.ts"
import * as DeliveryScheduler from "../../../src/deliveries/DeliveryScheduler.ts"
import { database } from "../../support/TestDatabase.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as TestSettings from "../../support/TestSettings.ts"

export const leaseMs = 30_000

export const claim = (options: Partial<DeliveryQueue.DeliveryClaimOptions> = {}) =>
  Effect.flatMap(DeliveryQueue.DeliveryQueue, (queue) =>
    queue.claim({ limit: 100, perOrganization: 10, leaseMs, ...options })
  )

export const complete = (completions: ReadonlyArray<Completion>) =>
  Effect.flatMap(DeliveryQueue.DeliveryQueue, (queue) => queue.complete(completions))

export const promoteDue = Effect.flatMap(DeliveryScheduler.DeliveryScheduler, (scheduler) => scheduler.promoteDue)

/** The layer keeps the place in the round, so a queue of its own stands for a worker of its own. */
export const worker = Layer.fresh(DeliveryQueue.layer)

/** Defines a test that begins with empty tables, at the epoch. */
export type DefineTest = (
  name: string,
  body: () => Effect.Effect<
    void,
    unknown,
    DeliveryQueue.DeliveryQueue | DeliveryScheduler.DeliveryScheduler | SqlClient.SqlClient
  >
) => void

/** Runs the tests on the database of the run. */
export const describeQueue = (name: string, define: (test: DefineTest) => void): void => {
  const scheduler = DeliveryScheduler.layer.pipe(Layer.provide(TestSettings.layer()))
  const begin = Effect.andThen(fixtures.clear, TestClock.setTime(0))

  layer(database.layer, { timeout: "120 seconds" })(`${name} (${database.name})`, (it) => {
    define((title, body) =>
      it.effect(title, () => body().pipe(Effect.provide([worker, scheduler]), (test) => Effect.andThen(begin, test))))
  })
}
