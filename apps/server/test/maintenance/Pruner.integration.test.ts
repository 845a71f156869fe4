import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Pruner from "../../src/maintenance/Pruner.ts"
import { databases } from "../support/TestDatabase.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"

const day = 86_400_000

const count = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM ${sql(table)}`
    return row!.n
  })

const prune = Effect.flatMap(Pruner.Pruner, (retention) => retention.prune)

for (const database of databases) {
  const settings = TestSettings.layer({ eventRetentionDays: 3, idempotencyRetentionDays: 2 })
  const retention = Pruner.layer.pipe(Layer.provideMerge(database.layer), Layer.provide(settings))
  const begin = Effect.andThen(fixtures.clear, TestClock.setTime(0))

  layer(retention, { timeout: "60 seconds" })(`Pruner (${database.name})`, (it) => {
    it.effect("deletes events with their deliveries only after the retention time", () =>
      Effect.gen(function* () {
        yield* begin
        const sql = yield* SqlClient.SqlClient
        yield* fixtures.backlog(20, 5)
        yield* sql`
          UPDATE deliveries SET status = 'failed', failure_status = 'failed', due_at = NULL, is_due = false, last_error_summary = 'x'
        `
        yield* TestClock.setTime(3 * day)
        assert.deepInclude(yield* prune, { events: 0, idempotencyRecords: 0 })
        yield* TestClock.setTime(3 * day + 1)
        assert.deepInclude(yield* prune, { events: 25, idempotencyRecords: 0 })
        assert.deepStrictEqual([yield* count("deliveries"), yield* count("events")], [0, 0])
        assert.strictEqual(yield* count("invoices"), 2)
      })
    )

    it.effect("keeps deliveries that are not complete, and the events that deliveries need", () =>
      Effect.gen(function* () {
        yield* begin
        const sql = yield* SqlClient.SqlClient
        const { endpoints } = yield* fixtures.backlog(4)
        const rows = yield* sql<{ readonly id: string }>`SELECT id FROM deliveries ORDER BY due_at`
        const [pending, retrying, delivering, late] = rows.map(({ id }) => id)
        yield* sql`
          UPDATE deliveries SET status = 'retrying', failure_status = 'retrying', is_due = false, next_retry_at = due_at
          WHERE id = ${retrying!}
        `
        yield* sql`UPDATE deliveries SET status = 'delivering', lease_expires_at = due_at WHERE id = ${delivering!}`
        // A delivery of an old event that was completed yesterday.
        yield* sql`
          UPDATE deliveries SET status = 'succeeded', due_at = NULL, is_due = false, delivered_at = ${new Date(9 * day)},
                 updated_at = ${new Date(9 * day)}
          WHERE id = ${late!}
        `
        // An event without deliveries is not kept.
        yield* sql`
          INSERT INTO events (id, organization_id, invoice_id, created_at, type, body)
          SELECT 'evt_00000000000000000000000000', organization_id, invoice_id, created_at, type, '{}'
          FROM events LIMIT 1
        `
        yield* TestClock.setTime(10 * day)
        assert.deepInclude(yield* prune, { events: 1, idempotencyRecords: 0 })
        const left = yield* sql<{ readonly id: string }>`SELECT id FROM deliveries`
        assert.sameMembers(
          left.map(({ id }) => id),
          [pending, retrying, delivering, late]
        )
        assert.strictEqual(yield* count("events"), 4)
        yield* TestClock.setTime(12 * day + 1)
        assert.deepInclude(yield* prune, { events: 1, idempotencyRecords: 0 })
        assert.strictEqual(endpoints.length, 1)
      })
    )

    it.effect("deletes idempotency records of final invoices, and keeps those of others", () =>
      Effect.gen(function* () {
        yield* begin
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* fixtures.organization
        const done = yield* fixtures.invoice(organizationId)
        const open = yield* fixtures.invoice(organizationId)
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

    it.effect("deletes refresh tokens a day after they expired, and sessions without any", () =>
      Effect.gen(function* () {
        yield* begin
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          INSERT INTO accounts (id, created_at, email, password_hash)
          VALUES ('acct_prune', to_timestamp(0), 'prune@example.com', 'x')
        `
        const insert = Effect.fnUntraced(function* (session: string, ...expiresAt: ReadonlyArray<number>) {
          yield* sql`
            INSERT INTO sessions (id, account_id, created_at, network)
            VALUES (${session}, 'acct_prune', to_timestamp(0), '192.0.2.1')
          `
          for (const [index, at] of expiresAt.entries()) {
            const hash = new Uint8Array(32).fill(index)
            hash.set(new TextEncoder().encode(session))
            yield* sql`
              INSERT INTO refresh_tokens (hash, session_id, created_at, expires_at)
              VALUES (${hash}, ${session}, to_timestamp(0), ${new Date(at)})
            `
          }
        })
        yield* insert("expired", 4 * day, 5 * day)
        yield* insert("refreshed", 4 * day, 8 * day)
        yield* insert("active", 9 * day)

        yield* TestClock.setTime(5 * day)
        assert.deepInclude(yield* prune, { refreshTokens: 0, sessions: 0 })
        yield* TestClock.setTime(5 * day + 1)
        assert.deepInclude(yield* prune, { refreshTokens: 2, sessions: 0 })
        yield* TestClock.setTime(6 * day + 1)
        assert.deepInclude(yield* prune, { refreshTokens: 1, sessions: 1 })
        const left = yield* sql<{ readonly id: string }>`SELECT id FROM sessions ORDER BY id`
        assert.deepStrictEqual(
          left.map(({ id }) => id),
          ["active", "refreshed"]
        )
        assert.strictEqual(yield* count("refresh_tokens"), 2)
        yield* TestClock.setTime(20 * day)
        assert.deepInclude(yield* prune, { refreshTokens: 2, sessions: 2 })
      })
    )

    it.effect("continues after batches of records that are kept", () =>
      Effect.gen(function* () {
        yield* begin
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* fixtures.backlog(1500, 1500)
        yield* sql`
          UPDATE deliveries SET status = 'failed', failure_status = 'failed', due_at = NULL, is_due = false, last_error_summary = 'x'
          WHERE id IN (SELECT id FROM deliveries ORDER BY event_id OFFSET 1200)
        `
        const invoiceId = yield* fixtures.invoice(id)
        const open = yield* fixtures.invoice(id)
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
        assert.deepInclude(removed, { events: 1800, idempotencyRecords: 1700 })
        assert.strictEqual(yield* count("deliveries"), 1200)
      })
    )
  })
}
