/** `updated_at` of records that processes with different clocks write. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import * as Organizations from "../../src/accounts/Organizations.ts"
import { KeyRing } from "../../src/crypto/KeyRing.ts"
import * as InvoiceWorker from "../../src/invoices/sandbox/InvoiceWorker.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as WebhookEndpoints from "../../src/deliveries/WebhookEndpoints.ts"
import { database } from "../support/TestDatabase.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"

const createdAt = 10_000
const leaseMs = 30_000

/** Runs an effect in a process whose clock shows this time. */
const at =
  (milliseconds: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Clock.Clock, (clock) =>
      Effect.provideService(
        effect,
        Clock.Clock,
        Object.assign(Object.create(clock) as Clock.Clock, {
          currentTimeMillisUnsafe: () => milliseconds,
          currentTimeMillis: Effect.succeed(milliseconds)
        })
      )
    )

const countBefore = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly n: number; readonly all: number }>`
      SELECT count(*)::int AS all, (count(*) FILTER (WHERE updated_at < created_at))::int AS n FROM ${sql(table)}
    `
    return row!
  })

const keyRing = Layer.succeed(KeyRing)(fixtures.keyRing)
const endpoints = WebhookEndpoints.layer.pipe(
  Layer.provide(Organizations.layer),
  Layer.provide([keyRing, TestSettings.layer()])
)
const begin = Effect.andThen(fixtures.clear, TestClock.setTime(createdAt))

layer(database.layer, { timeout: "120 seconds" })(`updated_at (${database.name})`, (it) => {
  it.effect("of a delivery is never before created_at, also if workers with slow clocks compete for it", () =>
    Effect.gen(function* () {
      yield* begin
      const organizationId = yield* fixtures.organization
      const endpointId = yield* fixtures.endpoint(organizationId)
      yield* fixtures.deliveries(organizationId, endpointId, 120, { dueAt: 0 })

      const work = (now: number) =>
        Effect.gen(function* () {
          const queue = yield* DeliveryQueue.DeliveryQueue
          const time = new Date(now).toISOString()
          for (let round = 0; round < 60; round++) {
            const { deliveries } = yield* queue.claim({ limit: 10, perOrganization: 40, leaseMs })
            const completions = deliveries.map((delivery) =>
              fixtures.completion(delivery, { last_attempted_at: time, updated_at: time })
            )
            yield* queue.complete(completions)
          }
        }).pipe(at(now), Effect.provide(Layer.fresh(DeliveryQueue.layer)))

      yield* Effect.all([1000, 9000, createdAt, 12_000].map(work), { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* countBefore("deliveries"), { all: 120, n: 0 })
      const sql = yield* SqlClient.SqlClient
      const rest = yield* sql`SELECT id FROM deliveries WHERE status <> 'succeeded'`
      assert.strictEqual(rest.length, 0)
    })
  )

  it.effect("of an invoice is never before created_at, nor is that of its event", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      const organizationId = yield* fixtures.organization
      const id = yield* fixtures.invoice(organizationId)
      yield* sql`
          UPDATE invoices SET status = 'queued', due_at = ${new Date(0)}, completed_at = NULL, official_number = NULL
          WHERE id = ${id}
        `
      const { advanceDue } = yield* Effect.provide(InvoiceWorker.make, TestSettings.layer())
      const { written } = yield* advanceDue.pipe(at(2000))
      assert.strictEqual(written.length, 1)
      assert.deepStrictEqual(yield* countBefore("invoices"), { all: 1, n: 0 })
      const events = yield* sql<{ readonly created_at: string }>`
          SELECT body::json ->> 'created_at' AS created_at FROM events
        `
      assert.deepStrictEqual(events, [{ created_at: new Date(createdAt).toISOString() }])
    })
  )

  it.effect("of a webhook endpoint is never before created_at, also if another process changes it", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      const organizationId = yield* fixtures.organization
      const [account] = yield* sql<{ readonly id: Ids.AccountId }>`SELECT id FROM accounts`
      const endpoint = yield* fixtures.endpoint(organizationId)
      const changed = yield* Effect.gen(function* () {
        const { rotateSecret, update } = yield* WebhookEndpoints.WebhookEndpoints
        const updated = yield* update(account!.id, endpoint, { description: "changed" })
        const rotated = yield* rotateSecret(account!.id, endpoint, 0)
        return [updated, rotated].map(({ created_at, updated_at }) => [created_at, updated_at])
      }).pipe(at(2000), Effect.provide(endpoints))
      assert.deepStrictEqual(changed, Array(2).fill(Array(2).fill(new Date(createdAt).toISOString())))

      const { remove, rotateSecret } = yield* Effect.provide(WebhookEndpoints.WebhookEndpoints, endpoints)
      const ahead = yield* at(Date.now() + 3_600_000)(rotateSecret(account!.id, endpoint, 0))
      assert.isNull(ahead.next_secret_at, "a secret that is replaced at once waits for no clock")
      yield* at(2000)(remove(account!.id, endpoint))
      assert.deepStrictEqual(yield* countBefore("webhook_endpoints"), { all: 1, n: 0 })
    })
  )
})
