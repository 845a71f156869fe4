import { assert, layer } from "@effect/vitest"
import type { DispatchRequest, Outcome } from "@govoice/dispatcher"
import { Effect, Exit, Latch, Layer, Scope } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import * as DeliveryQueue from "../../src/webhooks/DeliveryQueue.ts"
import * as DeliveryWorker from "../../src/webhooks/DeliveryWorker.ts"
import * as DeliveryScheduler from "../../src/webhooks/DeliveryScheduler.ts"
import * as Notifier from "../../src/jobs/Notifier.ts"
import { KeyRing } from "../../src/crypto/KeyRing.ts"
import type { SettingsShape } from "../../src/settings/Settings.ts"
import { liveDatabases } from "../support/TestDatabase.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"

const count = (condition: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly n: number }>`
      SELECT count(*)::int AS n FROM deliveries WHERE ${sql.literal(condition)}
    `
    return row!.n
  })

const outage = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("gone") }) })

const eventually = <E, R>(what: string, withinMs: number, check: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    const deadline = Date.now() + withinMs
    while (!(yield* check)) {
      if (Date.now() > deadline) assert.fail(`Waited in vain: ${what}`)
      yield* Effect.sleep(10)
    }
  })

for (const database of liveDatabases) {
  layer(database.layer, { timeout: "60 seconds", excludeTestServices: true })(
    `DeliveryWorker (${database.name})`,
    (it) => {
      /** Starts a worker on the database of the suite, and says how to stop it. */
      const start = Effect.fnUntraced(function* (
        answer: (request: DispatchRequest) => Effect.Effect<Outcome>,
        changes: Partial<SettingsShape> = {},
        queue: typeof DeliveryQueue.layer = DeliveryQueue.layer
      ) {
        const dispatcher = Fake.make(answer)
        const worker = DeliveryWorker.layer.pipe(
          Layer.provide([queue, DeliveryScheduler.layer, dispatcher.layer]),
          Layer.provideMerge(Notifier.layer),
          Layer.provide([Layer.succeed(KeyRing)(fixtures.keyRing), TestSettings.layer(changes)])
        )
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(Layer.fresh(worker), scope)
        const { wake } = yield* Effect.provide(Notifier.Notifier, context)
        return { requests: dispatcher.requests, wake: wake("deliveries"), stop: Scope.close(scope, Exit.void) }
      })

      it.effect("delivers as soon as it is woken", () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const worker = yield* start(() => Effect.succeed(Fake.delivered))
          yield* Effect.sleep(100)
          yield* fixtures.backlog(1)
          const begun = Date.now()
          yield* worker.wake
          yield* eventually(
            "the delivery",
            800,
            Effect.map(count("status = 'succeeded'"), (n) => n === 1)
          )
          assert.isBelow(Date.now() - begun, 500)
          yield* worker.stop
        })
      )

      it.effect("goes on at once with a backlog that only a sweep found", () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const times: Array<number> = []
          const answer = Effect.sync(() => {
            times.push(Date.now())
            return Fake.delivered
          })
          // More organizations than a claim looks at, and none of them held back by a bound.
          const organizations = 420
          yield* Effect.forEach(Array.from({ length: organizations }), () => fixtures.backlog(1))
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE deliveries SET status = 'retrying', failure_status = 'retrying', is_due = false,
                            next_retry_at = ${new Date(Date.now() + 900)}, due_at = ${new Date(Date.now() + 900)}`
          const worker = yield* start(() => answer)
          yield* eventually(
            "the backlog",
            8000,
            Effect.map(count("due_at IS NOT NULL"), (n) => n === 0)
          )
          assert.strictEqual(times.length, organizations)
          assert.isBelow(times.at(-1)! - times[0]!, 900)
          yield* worker.stop
        })
      )

      it.effect("keeps to its own bound, to that of an organization, and delivers everything", () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const inFlight = new Map<string, number>()
          let most = 0
          let mostOfOne = 0
          const answer = ({ url }: DispatchRequest) =>
            Effect.gen(function* () {
              const now = (inFlight.get(url) ?? 0) + 1
              inFlight.set(url, now)
              mostOfOne = Math.max(mostOfOne, now)
              most = Math.max(
                most,
                [...inFlight.values()].reduce((sum, n) => sum + n, 0)
              )
              yield* Effect.sleep(5)
              inFlight.set(url, inFlight.get(url)! - 1)
              return Fake.delivered
            })
          for (let n = 0; n < 8; n++) {
            const id = yield* fixtures.organization
            const endpoint = yield* fixtures.endpoint(id, { url: `https://example.com/${n}` })
            yield* fixtures.deliveries(id, endpoint, 20)
          }
          const changes = { tenantConcurrency: 3, workerConcurrency: 12 }
          const workers = yield* Effect.all([start(answer, changes), start(answer, changes)])
          yield* eventually(
            "the deliveries",
            20_000,
            Effect.map(count("status = 'succeeded'"), (n) => n === 160)
          )
          assert.strictEqual(mostOfOne, 3)
          assert.isAtMost(most, 24)
          assert.isAbove(most, 12)
          yield* Effect.forEach(workers, ({ stop }) => stop)
        })
      )

      it.effect(
        "goes on while what has ended cannot be written down, until as much waits for that as it has places",
        () =>
          Effect.gen(function* () {
            yield* fixtures.clear
            let away = true
            const failing = Layer.effect(
              DeliveryQueue.DeliveryQueue,
              Effect.map(DeliveryQueue.DeliveryQueue, ({ claim, complete }) => ({
                claim: (options) =>
                  Effect.suspend(() =>
                    away && (options.completions ?? []).length > 0 ? Effect.fail(outage) : claim(options)
                  ),
                complete: (completions) => Effect.suspend(() => (away ? Effect.fail(outage) : complete(completions)))
              }))
            ).pipe(Layer.provide(DeliveryQueue.layer))
            for (let n = 0; n < 4; n++) yield* fixtures.backlog(5)
            const worker = yield* start(() => Effect.succeed(Fake.delivered), { workerConcurrency: 3 }, failing)
            yield* eventually(
              "as many as may wait",
              3000,
              Effect.sync(() => worker.requests.length === 6)
            )
            yield* Effect.sleep(300)
            assert.strictEqual(worker.requests.length, 6)
            away = false
            yield* eventually(
              "the backlog",
              5000,
              Effect.map(count("status = 'succeeded'"), (n) => n === 20)
            )
            assert.strictEqual(worker.requests.length, 20)
            yield* worker.stop
          })
      )

      it.effect("writes down at once what ends together, also what is too much for one statement", () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const together = yield* Latch.make(false)
          const changes = { tenantConcurrency: 1000, workerConcurrency: 1000 }
          const worker = yield* start(() => Effect.as(together.await, Fake.delivered), changes)
          // What waits for a sweep, by mistake, has to wait for most of a second at least once in four times.
          for (let time = 1; time <= 4; time++) {
            for (let n = 0; n < 6; n++) yield* fixtures.backlog(100)
            yield* worker.wake
            yield* eventually(
              "the attempts",
              5000,
              Effect.sync(() => worker.requests.length === time * 600)
            )
            // The worker is at rest.
            yield* Effect.sleep(150)
            const begun = Date.now()
            yield* together.open
            yield* eventually(
              "all written down",
              5000,
              Effect.map(count("status = 'succeeded'"), (n) => n === time * 600)
            )
            assert.isBelow(Date.now() - begun, 450)
            yield* together.close
          }
          yield* worker.stop
        })
      )

      it.effect("delivers what became ready out of turn within a second or so, however much is waiting", () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const { endpoints, id } = yield* fixtures.backlog(4000)
          const worker = yield* start(() => Effect.delay(Effect.succeed(Fake.delivered), 10))
          yield* eventually(
            "the first",
            3000,
            Effect.sync(() => worker.requests.length > 50)
          )
          const [early] = yield* fixtures.deliveries(id, endpoints[0]!, 1, { dueAt: 1000 })
          yield* eventually(
            "the one out of turn",
            1800,
            Effect.map(count(`status = 'succeeded' AND id = '${early!}'`), Boolean)
          )
          assert.isAbove(yield* count("is_due"), 500)
          yield* worker.stop
        })
      )

      it.effect("has its place back when an attempt is interrupted", () =>
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
            "the other",
            3000,
            Effect.map(count("status = 'succeeded'"), (n) => n === 1)
          )
          const begun = Date.now()
          yield* worker.stop
          assert.isBelow(Date.now() - begun, 1000)
        })
      )

      it.effect("does not let one endpoint that hangs hold up the others of its organization", () =>
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
            "the slow ones",
            2000,
            Effect.map(count("status = 'delivering'"), (n) => n === 5)
          )
          yield* fixtures.deliveries(organizationId, quick, 50)
          const begun = Date.now()
          yield* worker.wake
          yield* eventually(
            "the quick ones",
            2500,
            Effect.map(count("status = 'succeeded'"), (n) => n === 50)
          )
          assert.isBelow(Date.now() - begun, 2000)
          yield* worker.stop
        })
      )

      it.effect("tries again at the time it wrote down, until an attempt succeeds", () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const { endpoints, id } = yield* fixtures.backlog(1)
          const times: Array<number> = []
          const { webhooks } = TestSettings.settings()
          const worker = yield* start(
            () =>
              Effect.sync(() => {
                times.push(Date.now())
                return times.length < 4 ? Fake.refused(503) : Fake.delivered
              }),
            { webhooks: { ...webhooks, waits: [100, 200, 400] } }
          )
          yield* eventually(
            "the last attempt",
            5000,
            Effect.map(count("status = 'succeeded'"), (n) => n === 1)
          )
          const waits = times.slice(1).map((time, index) => time - times[index]!)
          for (const [index, least] of [80, 160, 320].entries()) {
            assert.isAtLeast(waits[index]!, least)
            // A sweep would be a second late: these were due to the millisecond.
            assert.isBelow(waits[index]!, least * 1.5 + 250)
          }
          assert.strictEqual(yield* count("attempt_count = 4 AND fencing_token = 4 AND last_http_status = 204"), 1)
          assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
          assert.strictEqual(endpoints.length, 1)
          yield* worker.stop
        })
      )

      it.effect("lets what is in flight end when it is stopped, completes it, and claims nothing more", () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const { id } = yield* fixtures.backlog(100)
          const worker = yield* start(() => Effect.delay(Effect.succeed(Fake.delivered), 400))
          yield* eventually(
            "the attempts",
            2000,
            Effect.map(count("status = 'delivering'"), (n) => n === 10)
          )
          yield* worker.stop
          const sent = worker.requests.length
          assert.strictEqual(yield* count("status = 'delivering'"), 0)
          assert.strictEqual(yield* count("status = 'succeeded'"), sent)
          assert.isAtMost(sent, 20)
          assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
          yield* Effect.sleep(100)
          assert.strictEqual(worker.requests.length, sent)
        })
      )

      it.effect("takes over from a worker that was lost when its lease runs out", () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const { id } = yield* fixtures.backlog(30)
          const sql = yield* SqlClient.SqlClient
          const lost = yield* Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
          const { deliveries } = yield* lost.claim({ limit: 10, perOrganization: 10, leaseMs: 700 })
          assert.strictEqual(deliveries.length, 10)
          const { webhooks } = TestSettings.settings()
          const worker = yield* start(() => Effect.succeed(Fake.delivered), { webhooks: { ...webhooks, waits: [200] } })
          yield* Effect.sleep(300)
          // The bound of the organization is used up by the one that was lost.
          assert.strictEqual(worker.requests.length, 0)
          yield* eventually(
            "all of it",
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
    }
  )
}
