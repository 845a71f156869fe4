/**
 * Lists and counts over all endpoints of an organization, with many deliveries: each reads ranges of indexes only, and
 * returns what a plain statement over the whole table returns. `PLAN_REPORT=1` prints the costs.
 */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as IdGenerator from "../../src/crypto/IdGenerator.ts"
import { textArray } from "../../src/database/Arrays.ts"
import { idBoundary } from "../../src/database/idBoundary.ts"
import * as Page from "../../src/database/Page.ts"
import * as Invoices from "../../src/invoices/Invoices.ts"
import * as InvoiceStats from "../../src/invoices/InvoiceStats.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as DeliveryRecords from "../../src/deliveries/DeliveryRecords.ts"
import * as DeliveryStats from "../../src/deliveries/DeliveryStats.ts"
import { explain } from "../support/Explained.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const endpointCount = 20
const perEndpoint = Number(process.env["PLAN_ROWS"] ?? 100_000) / endpointCount
const hourMs = 3_600_000
const firstPage = { limit: 50, after: undefined }

// Evenly over 36 hours until now. Of a hundred, one is retrying, one has failed, one is pending, the rest have succeeded.
const store = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* fixtures.clear
  const organizationId = yield* fixtures.organization
  const now = Date.now()
  const endpoints: Array<Ids.EndpointId> = []
  for (let endpoint = 0; endpoint < endpointCount; endpoint++) {
    const endpointId = yield* fixtures.endpoint(organizationId)
    endpoints.push(endpointId)
    const times = Array.from({ length: perEndpoint }, (_, n) => now - Math.floor((n / perEndpoint) * 36 * hourMs))
    const ids = times.map((time) => IdGenerator.at("wd", time))
    yield* sql.withTransaction(
      Effect.gen(function* () {
        // Foreign keys are not looked up: the events do not exist.
        yield* sql`SET LOCAL session_replication_role = replica`
        yield* sql`SET LOCAL synchronous_commit = off`
        yield* sql`
          INSERT INTO deliveries
            (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, is_due, status,
             next_retry_at, delivered_at, failure_status)
          SELECT id, ${organizationId}, ${endpointId}, replace(id, 'wd_', 'evt_'),
                 CASE WHEN n % 250 = 0 THEN 'invoice.rejected' ELSE 'invoice.received' END, now(), now(),
                 CASE WHEN status IN ('pending', 'retrying') THEN now() END, status = 'pending', status,
                 CASE status WHEN 'retrying' THEN now() END, CASE status WHEN 'succeeded' THEN now() END,
                 CASE WHEN status IN ('retrying', 'failed') THEN status END
          FROM (
            SELECT id, n, CASE n % 100 WHEN 1 THEN 'retrying' WHEN 2 THEN 'failed' WHEN 3 THEN 'pending' ELSE 'succeeded' END AS status
            FROM unnest(${textArray(ids)}) WITH ORDINALITY AS one (id, n)
          ) AS delivery
        `
      })
    )
  }
  yield* sql`VACUUM ANALYZE deliveries`
  return { organizationId, endpoints, now }
})

/** The cost of the largest statement of an effect that executes `statements` of them. */
const costOf = Effect.fnUntraced(function* <A, E, R>(name: string, effect: Effect.Effect<A, E, R>, statements = 1) {
  const { explained, result } = yield* explain(effect)
  assert.lengthOf(explained, statements)
  const [one] = explained.toSorted((a, b) => b.blocks - a.blocks)
  const report = `${name}: ${one!.blocks} blocks, ${one!.milliseconds.toFixed(1)} ms, ${one!.indexes.join(" ")}`
  if (process.env["PLAN_REPORT"] === "1") console.log(report)
  // Early in a week, its partition has few of the deliveries, which are read as a whole.
  const sql = yield* SqlClient.SqlClient
  const large = yield* sql`
    SELECT relname FROM pg_class
    WHERE relname = ANY (${textArray(one!.scanned.filter((table) => table !== "webhook_endpoints"))}) AND reltuples > 3000
  `
  assert.deepStrictEqual(large, [], report)
  return { ...one!, report, result }
})

const database = Layer.mergeAll(
  DeliveryQueue.layer,
  DeliveryRecords.layer,
  DeliveryStats.layer,
  Invoices.layer,
  InvoiceStats.layer
).pipe(Layer.provideMerge(TestDatabase.layerPostgres))

