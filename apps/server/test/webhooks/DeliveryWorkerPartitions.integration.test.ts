/** Delivery workers that divide the organizations between them. */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Latch, Layer, Stream } from "effect"
import * as Notifier from "../../src/jobs/Notifier.ts"
import { partitionOf } from "../../src/jobs/WorkerGroup.ts"
import * as DeliveryQueue from "../../src/webhooks/DeliveryQueue.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import { count, eventually, outage, pass, start } from "./support/deliveryWorker.ts"

layer(layerPostgres, { timeout: "120 seconds" })("Delivery workers of a group", (it) => {
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
      // Workers announce themselves by their own time, and are silent by real time. With large steps, none is silent.
      const stepMs = 100
      yield* eventually("the workers know of each other", 10_000_000, isDivided, stepMs)
      let left = 0
      const pg = yield* PgClient.PgClient
      const notifications = yield* pg.listen("govoice_notifications")
      yield* Effect.forkScoped(
        Stream.runForEach(Stream.fromQueue(notifications), ({ payload }) =>
          Effect.sync(() => void (payload.split(" ").includes("left") && left++))
        )
      )
      isDown = true
      yield* other.wake
      yield* eventually(
        "the other has left, and the healthy worker owns all",
        10_000_000,
        Effect.sync(() => left > 0 && healthy.ownPartitions() === undefined),
        stepMs
      )
      isDown = false
      yield* eventually("the partitions are divided again", 10_000_000, isDivided, stepMs)
      yield* Effect.forEach(workers, ({ stop }) => stop)
    })
  )

  it.effect(
    "fill their own slots at once when a write in the background frees those of a foreign organization, too",
    () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const { id } = yield* fixtures.backlog(2)
        let foreign = id
        while (partitionOf(foreign) === partitionOf(id)) foreign = yield* fixtures.organization
        yield* fixtures.deliveries(foreign, yield* fixtures.endpoint(foreign), 1)
        const woken: Array<string> = []
        const notifier = Layer.effect(
          Notifier.Notifier,
          Effect.map(Notifier.Notifier, (service) => ({
            ...service,
            join: () => Effect.void,
            ownPartitions: () => [partitionOf(id)],
            wake: (_, organizations = []) => Effect.sync(() => void woken.push(...organizations))
          }))
        ).pipe(Layer.provide(Notifier.layer))
        const writable = yield* Latch.make(false)
        let emptyClaims = 0
        const failing = Layer.effect(
          DeliveryQueue.DeliveryQueue,
          Effect.map(DeliveryQueue.DeliveryQueue, ({ claim, complete }) => ({
            claim: (options) =>
              (options.completions ?? []).length > 0
                ? Effect.fail(outage)
                : Effect.tap(claim(options), ({ deliveries }) => {
                    if (deliveries.length === 0) emptyClaims += 1
                    return Effect.void
                  }),
            complete: (completions) => Effect.andThen(writable.await, complete(completions))
          }))
        ).pipe(Layer.provide(DeliveryQueue.layer))
        const answered = yield* Latch.make(false)
        const changes = { organizationConcurrency: 1 }
        const worker = yield* start(() => Effect.as(answered.await, Fake.delivered), changes, failing, notifier)
        const requested = (n: number) => Effect.sync(() => worker.requests.length === n)
        yield* eventually("one attempt of each organization is in flight", 300, requested(2))
        yield* pass(50)
        const before = emptyClaims
        yield* answered.open
        yield* eventually(
          "the next claim finds nothing",
          200,
          Effect.sync(() => emptyClaims > before)
        )
        yield* writable.open
        // The next promotion, which claims from all partitions, is a second after the first.
        yield* eventually("the next attempt", 200, requested(3))
        assert.deepStrictEqual(woken, [foreign])
        yield* worker.stop
      })
  )

  it.effect("stay out of the group after a failure until a statement succeeds, also while there is nothing to do", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      yield* fixtures.backlog(1)
      let canClaim = () => false
      const notifier = Layer.effect(
        Notifier.Notifier,
        Effect.map(Notifier.Notifier, (service) => ({
          ...service,
          join: (given) => Effect.sync(() => void (canClaim = given))
        }))
      ).pipe(Layer.provide(Notifier.layer))
      const failing = Layer.effect(
        DeliveryQueue.DeliveryQueue,
        Effect.map(DeliveryQueue.DeliveryQueue, ({ claim }) => ({
          claim: (options) => ((options.completions ?? []).length > 0 ? Effect.fail(outage) : claim(options)),
          complete: () => Effect.fail(outage)
        }))
      ).pipe(Layer.provide(DeliveryQueue.layer))
      const answered = yield* Latch.make(false)
      const worker = yield* start(() => Effect.as(answered.await, Fake.delivered), {}, failing, notifier)
      yield* eventually(
        "the attempt is in flight",
        300,
        Effect.sync(() => worker.requests.length === 1)
      )
      yield* pass(50)
      assert.isTrue(canClaim())
      yield* answered.open
      yield* eventually(
        "the completion fails",
        200,
        Effect.sync(() => !canClaim())
      )
      yield* worker.recheck
      yield* pass(50)
      assert.isFalse(canClaim())
      // The next promotion succeeds.
      yield* eventually("the worker can claim", 2500, Effect.sync(canClaim))
      yield* worker.stop
    })
  )
})
