import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Partitions from "../../src/database/Partitions.ts"
import * as Pruner from "../../src/maintenance/Pruner.ts"
import { database } from "../support/TestDatabase.ts"
import { type Explained, explain } from "../support/Explained.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"

const day = 86_400_000
const week = 7 * day

// A Monday.
const start = Date.UTC(1970, 0, 5)

// Those of the weeks from the current one on, and no others.
const makePartitions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const drop = Effect.fnUntraced(function* (pattern: string) {
    const existing = yield* sql<{ readonly name: string }>`
      SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent IN ('events'::regclass, 'deliveries'::regclass) AND relname LIKE ${pattern}
    `
    for (const { name } of existing) yield* sql`DROP TABLE ${sql(name)}`
  })
  yield* drop("%")
  yield* Partitions.make(Partitions.weeksAhead)
  yield* drop("%before%")
})

const finish = Effect.fnUntraced(function* (condition: Statement.Fragment) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE deliveries SET status = 'failed', failure_status = 'failed', due_at = NULL, is_due = false, lease_expires_at = NULL,
           next_retry_at = NULL, last_error_summary = 'x'
    WHERE ${condition}
  `
})

const count = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM ${sql(table)}`
    return row!.n
  })

const prune = Effect.flatMap(Pruner.Pruner, (retention) => retention.prune)

const settings = TestSettings.layer({ eventRetentionDays: 3 })
const retention = Pruner.layer.pipe(Layer.provideMerge(database.layer), Layer.provide(settings))
const begin = Effect.all([fixtures.clear, TestClock.setTime(start), makePartitions])

