/**
 * The cost of the statements of the engine does not grow with the number of stored deliveries: with a hundred thousand they
 * read as few blocks as with a thousand. The bounds hold for a million, too: `PLAN_ROWS=1000000` takes minutes to store
 * them, `PLAN_REPORT=1` prints the plans.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresClient from "../../src/database/PostgresClient.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as WorkerDbClient from "../../src/database/WorkerDbClient.ts"
import * as InvoiceWorker from "../../src/invoices/sandbox/InvoiceWorker.ts"
import * as Pruner from "../../src/maintenance/Pruner.ts"
import * as DeliveryScheduler from "../../src/deliveries/DeliveryScheduler.ts"
import * as QueueGauges from "../../src/maintenance/QueueGauges.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { type Explained, explain } from "../support/Explained.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"
import type { Settings } from "../../src/settings/Settings.ts"
import * as Partitions from "../../src/database/Partitions.ts"
import * as Migrations from "../../src/database/Migrations.ts"

const many = Number(process.env["PLAN_ROWS"] ?? 100_000)
const leaseMs = 30_000

/** The sessions of the workers without their limit of time: storing the rows takes longer on a busy machine. */
const layerWorker = (url: string) =>
  PostgresClient.layer(
    { _tag: "Postgres", url },
    {
      applicationName: "govoice-engine",
      maxConnections: WorkerDbClient.connections,
      parameters: { ...WorkerDbClient.parameters, statement_timeout: "0" },
      decidePlans: true
    }
  )

// Identifiers of the right length that sort by age, the oldest two thousand days ago. Two organizations in three have
// one endpoint; the first has half of everything.
const fill = Effect.fnUntraced(function* (rows: number) {
  const sql = yield* SqlClient.SqlClient
  const organizations = Math.max(10, rows / 2000)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      // Foreign keys are not looked up, which would take most of the time.
      yield* sql`SET LOCAL session_replication_role = replica`
      yield* sql`SET LOCAL synchronous_commit = off`
      yield* sql`INSERT INTO accounts (id, created_at, email, password_hash) VALUES ('acct_1', now(), 'a@example.com', 'hash')`
      yield* sql`
        INSERT INTO organizations (id, account_id, created_at, name)
        SELECT 'org_' || lpad(n::text, 26, '0'), 'acct_1', now(), 'Company'
        FROM generate_series(1, ${organizations}::int) AS n
      `
      yield* sql`
        INSERT INTO organization_concurrency (organization_id)
        SELECT 'org_' || lpad(n::text, 26, '0') FROM generate_series(1, ${organizations}::int) AS n
      `
      yield* sql`
        INSERT INTO webhook_endpoints
          (id, organization_id, created_at, updated_at, enabled, pace, url, event_types, secret)
        SELECT 'we_' || lpad(n::text, 26, '0'), 'org_' || lpad(n::text, 26, '0'), now(), now(), true, 'steady',
               'https://example.com', '{*}', '\\x010000'
        FROM generate_series(1, ${organizations}::int) AS n
      `
      yield* sql`
        INSERT INTO events (id, organization_id, invoice_id, type, body)
        SELECT 'evt_0' || lpad(n::text, 25, '0'),
               'org_' || lpad((CASE WHEN n % 2 = 0 THEN 1 ELSE n % ${organizations}::int + 1 END)::text, 26, '0'),
               'inv_' || lpad(n::text, 26, '0'), 'invoice.received', '{}'
        FROM generate_series(1, ${rows}::int) AS n
      `
      // Of ten, seven are available, one is scheduled, one is in flight, one has succeeded.
      yield* sql`
        INSERT INTO deliveries
          (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, is_due, status,
           lease_expires_at, next_retry_at, delivered_at, failure_status)
        SELECT 'wd_0' || lpad(n::text, 25, '0'), organization_id, replace(organization_id, 'org_', 'we_'), id, type,
               to_timestamp(n / 1000.0), to_timestamp(n / 1000.0),
               CASE n % 10 WHEN 7 THEN to_timestamp(4e9 + n) WHEN 9 THEN NULL ELSE to_timestamp(n / 1000.0) END,
               n % 10 < 7 OR n % 10 = 8,
               CASE n % 10 WHEN 7 THEN 'retrying' WHEN 8 THEN 'delivering' WHEN 9 THEN 'succeeded' ELSE 'pending' END,
               CASE n % 10 WHEN 8 THEN to_timestamp(3e9 + n) END,
               CASE n % 10 WHEN 7 THEN to_timestamp(4e9 + n) END, CASE n % 10 WHEN 9 THEN now() END,
               CASE n % 10 WHEN 7 THEN 'retrying' END
        FROM (SELECT *, substr(id, 6)::int AS n FROM events) AS event
      `
      yield* sql`
        INSERT INTO invoices
          (id, organization_id, created_at, updated_at, due_at, mode, status, scenario, metadata, completed_at)
        SELECT 'inv_' || lpad(n::text, 26, '0'), organization_id, now(), now(),
               CASE WHEN n % 10 < 8 THEN to_timestamp(n / 1000.0) END,
               'test', CASE WHEN n % 10 < 8 THEN 'queued' ELSE 'failed' END, 'accepted', '{}',
               CASE WHEN n % 10 >= 8 THEN now() END
        FROM (SELECT *, substr(id, 6)::int AS n FROM events WHERE substr(id, 6)::int % 2 = 0) AS event
      `
      yield* sql`
        INSERT INTO invoice_documents (invoice_id, organization_id, xml, sha256)
        SELECT id, organization_id, '<Faktura/>', sha256('<Faktura/>') FROM invoices WHERE due_at IS NOT NULL
      `
    })
  )
  yield* sql`VACUUM ANALYZE`
})

