import { assert, layer } from "@effect/vitest"
import type { DispatchRequest } from "@govoice/dispatcher"
import { Clock, Deferred, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import { database } from "../support/TestDatabase.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"
import { count, eventually, outage, pass, start } from "./support/deliveryWorker.ts"

layer(database.layer, { timeout: "120 seconds" })(`DeliveryWorker (${database.name})`, (it) => {
  it.effect("delivers when it is woken, without waiting for the poll interval", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const worker = yield* start(() => Effect.succeed(Fake.delivered))
      yield* pass(100)
      yield* fixtures.backlog(1)
      yield* worker.wake
      yield* eventually(
        "the delivery succeeds",
        100,
        Effect.map(count("status = 'succeeded'"), (n) => n === 1)
      )
      yield* worker.stop
    })
  )

  it.effect("continues at once with a backlog that only a promotion found", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const times: Array<number> = []
      const answer = Effect.map(Clock.currentTimeMillis, (now) => {
        times.push(now)
        return Fake.delivered
      })
      // More organizations than a claim scans, and none of them at its concurrency limit.
      const organizations = 420
      yield* Effect.forEach(Array.from({ length: organizations }), () => fixtures.backlog(1))
      const sql = yield* SqlClient.SqlClient
      const dueAt = new Date((yield* Clock.currentTimeMillis) + 900)
      yield* sql`UPDATE deliveries SET status = 'retrying', failure_status = 'retrying', is_due = false,
                            next_retry_at = ${dueAt}, due_at = ${dueAt}`
      const worker = yield* start(() => answer)
      // The next poll would be at 1900.
      yield* eventually(
        "the backlog is delivered",
        1400,
        Effect.map(count("due_at IS NOT NULL"), (n) => n === 0)
      )
      assert.strictEqual(times.length, organizations)
      assert.isAtLeast(times[0]!, dueAt.getTime())
      assert.isBelow(times.at(-1)! - times[0]!, 900)
      yield* worker.stop
    })
  )

  it.effect("keeps its own concurrency limit and that of each organization, and delivers everything", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const inFlight = new Map<string, number>()
      let most = 0
      let mostOfOne = 0
      const bothSend = yield* Deferred.make<void>()
      const answer = ({ url }: DispatchRequest) =>
        Effect.gen(function* () {
          const now = (inFlight.get(url) ?? 0) + 1
          inFlight.set(url, now)
          mostOfOne = Math.max(mostOfOne, now)
          most = Math.max(
            most,
            [...inFlight.values()].reduce((sum, n) => sum + n, 0)
          )
          // Attempts end once both workers have some: one alone could send everything before the other starts.
          if (most > 12) yield* Deferred.succeed(bothSend, undefined)
          yield* Deferred.await(bothSend)
          yield* Effect.sleep(5)
          inFlight.set(url, inFlight.get(url)! - 1)
          return Fake.delivered
        })
      for (let n = 0; n < 8; n++) {
        const id = yield* fixtures.organization
        const endpoint = yield* fixtures.endpoint(id, { url: `https://example.com/${n}` })
        yield* fixtures.deliveries(id, endpoint, 20)
      }
      const changes = { organizationConcurrency: 3, workerConcurrency: 12 }
      const workers = yield* Effect.all([start(answer, changes), start(answer, changes)])
      yield* eventually(
        "all deliveries succeed",
        50_000,
        Effect.map(count("status = 'succeeded'"), (n) => n === 160)
      )
      assert.strictEqual(mostOfOne, 3)
      assert.isAtMost(most, 24)
      assert.isAbove(most, 12)
      yield* Effect.forEach(workers, ({ stop }) => stop)
    })
  )

  it.effect("continues while completions fail, until as many are uncommitted as it has slots", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      let isDown = true
      const failing = Layer.effect(
        DeliveryQueue.DeliveryQueue,
        Effect.map(DeliveryQueue.DeliveryQueue, ({ claim, complete, completeUnlocked }) => ({
          claim: (options) => claim(options),
          complete: (completions) => Effect.suspend(() => (isDown ? Effect.fail(outage) : complete(completions))),
          completeUnlocked: (completions) =>
            Effect.suspend(() => (isDown ? Effect.fail(outage) : completeUnlocked(completions)))
        }))
      ).pipe(Layer.provide(DeliveryQueue.layer))
      for (let n = 0; n < 4; n++) yield* fixtures.backlog(5)
      const worker = yield* start(() => Effect.succeed(Fake.delivered), { workerConcurrency: 3 }, failing)
      yield* eventually(
        "as many are uncommitted as may be",
        3000,
        Effect.sync(() => worker.requests.length === 6)
      )
      yield* pass(1500)
      assert.strictEqual(worker.requests.length, 6)
      isDown = false
      yield* eventually(
        "the backlog is delivered",
        5000,
        Effect.map(count("status = 'succeeded'"), (n) => n === 20)
      )
      assert.strictEqual(worker.requests.length, 20)
      yield* worker.stop
    })
  )

  it.effect("completes at once attempts that end together, also more than one statement writes", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const together = yield* Latch.make(false)
      const changes = { organizationConcurrency: 1000, workerConcurrency: 1000 }
      const worker = yield* start(() => Effect.as(together.await, Fake.delivered), changes)
      // A completion that waited for the next poll would wait longer than 200 ms at least once in four times.
      for (let time = 1; time <= 4; time++) {
        for (let n = 0; n < 6; n++) yield* fixtures.backlog(100)
        yield* worker.wake
        yield* eventually(
          "the attempts are in flight",
          900,
          Effect.sync(() => worker.requests.length === time * 600)
        )
        // The worker sleeps by then.
        yield* pass(150)
        yield* together.open
        yield* eventually(
          "all are completed",
          200,
          Effect.map(count("status = 'succeeded'"), (n) => n === time * 600)
        )
        yield* together.close
      }
      yield* worker.stop
    })
  )

  it.effect("delivers a delivery with an earlier due time within about a second beside a large backlog", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const { endpoints, id } = yield* fixtures.backlog(4000)
      const worker = yield* start(() => Effect.delay(Effect.succeed(Fake.delivered), 10))
      yield* eventually(
        "the first attempts",
        3000,
        Effect.sync(() => worker.requests.length > 50)
      )
      const [early] = yield* fixtures.deliveries(id, endpoints[0]!, 1, { dueAt: 1000 })
      yield* eventually(
        "the one with the earlier due time succeeds",
        1800,
        Effect.map(count(`status = 'succeeded' AND id = '${early!}'`), Boolean)
      )
      assert.isAbove(yield* count("is_due"), 500)
      yield* worker.stop
    })
  )

  it.effect("frees the slot of an attempt that is interrupted", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      yield* fixtures.backlog(1)
      yield* fixtures.backlog(1)
      let calls = 0
      const worker = yield* start(
        () => Effect.suspend(() => (++calls === 1 ? Effect.interrupt : Effect.succeed(Fake.delivered))),
        { workerConcurrency: 1 }
      )
      yield* eventually(
        "the other succeeds",
        3000,
        Effect.map(count("status = 'succeeded'"), (n) => n === 1)
      )
      const begun = yield* Clock.currentTimeMillis
      yield* worker.stop
      // It would wait for the attempt otherwise, as long as one may last.
      assert.isBelow((yield* Clock.currentTimeMillis) - begun, 10_000)
    })
  )

  it.effect("delivers to the other endpoints of an organization while one hangs", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const organizationId = yield* fixtures.organization
      const slow = yield* fixtures.endpoint(organizationId, { url: "https://example.com/slow" })
      const quick = yield* fixtures.endpoint(organizationId, { url: "https://example.com/quick" })
      yield* fixtures.deliveries(organizationId, slow, 100)
      const worker = yield* start(({ url }) =>
        url.endsWith("slow") ? Effect.delay(Effect.succeed(Fake.delivered), 3000) : Effect.succeed(Fake.delivered)
      )
      yield* eventually(
        "the slow ones are in flight",
        2000,
        Effect.map(count("status = 'delivering'"), (n) => n === 5)
      )
      yield* fixtures.deliveries(organizationId, quick, 50)
      yield* worker.wake
      yield* eventually(
        "the quick ones succeed",
        900,
        Effect.map(count("status = 'succeeded'"), (n) => n === 50)
      )
      yield* worker.stop
    })
  )

  it.effect("retries at the stored time until an attempt succeeds", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const { endpoints, id } = yield* fixtures.backlog(1)
      const times: Array<number> = []
      const { webhooks } = TestSettings.settings()
      const worker = yield* start(
        () =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            times.push(now)
            return times.length < 4 ? Fake.refused(503) : Fake.delivered
          }),
        { webhooks: { ...webhooks, retrySchedule: [100, 200, 400] } }
      )
      yield* eventually(
        "the last attempt succeeds",
        5000,
        Effect.map(count("status = 'succeeded'"), (n) => n === 1)
      )
      const waits = times.slice(1).map((time, index) => time - times[index]!)
      for (const [index, least] of [80, 160, 320].entries()) {
        assert.isAtLeast(waits[index]!, least)
        // A poll would be up to a second late.
        assert.isBelow(waits[index]!, least * 1.5 + 250)
      }
      assert.strictEqual(yield* count("attempt_count = 4 AND fencing_token = 4 AND last_http_status = 204"), 1)
      assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
      assert.strictEqual(endpoints.length, 1)
      yield* worker.stop
    })
  )

  it.effect("completes the attempts in flight when it stops, and claims nothing more", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const { id } = yield* fixtures.backlog(100)
      const worker = yield* start(() => Effect.delay(Effect.succeed(Fake.delivered), 400))
      yield* eventually(
        "the attempts are in flight",
        300,
        Effect.map(count("status = 'delivering'"), (n) => n === 10)
      )
      yield* worker.stop
      const sent = worker.requests.length
      assert.strictEqual(yield* count("status = 'delivering'"), 0)
      assert.strictEqual(yield* count("status = 'succeeded'"), sent)
      assert.isAtMost(sent, 20)
      assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
      yield* pass(1500)
      assert.strictEqual(worker.requests.length, sent)
    })
  )

  it.effect("retries the deliveries of a lost worker after its leases expire", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const { id } = yield* fixtures.backlog(30)
      const sql = yield* SqlClient.SqlClient
      const lost = yield* Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
      const { deliveries } = yield* lost.claim({ limit: 10, perOrganization: 10, leaseMs: 700 })
      assert.strictEqual(deliveries.length, 10)
      const { webhooks } = TestSettings.settings()
      const worker = yield* start(() => Effect.succeed(Fake.delivered), {
        webhooks: { ...webhooks, retrySchedule: [200] }
      })
      yield* pass(300)
      // The lost worker has all slots of the organization.
      assert.strictEqual(worker.requests.length, 0)
      yield* eventually(
        "all deliveries succeed",
        5000,
        Effect.map(count("status = 'succeeded'"), (n) => n === 30)
      )
      assert.strictEqual(worker.requests.length, 30)
      const [row] = yield* sql<{ readonly n: number }>`
            SELECT count(*)::int AS n FROM deliveries WHERE attempt_count = 1 AND fencing_token = 2 AND interruption_count = 1
          `
      assert.strictEqual(row!.n, 10)
      assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
      yield* worker.stop
    })
  )
})