layer(retention, { timeout: "120 seconds" })(`Pruner (${database.name})`, (it) => {
  it.effect("drops a week of events with their deliveries when all of it is older than the retention time", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.backlog(20, 5)
      yield* TestClock.setTime(start + week)
      yield* fixtures.backlog(3)
      yield* finish(sql`true`)
      yield* TestClock.setTime(start + week + 3 * day - 1)
      assert.deepInclude(yield* prune, { weeks: 0, idempotencyRecords: 0 })
      assert.deepStrictEqual([yield* count("deliveries"), yield* count("events")], [28, 28])
      yield* TestClock.setTime(start + week + 3 * day)
      yield* sql`
        INSERT INTO cell_moves (bucket, lead, started_at, step, target, contexts, held)
        VALUES ('01', '01', now(), 'copying', 'b', '{}', '{}')
      `
      assert.deepInclude(yield* prune, { weeks: 0 }, "an organization is being copied to another cell")
      yield* sql`UPDATE cell_moves SET step = 'moved'`
      assert.deepInclude(yield* prune, { weeks: 1, idempotencyRecords: 0 })
      yield* sql`DELETE FROM cell_moves`
      assert.deepStrictEqual([yield* count("deliveries"), yield* count("events")], [3, 3])
      assert.strictEqual(yield* count("invoices"), 3)
    })
  )

  it.effect("keeps what is not finished of an old week, and drops the week when it is", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      const { endpoints } = yield* fixtures.backlog(20)
      const before = yield* sql<{ readonly id: string }>`SELECT * FROM deliveries ORDER BY due_at`
      const [pending, retrying, delivering] = before.map(({ id }) => id)
      yield* finish(sql`id NOT IN (${pending!}, ${retrying!}, ${delivering!})`)
      yield* sql`
          UPDATE deliveries SET status = 'retrying', failure_status = 'retrying', is_due = false, next_retry_at = due_at
          WHERE id = ${retrying!}
        `
      yield* sql`UPDATE deliveries SET status = 'delivering', lease_expires_at = due_at WHERE id = ${delivering!}`
      const read = sql`
          SELECT deliveries.*, events.body FROM deliveries JOIN events ON events.id = event_id
          WHERE due_at IS NOT NULL ORDER BY deliveries.id
        `
      const unfinished = yield* read
      assert.lengthOf(unfinished, 3)

      yield* TestClock.setTime(start + 10 * day)
      assert.deepInclude(yield* prune, { weeks: 0 })
      assert.deepStrictEqual([yield* count("deliveries"), yield* count("events")], [3, 3])
      assert.deepStrictEqual(yield* read, unfinished)
      assert.deepInclude(yield* prune, { weeks: 0 })
      assert.deepStrictEqual(yield* read, unfinished)

      yield* finish(sql`true`)
      assert.deepInclude(yield* prune, { weeks: 1 })
      assert.deepStrictEqual([yield* count("deliveries"), yield* count("events")], [0, 0])
      assert.strictEqual(endpoints.length, 1)
    })
  )

  it.effect("makes the partitions of the next weeks, and events on both sides of a border are stored", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      const weeks = Effect.map(
        sql<{ readonly name: string }>`
            SELECT inhrelid::regclass::text AS name FROM pg_inherits
            WHERE inhparent IN ('events'::regclass, 'deliveries'::regclass) ORDER BY 1
          `,
        (rows) => rows.map(({ name }) => name)
      )
      const expected = (table: string, from: number, to: number) =>
        Array.from({ length: to - from + 1 }, (_, n) => {
          const date = new Date(start + (from + n) * week).toISOString().slice(0, 10).replaceAll("-", "")
          return `${table}_${date}`
        })
      const { weeksAhead: ahead } = Partitions
      assert.deepStrictEqual(yield* weeks, [...expected("deliveries", 0, ahead), ...expected("events", 0, ahead)])
      yield* TestClock.setTime(start + 3 * week)
      yield* prune
      assert.deepStrictEqual(yield* weeks, [
        ...expected("deliveries", 2, 3 + ahead),
        ...expected("events", 2, 3 + ahead)
      ])
      for (const at of [start + 4 * week - 1, start + 4 * week]) {
        yield* TestClock.setTime(at)
        yield* fixtures.backlog(2)
      }
      const [row] = yield* sql<{ readonly n: number }>`
          SELECT count(DISTINCT tableoid)::int AS n FROM deliveries
        `
      assert.strictEqual(row!.n, 2)
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
            INSERT INTO idempotency_records (organization_id, mode, key, created_at, request_hash, invoice_id, body)
            VALUES (${organizationId}, 'test', ${key}, ${new Date(start)}, ${new Uint8Array(32)}, ${invoiceId}, '{}')
          `
      }
      yield* TestClock.setTime(start + Pruner.idempotencyRetentionMs)
      assert.strictEqual((yield* prune).idempotencyRecords, 0)
      yield* TestClock.setTime(start + Pruner.idempotencyRetentionMs + 1)
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
              INSERT INTO refresh_tokens (hash, session_id, expires_at)
              VALUES (${hash}, ${session}, ${new Date(start + at)})
            `
        }
      })
      yield* insert("expired", 4 * day, 5 * day)
      yield* insert("refreshed", 4 * day, 8 * day)
      yield* insert("active", 9 * day)

      yield* TestClock.setTime(start + 5 * day)
      assert.deepInclude(yield* prune, { refreshTokens: 0, sessions: 0 })
      yield* TestClock.setTime(start + 5 * day + 1)
      assert.deepInclude(yield* prune, { refreshTokens: 2, sessions: 0 })
      yield* TestClock.setTime(start + 6 * day + 1)
      assert.deepInclude(yield* prune, { refreshTokens: 1, sessions: 1 })
      const left = yield* sql<{ readonly id: string }>`SELECT id FROM sessions ORDER BY id`
      assert.deepStrictEqual(
        left.map(({ id }) => id),
        ["active", "refreshed"]
      )
      assert.strictEqual(yield* count("refresh_tokens"), 2)
      yield* TestClock.setTime(start + 20 * day)
      assert.deepInclude(yield* prune, { refreshTokens: 2, sessions: 2 })
    })
  )

  it.effect("deletes API keys 7 days after they were revoked or expired", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      const organizationId = yield* fixtures.organization
      const insert = Effect.fnUntraced(function* (id: string, revokedAt: number | null, expiresAt: number | null) {
        const toDate = (at: number | null) => (at === null ? null : new Date(start + at))
        yield* sql`
            INSERT INTO api_keys (id, organization_id, created_at, revoked_at, expires_at, mode, last4, hash)
            VALUES (${id}, ${organizationId}, to_timestamp(0), ${toDate(revokedAt)}::timestamptz,
                    ${toDate(expiresAt)}::timestamptz, 'test', 'abcd', sha256(${id}::bytea))
          `
      })
      yield* insert("key_active", null, null)
      yield* insert("key_expired", null, 2 * day)
      yield* insert("key_expires", null, 90 * day)
      yield* insert("key_revoked", day, null)
      yield* insert("key_revoked_before_expiry", 2 * day, 90 * day)
      yield* insert("key_revoked_late", 3 * day, 2 * day)

      yield* TestClock.setTime(start + 8 * day)
      assert.deepInclude(yield* prune, { apiKeys: 0 })
      yield* TestClock.setTime(start + 8 * day + 1)
      assert.deepInclude(yield* prune, { apiKeys: 1 })
      yield* TestClock.setTime(start + 9 * day + 1)
      assert.deepInclude(yield* prune, { apiKeys: 3 })
      yield* TestClock.setTime(start + 80 * day)
      assert.deepInclude(yield* prune, { apiKeys: 0 })
      const left = yield* sql<{ readonly id: string }>`SELECT id FROM api_keys ORDER BY id`
      assert.deepStrictEqual(
        left.map(({ id }) => id),
        ["key_active", "key_expires"]
      )
    })
  )

  it.effect("deletes endpoints 7 days after they were deleted, when the last of their deliveries is pruned", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      const { endpoints } = yield* fixtures.backlog(1, 0, 1, 0)
      const [used, unused, usedAndActive, active] = endpoints
      yield* sql`UPDATE webhook_endpoints SET deleted_at = ${new Date(start + day)} WHERE id IN (${used!}, ${unused!})`
      const idsLeft = Effect.map(sql<{ readonly id: string }>`SELECT id FROM webhook_endpoints`, (rows) =>
        rows.map(({ id }) => id)
      )

      yield* TestClock.setTime(start + 8 * day)
      assert.deepInclude(yield* prune, { endpoints: 0 })
      yield* TestClock.setTime(start + 8 * day + 1)
      assert.deepInclude(yield* prune, { endpoints: 1 })
      assert.sameMembers(yield* idsLeft, [used!, usedAndActive!, active!])

      // Events and their deliveries are dropped 3 days after the week, and the endpoint in the same run.
      yield* finish(sql`true`)
      yield* TestClock.setTime(start + 10 * day - 1)
      assert.deepInclude(yield* prune, { weeks: 0, endpoints: 0 })
      yield* TestClock.setTime(start + 10 * day)
      assert.deepInclude(yield* prune, { weeks: 1, endpoints: 1 })
      assert.sameMembers(yield* idsLeft, [usedAndActive!, active!])
    })
  )

  it.effect("finds ended keys and deleted endpoints by index, and continues after endpoints that are kept", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      const { endpoints, id } = yield* fixtures.backlog(1)
      yield* sql`
          INSERT INTO api_keys (id, organization_id, created_at, revoked_at, mode, last4, hash)
          SELECT 'key_' || n, ${id}, to_timestamp(0), CASE WHEN n % 10 = 0 THEN to_timestamp(n) END, 'test', 'abcd',
                 sha256(n::text::bytea)
          FROM generate_series(1, 30000) AS n
        `
      // One in ten is deleted, and the first 1,200 of these have a delivery. All were deleted in the same millisecond.
      yield* sql`
          INSERT INTO webhook_endpoints
            (id, organization_id, created_at, updated_at, deleted_at, enabled, pace, url, event_types, secret)
          SELECT 'we_' || lpad(n::text, 26, '0'), ${id}, to_timestamp(0), to_timestamp(0),
                 CASE WHEN n % 10 = 0 THEN to_timestamp(0.001) END, true, 'steady', 'https://example.com', '{*}', '\\x010000'
          FROM generate_series(1, 30000) AS n
        `
      yield* sql`
          INSERT INTO deliveries
            (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, is_due, status)
          SELECT left(id, 13) || lpad(n::text, 16, '0'), organization_id, 'we_' || lpad((10 * n)::text, 26, '0'), event_id,
                 event_type, created_at, updated_at, due_at, is_due, status
          FROM deliveries, generate_series(1, 1200) AS n
          WHERE endpoint_id = ${endpoints[0]!}
        `
      yield* sql`ANALYZE api_keys`
      yield* sql`ANALYZE webhook_endpoints`
      yield* sql`ANALYZE deliveries`
      yield* TestClock.setTime(start + 10 * day)
      const pruning = yield* Effect.forkChild(explain(prune))
      while (pruning.pollUnsafe() === undefined) {
        yield* TestClock.adjust(100)
        yield* TestClock.withLive(Effect.sleep(5))
      }
      const { explained, result } = yield* Fiber.join(pruning)
      assert.deepInclude(result, { apiKeys: 3000, endpoints: 1800 })
      assert.strictEqual(yield* count("api_keys"), 27_000)
      assert.strictEqual(yield* count("webhook_endpoints"), 28_201)

      // A statement looks at no more rows than a batch, and finds each by an index.
      const isOfKeys = ({ text }: Explained) => text.includes("DELETE FROM api_keys")
      const isOfEndpoints = ({ text }: Explained) => text.includes("DELETE FROM webhook_endpoints")
      const ofKeys = explained.filter(isOfKeys)
      const ofEndpoints = explained.filter(isOfEndpoints)
      assert.deepStrictEqual([ofKeys.length, ofEndpoints.length], [4, 4])
      for (const { indexes, text, wasted } of ofKeys) {
        assert.sameMembers([...indexes], ["api_keys_ended_idx", "api_keys_pkey"], text)
        assert.isAtMost(wasted, 1000, text)
      }
      for (const { indexes, text, wasted } of ofEndpoints) {
        assert.includeMembers([...indexes], ["webhook_endpoints_deleted_at_id_idx", "webhook_endpoints_pkey"], text)
        assert.isAtMost(wasted, 1000, text)
      }
      assert.include(ofEndpoints[0]!.indexes, "deliveries_pkey")
    })
  )

  it.effect("continues after batches of records that are kept", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      const id = yield* fixtures.organization
      const invoiceId = yield* fixtures.invoice(id)
      const open = yield* fixtures.invoice(id)
      yield* sql`UPDATE invoices SET due_at = created_at WHERE id = ${open}`
      yield* sql`
          INSERT INTO idempotency_records (organization_id, mode, key, created_at, request_hash, invoice_id, body)
          SELECT ${id}, 'test', n::text, to_timestamp(0) + (n / 100) * interval '1 millisecond',
                 decode(repeat('00', 32), 'hex'), CASE WHEN n > 1300 THEN ${invoiceId} ELSE ${open} END, '{}'
          FROM generate_series(1, 3000) AS n
        `
      yield* TestClock.setTime(start + Pruner.idempotencyRetentionMs)
      const pruning = yield* Effect.forkChild(prune)
      while (pruning.pollUnsafe() === undefined) {
        yield* TestClock.adjust(100)
        yield* TestClock.withLive(Effect.sleep(5))
      }
      assert.deepInclude(yield* Fiber.join(pruning), { idempotencyRecords: 1700 })
    })
  )
})