const measure = Effect.fnUntraced(function* (rows: number) {
  const queue = Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
  const before = yield* queue
  // A plan is made when the table is empty, and kept.
  const onNothing = yield* explain(before.claim({ limit: 100, perOrganization: 10, leaseMs }))
  yield* fill(rows)
  const deliveries = yield* queue
  const { advanceDue, nextDueAt } = yield* InvoiceWorker.make
  const scheduler = yield* DeliveryScheduler.DeliveryScheduler
  const retention = yield* Pruner.Pruner
  const options = { limit: 100, perOrganization: 10, leaseMs }

  const claim = yield* explain(deliveries.claim(options))
  assert.isAbove(claim.result.deliveries.length, 9)
  const completions = claim.result.deliveries.map((one) => ({
    ...one,
    status: "succeeded" as const,
    pace: "steady" as const,
    works: true,
    last_attempted_at: new Date().toISOString(),
    last_http_status: 204,
    last_error_summary: null,
    next_retry_at: null,
    delivered_at: new Date().toISOString(),
    updated_at: new Date().toISOString()
  }))
  const half = completions.length >> 1
  const complete = yield* explain(deliveries.complete(completions.slice(half)))
  assert.strictEqual(complete.result.length, completions.length - half)
  const completeUnlocked = yield* explain(deliveries.completeUnlocked(completions.slice(0, half)))
  assert.strictEqual(completeUnlocked.result.written.length, half)
  const promoteDue = yield* explain(scheduler.promoteDue)
  const nextInvoice = yield* explain(nextDueAt)
  const invoices = yield* explain(advanceDue)
  assert.strictEqual(invoices.result.written.length, 100)
  const gauges = yield* explain(QueueGauges.read(10))
  const prune = yield* explain(retention.prune)
  const one = ({ explained }: { readonly explained: ReadonlyArray<Explained> }) => explained[0]!
  return {
    "claim of nothing": one(onNothing),
    claim: one(claim),
    complete: one(complete),
    completeUnlocked: one(completeUnlocked),
    promoteDue: one(promoteDue),
    "next invoice": one(nextInvoice),
    "due invoices": invoices.explained[0]!,
    transitions: invoices.explained[1]!,
    gauges: one(gauges),
    prune: one(prune)
  }
})

// The index by which each CTE reads its tables. CTEs that only read others are absent.
const indexesOfCtes = {
  complete: {
    locked: ["organization_concurrency_pkey"],
    completed: ["deliveries_pkey"],
    counted: ["organization_concurrency_pkey"],
    paced: ["webhook_endpoints_pkey"]
  },
  completeUnlocked: {
    locked: ["organization_concurrency_pkey"],
    completed: ["deliveries_pkey"],
    counted: ["organization_concurrency_pkey"],
    paced: ["webhook_endpoints_pkey"]
  },
  claim: {
    scan: ["deliveries_due_idx"],
    organization: ["organization_concurrency_pkey"],
    candidate: ["webhook_endpoints_pkey", "webhook_endpoints_organization_id_id_idx", "deliveries_due_idx"],
    claimed: ["deliveries_pkey"],
    counted: ["organization_concurrency_pkey"]
  },
  promoteDue: {
    promoted: ["deliveries_retries_idx", "deliveries_pkey"],
    watched: ["organization_concurrency_lease_check_idx"],
    leased: ["deliveries_due_idx"],
    locked: ["organization_concurrency_pkey"],
    rescued: ["deliveries_pkey"],
    updated: ["organization_concurrency_pkey"]
  }
}

const indexesOf = (ctes: Explained["ctes"]) =>
  Object.fromEntries(
    Object.entries(ctes)
      .map(([name, { indexes }]) => [name, [...indexes]] as const)
      .filter(([, indexes]) => indexes.length > 0)
  )

const withDatabase = <A, E>(
  effect: Effect.Effect<
    A,
    E,
    DeliveryQueue.DeliveryQueue | Settings | DeliveryScheduler.DeliveryScheduler | Pruner.Pruner | SqlClient.SqlClient
  >
) => {
  const database = Layer.unwrap(
    Effect.map(TestDatabase.acquire, (url) => {
      const settings = TestSettings.layer({ database: { _tag: "Postgres", url } })
      const migrated = Layer.effectDiscard(Effect.andThen(Migrations.run, Partitions.make(4))).pipe(
        Layer.provide(TestDatabase.layerClient(url))
      )
      return Layer.merge(layerWorker(url), settings).pipe(Layer.provide(migrated))
    })
  )
  const services = Layer.mergeAll(DeliveryQueue.layer, DeliveryScheduler.layer, Pruner.layer)
  return Effect.scoped(Effect.provide(effect, Layer.fresh(services.pipe(Layer.provideMerge(database)))))
}

