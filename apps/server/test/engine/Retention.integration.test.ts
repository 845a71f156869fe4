import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Retention from "../../src/engine/Retention.ts"
import { databases } from "../support/TestDatabase.ts"
import * as Plant from "./support/Plant.ts"
import * as TestSettings from "./support/TestSettings.ts"

const day = 86_400_000

const count = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM ${sql(table)}`
    return row!.n
  })

const prune = Effect.flatMap(Retention.Retention, (retention) => retention.prune)

for (const database of databases) {
  const settings = TestSettings.layer({ eventRetentionDays: 3, idempotencyRetentionDays: 2 })
  const retention = Retention.layer.pipe(Layer.provideMerge(database.layer), Layer.provide(settings))
  const begin = Effect.andThen(Plant.clear, TestClock.setTime(0))

  layer(retention, { timeout: "60 seconds" })(`Retention (${database.name})`, (it) => {
    it.effect("removes finished events with their deliveries, once they are old enough and not before", () =>
      Effect.gen(function* () {
        yield* begin
        const sql = yield* SqlClient.SqlClient
        yield* Plant.backlog(20, 5)
        yield* sql`
          UPDATE deliveries SET status = 'failed', trouble = 'failed', due_at = NULL, ready = false, last_error_summary = 'x'
        `
        yield* TestClock.setTime(3 * day)
        assert.deepStrictEqual(yield* prune, { events: 0, idempotencyRecords: 0 })
        yield* TestClock.setTime(3 * day + 1)
        assert.deepStrictEqual(yield* prune, { events: 25, idempotencyRecords: 0 })
        assert.deepStrictEqual([yield* count("deliveries"), yield* count("events")], [0, 0])
        assert.strictEqual(yield* count("invoices"), 2)
      })
    )

    it.effect("never removes work that is not finished, nor an event that a delivery still needs", () =>
      Effect.gen(function* () {
        yield* begin
        const sql = yield* SqlClient.SqlClient
        const { endpoints } = yield* Plant.backlog(4)
        const rows = yield* sql<{ readonly id: string }>`SELECT id FROM deliveries ORDER BY due_at`
        const [pending, retrying, delivering, late] = rows.map(({ id }) => id)
        yield* sql`
          UPDATE deliveries SET status = 'retrying', trouble = 'retrying', ready = false, next_retry_at = due_at
          WHERE id = ${retrying!}
        `
        yield* sql`UPDATE deliveries SET status = 'delivering', leased_until = due_at WHERE id = ${delivering!}`
        // Finished only yesterday, although it is of an old event.
        yield* sql`
          UPDATE deliveries SET status = 'succeeded', due_at = NULL, ready = false, delivered_at = ${new Date(9 * day)},
                 updated_at = ${new Date(9 * day)}
          WHERE id = ${late!}
        `
        // An event that nobody hears of has nothing that keeps it.
        yield* sql`
          INSERT INTO events (id, organization_id, invoice_id, created_at, type, body)
          SELECT 'evt_00000000000000000000000000', organization_id, invoice_id, created_at, type, '{}'
          FROM events LIMIT 1
        `
        yield* TestClock.setTime(10 * day)
        assert.deepStrictEqual(yield* prune, { events: 1, idempotencyRecords: 0 })
        const left = yield* sql<{ readonly id: string }>`SELECT id FROM deliveries`
        assert.sameMembers(
          left.map(({ id }) => id),
          [pending, retrying, delivering, late]
        )
        assert.strictEqual(yield* count("events"), 4)
        yield* TestClock.setTime(12 * day + 1)
        assert.deepStrictEqual(yield* prune, { events: 1, idempotencyRecords: 0 })
        assert.strictEqual(endpoints.length, 1)
      })
    )

    it.effect("forgets idempotency keys of finished invoices, and remembers those of the others", () =>
      Effect.gen(function* () {
        yield* begin
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* Plant.organization
        const done = yield* Plant.invoice(organizationId)
        const open = yield* Plant.invoice(organizationId)
        yield* sql`UPDATE invoices SET due_at = created_at WHERE id = ${open}`
        for (const [key, invoiceId] of [
          ["done", done],
          ["open", open]
        ] as const) {
          yield* sql`
            INSERT INTO idempotency_records
              (organization_id, mode, key, created_at, status, request_hash, invoice_id, body)
            VALUES (${organizationId}, 'test', ${key}, ${new Date(0)}, 201, ${new Uint8Array(32)}, ${invoiceId}, '{}')
          `
        }
        yield* TestClock.setTime(2 * day)
        assert.strictEqual((yield* prune).idempotencyRecords, 0)
        yield* TestClock.setTime(2 * day + 1)
        assert.strictEqual((yield* prune).idempotencyRecords, 1)
        const left = yield* sql<{ readonly key: string }>`SELECT key FROM idempotency_records`
        assert.deepStrictEqual(left, [{ key: "open" }])
      })
    )

    it.effect("goes through any number in batches, past those that stay", () =>
      Effect.gen(function* () {
        yield* begin
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* Plant.backlog(1500, 1500)
        yield* sql`
          UPDATE deliveries SET status = 'failed', trouble = 'failed', due_at = NULL, ready = false, last_error_summary = 'x'
          WHERE id IN (SELECT id FROM deliveries ORDER BY event_id OFFSET 1200)
        `
        const invoiceId = yield* Plant.invoice(id)
        const open = yield* Plant.invoice(id)
        yield* sql`UPDATE invoices SET due_at = created_at WHERE id = ${open}`
        yield* sql`
          INSERT INTO idempotency_records (organization_id, mode, key, created_at, status, request_hash, invoice_id, body)
          SELECT ${id}, 'test', n::text, to_timestamp(0) + (n / 100) * interval '1 millisecond', 201,
                 decode(repeat('00', 32), 'hex'), CASE WHEN n > 1300 THEN ${invoiceId} ELSE ${open} END, '{}'
          FROM generate_series(1, 3000) AS n
        `
        yield* TestClock.setTime(10 * day)
        const pruning = yield* Effect.forkChild(prune)
        while (pruning.pollUnsafe() === undefined) {
          yield* TestClock.adjust(100)
          yield* TestClock.withLive(Effect.sleep(5))
        }
        const removed = yield* Fiber.join(pruning)
        assert.deepStrictEqual(removed, { events: 1800, idempotencyRecords: 1700 })
        assert.strictEqual(yield* count("deliveries"), 1200)
      })
    )
  })
}