layer(database, { excludeTestServices: true })("an organization with many deliveries", (it) => {
  it.effect("lists and counts them from ranges of indexes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { endpoints, now, organizationId } = yield* store
      const deliveries = yield* DeliveryRecords.DeliveryRecords
      const stats = yield* DeliveryStats.DeliveryStats
      const dayAgo = now - 24 * hourMs

      const [thousandth] = yield* sql<{ readonly id: string }>`
          SELECT id FROM deliveries ORDER BY id DESC OFFSET ${Math.min(50 * 1000, perEndpoint * endpointCount - 1)}::int LIMIT 1
        `
      const filters: ReadonlyArray<DeliveryRecordsFilter> = [
        {},
        { status: "failed" },
        { status: "retrying" },
        { status: "endpoint_disabled" },
        { status: "pending" },
        { status: "delivering" },
        { status: "succeeded" },
        { eventType: "invoice.rejected" },
        { eventType: "invoice.failed" },
        { eventType: "invoice.rejected", status: "failed" }
      ]
      for (const filter of filters) {
        const name = JSON.stringify(filter)
        const examines = filter.eventType !== undefined || filter.status === "pending" || filter.status === "succeeded"
        for (const [position, after] of [
          ["page 1", undefined],
          ["page 1,000", thousandth!.id]
        ] as const) {
          const { blocks, report, result, wasted } = yield* costOf(
            `${position} of ${name}`,
            deliveries.listAll(organizationId, filter, { limit: 50, after })
          )
          // One range of each endpoint is entered, in each partition. Deliveries that are pending are examined by endpoint, a
          // thousand of each.
          const mostExamined = filter.status === "pending" ? endpointCount * 1000 : Page.maxExamined
          assert.isBelow(blocks, examines ? 1.3 * mostExamined : 2 * (endpointCount * 4 + 51), report)
          assert.isAtMost(wasted, examines ? mostExamined : 0, report)
          const rows = yield* sql<{ readonly id: string }>`
              SELECT id FROM deliveries
              WHERE status = coalesce(${filter.status ?? null}::text, status)
                AND event_type = coalesce(${filter.eventType ?? null}::text, event_type)
                AND id < coalesce(${after ?? null}::text, 'wd_z')
              ORDER BY id DESC LIMIT ${result.records.length}
            `
          assert.deepStrictEqual(
            result.records.map(({ id }) => id),
            rows.map(({ id }) => id),
            report
          )
          assert.isTrue(result.records.length === 50 || examines || !result.hasMore, report)
        }
      }

      // To the end, over pages that are short.
      const idsOf = Effect.fnUntraced(function* (time: Page.TimeRange) {
        const ids: Array<string> = []
        let after: string | undefined
        for (let more = true; more;) {
          const page = yield* deliveries.listAll(
            organizationId,
            { eventType: "invoice.rejected" },
            Page.within({ limit: 50, after }, "wd", time)
          )
          ids.push(...page.records.map(({ id }) => id))
          after = page.continueAfter ?? page.records.at(-1)?.id
          more = page.hasMore
        }
        return ids
      })
      const all = (yield* sql<{ readonly id: string }>`
          SELECT id FROM deliveries WHERE event_type = 'invoice.rejected' ORDER BY id DESC
        `).map(({ id }) => id)
      assert.deepStrictEqual(yield* idsOf({}), all)
      const ofDays = { from: now - 30 * hourMs, before: now - 10 * hourMs }
      const [from, before] = [idBoundary("wd", ofDays.from), idBoundary("wd", ofDays.before)]
      const ofTime = all.filter((id) => id >= from && id < before)
      assert.isAbove(ofTime.length, 100)
      assert.deepStrictEqual(yield* idsOf(ofDays), ofTime)

      const time = { from: now - 20 * hourMs, before: now - 19 * hourMs }
      const ofAnHour = Page.within({ limit: 100, after: undefined }, "wd", time)
      const inTime = yield* costOf("an hour", deliveries.list(endpoints[0]!, {}, ofAnHour))
      assert.isBelow(inTime.blocks, 210, inTime.report)
      const [expected] = yield* sql<{ readonly n: number }>`
          SELECT count(*)::int AS n FROM deliveries WHERE endpoint_id = ${endpoints[0]!}
            AND id >= ${IdGenerator.at("wd", time.from).slice(0, 13)} AND id < ${IdGenerator.at("wd", time.before).slice(0, 13)}
        `
      assert.strictEqual(inTime.result.records.length, Math.min(100, expected!.n))

      const day = yield* costOf("24 hours of an endpoint", stats.ofEndpoint(endpoints[0]!, "24h"))
      const week = yield* costOf("7 days of an endpoint", stats.ofEndpoint(endpoints[0]!, "7d"))
      const overview = yield* costOf("overview", stats.ofOrganization(organizationId, "24h"), 2)
      const overviewOfWeek = yield* costOf("overview of 7 days", stats.ofOrganization(organizationId, "7d"), 2)
      for (const { indexes, report } of [day, week, overview, overviewOfWeek]) {
        assert.includeMembers([...indexes], ["deliveries_pkey", "deliveries_failure_status_idx"], report)
      }
      const [counted] = yield* sql<{ total: number; retrying: number; failed: number; waiting: number }>`
          SELECT count(*)::int AS total, (count(*) FILTER (WHERE status = 'retrying'))::int AS retrying,
                 (count(*) FILTER (WHERE status = 'failed'))::int AS failed,
                 (count(*) FILTER (WHERE is_due))::int AS waiting
          FROM deliveries WHERE endpoint_id = ${endpoints[0]!}
        `
      const sum = (counts: DeliveryStats.EndpointCounts, member: "total" | "retrying" | "failed") =>
        counts.buckets.reduce((total, bucket) => total + bucket[member], 0)
      assert.lengthOf(day.result.counts.buckets, 24)
      assert.lengthOf(week.result.counts.buckets, 28)
      assert.strictEqual(sum(week.result.counts, "total"), counted!.total)
      assert.strictEqual(sum(week.result.counts, "retrying"), counted!.retrying)
      assert.strictEqual(sum(week.result.counts, "failed"), counted!.failed)
      assert.strictEqual(week.result.counts.retrying, counted!.retrying)
      assert.strictEqual(week.result.counts.waiting, counted!.waiting)
      assert.isBelow(sum(day.result.counts, "total"), counted!.total)
      assert.isAtLeast(Date.parse(day.result.counts.buckets[0]!.start), dayAgo)
      assert.deepStrictEqual(
        overview.result.counts.map(({ endpoint_id }) => endpoint_id),
        endpoints.toSorted().toReversed()
      )
      const first = overview.result.counts.find(({ endpoint_id }) => endpoint_id === endpoints[0])
      assert.deepStrictEqual(first!.buckets, day.result.counts.buckets)
      const firstOfWeek = overviewOfWeek.result.counts.find(({ endpoint_id }) => endpoint_id === endpoints[0])
      assert.deepStrictEqual(firstOfWeek!.buckets, week.result.counts.buckets)
      // Failures are of 24 hours over both windows.
      assert.strictEqual(first!.failed_24h, sum(day.result.counts, "failed"))
      assert.strictEqual(firstOfWeek!.failed_24h, sum(day.result.counts, "failed"))
      assert.isBelow(sum(day.result.counts, "failed"), sum(week.result.counts, "failed"))
      // Counts are kept for 30 seconds, and the list of endpoints is not.
      for (const window of ["24h", "7d"] as const) {
        assert.lengthOf((yield* explain(stats.ofOrganization(organizationId, window))).explained, 1)
      }
    })
  )

  it.effect("finds the deliveries that are delivering without reading a backlog of the other endpoints", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { organizationId } = yield* store
      yield* sql`
        UPDATE deliveries SET status = 'pending', is_due = true, due_at = created_at, next_retry_at = NULL,
          delivered_at = NULL, failure_status = NULL
      `
      yield* sql`VACUUM ANALYZE deliveries`
      const queue = yield* DeliveryQueue.DeliveryQueue
      yield* queue.claim({ limit: 10, perOrganization: 10, leaseMs: 30_000 })
      const deliveries = yield* DeliveryRecords.DeliveryRecords
      const { blocks, report, result } = yield* costOf(
        "delivering",
        deliveries.listAll(organizationId, { status: "delivering" }, firstPage)
      )
      const leased = yield* sql<{ readonly id: string }>`
        SELECT id FROM deliveries WHERE lease_expires_at IS NOT NULL ORDER BY id DESC
      `
      assert.lengthOf(leased, 10)
      assert.deepStrictEqual(
        result.records.map(({ id }) => id),
        leased.map(({ id }) => id)
      )
      assert.isBelow(blocks, 20 * endpointCount, report)
    })
  )

  it.effect("counts to the limit of an interval, and says that there is more", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.clear
      const organizationId = yield* fixtures.organization
      const endpointId = yield* fixtures.endpoint(organizationId)
      yield* fixtures.deliveries(organizationId, endpointId, DeliveryStats.limits.overview + 1)
      const [count] = yield* (yield* DeliveryStats.DeliveryStats)
        .ofOrganization(organizationId, "24h")
        .pipe(Effect.map(({ counts }) => counts))
      const bucket = count!.buckets.at(-1)!
      assert.deepInclude(bucket, { total: DeliveryStats.limits.overview, capped: true })
      assert.strictEqual(count!.waiting, DeliveryStats.limits.overview)
      yield* sql`UPDATE webhook_endpoints SET deleted_at = now() WHERE id = ${endpointId}`
      const page = yield* (yield* DeliveryRecords.DeliveryRecords).listAll(organizationId, {}, firstPage)
      assert.deepStrictEqual(page, { records: [], hasMore: false })
    })
  )

  it.effect("finds the invoice of an event and of an idempotency key by their primary keys", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.clear
      const organizationId = yield* fixtures.organization
      const other = yield* fixtures.organization
      const endpointId = yield* fixtures.endpoint(organizationId)
      yield* fixtures.deliveries(organizationId, endpointId, 1)
      const [event] = yield* sql<{
        readonly id: string
        readonly invoice_id: string
      }>`SELECT id, invoice_id FROM events`
      yield* sql`
        INSERT INTO idempotency_records (organization_id, mode, key, created_at, request_hash, invoice_id, body)
        VALUES (${organizationId}, 'test', 'order-1', now(), sha256('x'), ${event!.invoice_id}, '{}')
      `
      const invoices = yield* Invoices.Invoices
      const submission = { mode: "test", idempotencyKey: "order-1" } as const
      for (const [name, filter, index] of [
        ["event", { eventId: event!.id }, "events_pkey"],
        ["key", { submission }, "idempotency_records_pkey"],
        ["key and status", { submission, mode: "test", status: "accepted" }, "idempotency_records_pkey"]
      ] as const) {
        const found = yield* invoices.list(organizationId, filter, firstPage)
        assert.deepStrictEqual(
          found.records.map(({ id }) => id),
          [event!.invoice_id],
          name
        )
        const { indexes } = yield* sql.withTransaction(
          Effect.andThen(
            sql`SET LOCAL enable_seqscan = off`,
            costOf(name, invoices.list(organizationId, filter, firstPage))
          )
        )
        assert.include([...indexes], index, name)
        assert.lengthOf((yield* invoices.list(other, filter, firstPage)).records, 0, `${name} of another organization`)
      }
      for (const filter of [
        { eventId: "nonsense" },
        { submission: { mode: "live", idempotencyKey: "order-1" } },
        { submission, status: "rejected" }
      ] as const) {
        assert.lengthOf((yield* invoices.list(organizationId, filter, firstPage)).records, 0)
      }
    })
  )

  it.effect("counts invoices from the index of their status", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.clear
      const organizationId = yield* fixtures.organization
      for (const [status, count, age] of [
        ["rejected", 3, 0],
        ["rejected", 2, 25 * hourMs],
        ["failed", 1, 0],
        ["accepted", 5, 0]
      ] as const) {
        for (let n = 0; n < count; n++) {
          yield* sql`
            INSERT INTO invoices (id, organization_id, created_at, updated_at, completed_at, mode, status, scenario, official_number, rejection, metadata)
            VALUES (
              ${IdGenerator.at("inv", Date.now() - age)}, ${organizationId}, now(), now(), now(), 'test', ${status}, 'accepted',
              CASE WHEN ${status}::text = 'accepted' THEN 'n' END, CASE WHEN ${status}::text = 'rejected' THEN '{}'::jsonb END, '{}'
            )
          `
        }
      }
      const { result } = yield* explain((yield* InvoiceStats.InvoiceStats).ofOrganization(organizationId))
      assert.deepStrictEqual(result, {
        retrying: 0,
        rejected: 3,
        failed: 1,
        accepted: 5,
        inProgress: 0,
        medianSecondsToUpo: null
      })
    })
  )

  it.effect("counts the newest invoices only, and takes the time to the receipt from a hundred of them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.clear
      const organizationId = yield* fixtures.organization
      const [other, small] = [yield* fixtures.organization, yield* fixtures.organization]
      // Every tenth is queued. Receipts came 10 s after the newest two hundred, and an hour after the others.
      const store = Effect.fnUntraced(function* (owner: Ids.OrganizationId, count: number) {
        const ids = Array.from({ length: count }, (_, n) => IdGenerator.at("inv", Date.now() - n * 1000))
        yield* sql`
            INSERT INTO invoices
              (id, organization_id, created_at, updated_at, completed_at, due_at, mode, status, scenario, official_number, upo_available, metadata)
            SELECT id, ${owner}, now(), now(), CASE WHEN NOT is_queued THEN now() END, CASE WHEN is_queued THEN now() END, 'test',
                   CASE WHEN is_queued THEN 'queued' ELSE 'accepted' END, 'accepted', CASE WHEN NOT is_queued THEN 'n' END, NOT is_queued, '{}'
            FROM (SELECT id, n % 10 = 0 AS is_queued FROM unnest(${textArray(ids)}) WITH ORDINALITY AS one (id, n)) AS invoice
          `
        yield* sql`
            INSERT INTO receipts (invoice_id, organization_id, created_at, xml)
            SELECT id, organization_id, created_at + CASE WHEN row_number() OVER (ORDER BY id DESC) <= 200 THEN interval '10 s' ELSE interval '1 hour' END,
                   ''
            FROM invoices WHERE organization_id = ${owner} AND upo_available
          `
      })
      yield* store(organizationId, InvoiceStats.mostExamined + 5000)
      yield* store(other, 2 * InvoiceStats.mostExamined)
      yield* store(small, 3)
      yield* sql`VACUUM ANALYZE invoices, receipts`
      const stats = yield* InvoiceStats.InvoiceStats
      const { blocks, indexes, report, result, wasted } = yield* costOf(
        "counts of invoices",
        stats.ofOrganization(organizationId)
      )
      assert.deepStrictEqual(result, {
        retrying: 0,
        rejected: 0,
        failed: 0,
        accepted: InvoiceStats.limit,
        inProgress: InvoiceStats.limit,
        medianSecondsToUpo: 10
      })
      assert.includeMembers([...indexes], ["invoices_organization_id_id_idx", "receipts_pkey"], report)
      assert.notInclude([...indexes], "invoices_pkey", report)
      assert.isBelow(blocks, InvoiceStats.mostExamined / 5, report)
      assert.strictEqual(wasted, 0, report)
      const few = yield* stats.ofOrganization(small)
      assert.deepInclude(few, { accepted: 3, inProgress: 0, medianSecondsToUpo: 10 })
    })
  )
})