describe("Plans", () => {
  it.live("read as much with many deliveries as with few, each CTE by its index, and discard nothing", () =>
    Effect.gen(function* () {
      const small = yield* withDatabase(measure(1000))
      const large = yield* withDatabase(measure(many))
      const report: Array<string> = []
      for (const name of Object.keys(large) as ReadonlyArray<keyof typeof large>) {
        const { blocks, indexes, milliseconds, scanned, wasted } = large[name]
        report.push(
          `${name}: ${small[name].blocks} to ${blocks} blocks, ${small[name].milliseconds.toFixed(1)} to ${milliseconds.toFixed(1)} ms, ${wasted} wasted, ${indexes.join(" ")}`
        )
        assert.deepStrictEqual(scanned, [], `${name} reads whole tables:\n${report.join("\n")}`)
      }
      if (process.env["PLAN_REPORT"] === "1") console.log(report.join("\n"))
      for (const [name, expected] of Object.entries(indexesOfCtes)) {
        const { ctes } = large[name as keyof typeof indexesOfCtes]
        assert.deepStrictEqual(indexesOf(ctes), expected, name)
      }
      // A claim takes a hundred of a hundred endpoints, or ten of ten: the blocks are those of what it takes.
      assert.isBelow(large.claim.blocks, 60 * 100, report.join("\n"))
      assert.isBelow(large.complete.blocks, 60 * 100, report.join("\n"))
      assert.isBelow(large.promoteDue.blocks, 200, report.join("\n"))
      assert.isBelow(large["next invoice"].blocks, 20, report.join("\n"))
      assert.isBelow(large["due invoices"].blocks, 20 * 100, report.join("\n"))
      assert.isBelow(large.transitions.blocks, 100 * 100, report.join("\n"))
      for (const name of [
        "claim",
        "complete",
        "completeUnlocked",
        "promoteDue",
        "due invoices",
        "transitions"
      ] as const) {
        // A claim passes those in flight of each endpoint, ten at most, twice.
        assert.isAtMost(large[name].wasted, 200, `${name}\n${report.join("\n")}`)
      }
    })
  )

  // The statistics still say that the table is empty.
  it.live("claim: the generic plan from an empty table reads few of 10,000 rows", () =>
    withDatabase(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* DeliveryQueue.DeliveryQueue
        const rowsRead = Effect.map(
          sql<{ readonly n: number }>`
            SELECT sum(idx_tup_fetch)::int AS n FROM pg_stat_xact_user_tables WHERE relname LIKE 'deliveries\_%'
          `,
          (rows) => rows[0]!.n
        )
        // One transaction, so that all of it is done by the connection that keeps the plan.
        const read = yield* sql.withTransaction(
          Effect.gen(function* () {
            const options = { limit: 10, perOrganization: 10, leaseMs }
            yield* queue.claim(options)
            yield* fixtures.backlog(10_000)
            const before = yield* rowsRead
            const { deliveries } = yield* queue.claim(options)
            assert.strictEqual(deliveries.length, 10)
            return (yield* rowsRead) - before
          })
        )
        assert.isBelow(read, 200)
      })
    )
  )

  it.live("claim: reads fewer index entries of completed deliveries when it begins where the round before ended", () =>
    withDatabase(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const fresh = Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
        const queue = yield* fresh
        const partitions = yield* sql<{ readonly name: string }>`
          SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'deliveries'::regclass
        `
        for (const { name } of partitions) yield* sql`ALTER TABLE ${sql(name)} SET (autovacuum_enabled = off)`
        const { endpoints, id } = yield* fixtures.backlog(0)
        yield* fixtures.deliveries(id, endpoints[0]!, 9000, { dueAt: Date.now() - 3_600_000 })
        const options = { limit: 500, perOrganization: 500, leaseMs }
        for (let taken = 0; taken < 8000;) {
          const { deliveries } = yield* queue.claim(options)
          yield* queue.complete(deliveries.map((one) => fixtures.completion(one)))
          taken += deliveries.length
        }
        const blocksOf = ({ explained }: { readonly explained: ReadonlyArray<Explained> }) =>
          explained.reduce((sum, { blocks }) => sum + blocks, 0)
        const here: Array<number> = []
        // One claim in a second begins earlier.
        for (let n = 0; n < 3; n++) here.push(blocksOf(yield* explain(queue.claim({ ...options, limit: 1 }))))
        const fromTheFront = blocksOf(yield* explain((yield* fresh).claim({ ...options, limit: 1 })))
        assert.isAbove(fromTheFront, 1.3 * Math.min(...here), here.join(" "))
      })
    )
  )
})
