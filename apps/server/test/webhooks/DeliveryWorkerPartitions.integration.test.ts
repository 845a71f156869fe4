/** Two delivery workers that divide the organizations between them. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import { partitionOf } from "../../src/jobs/WorkerGroup.ts"
import * as DeliveryQueue from "../../src/webhooks/DeliveryQueue.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import { count, eventually, outage, start } from "./support/deliveryWorker.ts"

layer(layerPostgres, { timeout: "120 seconds" })("Two delivery workers", (it) => {
  it.effect("deliver to the organizations of their own partitions when they are woken", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const workers = yield* Effect.forEach([1, 2], () => start(() => Effect.succeed(Fake.delivered)))
      // Without anything due, a poll claims nothing.
      yield* eventually(
        "the workers know of each other",
        60_000,
        Effect.sync(() => workers.every(({ ownPartitions }) => ownPartitions()?.length === 16))
      )
      const organizations: Array<{ readonly id: Ids.OrganizationId; readonly endpoint: Ids.EndpointId }> = []
      for (let n = 0; n < 20; n++) {
        const id = yield* fixtures.organization
        const url = `https://example.com/${partitionOf(id)}`
        organizations.push({ id, endpoint: yield* fixtures.endpoint(id, { url }) })
      }
      // A poll, which is for all partitions, may happen during a round.
      const isDivided = Effect.gen(function* () {
        const before = workers.map(({ requests }) => requests.length)
        const done = yield* count("status = 'succeeded'")
        for (const { endpoint, id } of organizations) yield* fixtures.deliveries(id, endpoint, 3)
        yield* Effect.forEach(workers, ({ wake }) => wake)
        yield* eventually(
          "all deliveries succeed",
          10_000,
          Effect.map(count("status = 'succeeded'"), (n) => n === done + 60)
        )
        return workers.every(({ ownPartitions, requests }, index) =>
          requests.slice(before[index]).every(({ url }) => ownPartitions()?.includes(new URL(url).pathname.slice(1)))
        )
      })
      let rounds = 1
      while (!(yield* isDivided)) assert.isBelow(rounds++, 10, "No round was divided by partitions")
      yield* Effect.forEach(workers, ({ stop }) => stop)
    })
  )

  it.effect("leave the partitions of one whose statements fail to the other, until they succeed again", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      let isDown = false
      const failing = Layer.effect(
        DeliveryQueue.DeliveryQueue,
        Effect.map(DeliveryQueue.DeliveryQueue, ({ claim, complete }) => ({
          claim: (options) => Effect.suspend(() => (isDown ? Effect.fail(outage) : claim(options))),
          complete
        }))
      ).pipe(Layer.provide(DeliveryQueue.layer))
      const answer = () => Effect.succeed(Fake.delivered)
      const [healthy, other] = [yield* start(answer), yield* start(answer, {}, failing)]
      const workers = [healthy, other]
      const isDivided = Effect.sync(() => workers.every(({ ownPartitions }) => ownPartitions()?.length === 16))
      yield* eventually("the workers know of each other", 60_000, isDivided)
      isDown = true
      yield* other.wake
      // The time of the other goes on, so that it is not silent.
      yield* eventually(
        "the healthy worker owns all",
        10_000_000,
        Effect.sync(() => healthy.ownPartitions() === undefined)
      )
      isDown = false
      yield* eventually("the partitions are divided again", 60_000, isDivided)
      yield* Effect.forEach(workers, ({ stop }) => stop)
    })
  )
})