// A database of its own: the statistics still say that the table is empty.
layer(database, { excludeTestServices: true })("an organization with its first deliveries", (it) => {
  it.effect("lists them from ranges of indexes by a generic plan that is older than they are", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* DeliveryRecords.DeliveryRecords
      const rowsRead = Effect.map(
        sql<{ readonly n: number }>`
            SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::int AS n
            FROM pg_stat_xact_user_tables WHERE relname LIKE 'deliveries\\_%'
          `,
        (rows) => rows[0]!.n
      )
      const organizationId = yield* fixtures.organization
      const endpointIds = yield* Effect.all(Array.from({ length: 3 }, () => fixtures.endpoint(organizationId)))
      // One transaction, so that all of it is done by the connection that keeps the plan.
      const read = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SET LOCAL plan_cache_mode = force_generic_plan`
          const ordered = deliveries.listAll(organizationId, { eventType: "invoice.received" }, firstPage)
          yield* ordered
          for (const endpointId of endpointIds) yield* fixtures.deliveries(organizationId, endpointId, 10_000)
          const before = yield* rowsRead
          const page = yield* ordered
          assert.lengthOf(page.records, 50)
          return (yield* rowsRead) - before
        })
      )
      assert.isBelow(read, 200)
    })
  )
})

type DeliveryRecordsFilter = Parameters<DeliveryRecords.DeliveryRecords["Service"]["listAll"]>[1]
