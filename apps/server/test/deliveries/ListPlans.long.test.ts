/**
 * The lists of an owner read a bounded number of rows: a page of any filter costs about as much with many rows
 * of one endpoint or organization as with few. `PLAN_ROWS=600000` stores more of them, `PLAN_REPORT=1` prints the costs.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { maxExamined } from "../../src/database/Page.ts"
import * as Invoices from "../../src/invoices/Invoices.ts"
import * as DeliveryRecords from "../../src/deliveries/DeliveryRecords.ts"
import { explain } from "../support/Explained.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const many = Number(process.env["PLAN_ROWS"] ?? 30_000)
// A few times what a page examines.
const several = 18_000
const firstPage = { limit: 50, after: undefined }

const inFlight = 10

// The expression of a status by the number of the delivery, of which the largest is the newest.
const storeDeliveries = Effect.fnUntraced(function* (status: string, count = many) {
  const sql = yield* SqlClient.SqlClient
  yield* fixtures.clear
  const organizationId = yield* fixtures.organization
  const endpointId = yield* fixtures.endpoint(organizationId)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL session_replication_role = replica`
      yield* sql`SET LOCAL synchronous_commit = off`
      yield* sql`
        INSERT INTO deliveries
          (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, is_due, status,
           lease_expires_at, next_retry_at, delivered_at, failure_status)
        SELECT 'wd_0' || lpad(n::text, 25, '0'), ${organizationId}, ${endpointId}, 'evt_0' || lpad(n::text, 25, '0'),
               'invoice.received', to_timestamp(n), to_timestamp(n),
               CASE WHEN status IN ('pending', 'delivering', 'retrying') THEN to_timestamp(n) END,
               status IN ('pending', 'delivering', 'retrying'), status,
               CASE status WHEN 'delivering' THEN now() END, CASE status WHEN 'retrying' THEN to_timestamp(n) END,
               CASE status WHEN 'succeeded' THEN now() END,
               CASE WHEN status IN ('retrying', 'failed', 'endpoint_disabled') THEN status END
        FROM (SELECT n, ${sql.literal(status)} AS status FROM generate_series(1, ${count}::int) AS n) AS one
      `
      yield* sql`
        UPDATE organization_concurrency SET in_flight = counted.in_flight
        FROM (
          SELECT jsonb_build_object(endpoint_id, count(*)) AS in_flight FROM deliveries
          WHERE lease_expires_at IS NOT NULL GROUP BY endpoint_id
        ) AS counted
      `
    })
  )
  yield* sql`VACUUM ANALYZE deliveries`
  return { endpointId }
})

const storeInvoices = Effect.fnUntraced(function* (status: string) {
  const sql = yield* SqlClient.SqlClient
  yield* fixtures.clear
  const organizationId = yield* fixtures.organization
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL session_replication_role = replica`
      yield* sql`
        INSERT INTO invoices
          (id, organization_id, created_at, updated_at, completed_at, due_at, next_attempt_at, mode, status, scenario,
           official_number, rejection, metadata)
        SELECT 'inv_0' || lpad(n::text, 25, '0'), ${organizationId}, to_timestamp(n), to_timestamp(n),
               CASE WHEN status IN ('accepted', 'rejected', 'failed') THEN now() END,
               CASE WHEN status IN ('queued', 'submitting', 'retrying', 'submitted') THEN now() END,
               CASE status WHEN 'retrying' THEN now() END, 'test', status, 'accepted',
               CASE status WHEN 'accepted' THEN 'n' END, CASE status WHEN 'rejected' THEN '{}'::jsonb END, '{}'
        FROM (SELECT n, ${sql.literal(status)} AS status FROM generate_series(1, ${many}::int) AS n) AS one
      `
    })
  )
  yield* sql`VACUUM ANALYZE invoices`
  return organizationId
})

// Reads the list to its end and returns the numbers of its records, newest first.
const readAll = Effect.fnUntraced(function* <A extends { readonly id: string }, E, R>(
  list: (page: {
    readonly limit: number
    readonly after: string | undefined
  }) => Effect.Effect<
    { readonly records: ReadonlyArray<A>; readonly hasMore: boolean; readonly continueAfter?: string },
    E,
    R
  >,
  limit: number
) {
  const numbers: Array<number> = []
  let after: string | undefined
  for (let pages = 0; ; pages++) {
    assert.isBelow(pages, 10_000)
    const { continueAfter, hasMore, records } = yield* list({ limit, after })
    assert.isAtMost(records.length, limit)
    numbers.push(...records.map(({ id }) => Number(id.slice(id.indexOf("_") + 1))))
    if (!hasMore) return numbers
    after = continueAfter ?? records.at(-1)?.id
    assert.isDefined(after)
  }
})

// A page examines at most twice `maxExamined` index entries or rows. To read all of them takes at least 1,300 blocks.
const maxBlocks = 1000

const assertCheap = Effect.fnUntraced(function* <A, E, R>(name: string, list: Effect.Effect<A, E, R>) {
  const { explained } = yield* explain(list)
  const blocks = explained.reduce((sum, one) => sum + one.blocks, 0)
  const milliseconds = explained.reduce((sum, one) => sum + one.milliseconds, 0)
  const report = `${name}: ${blocks} blocks, ${milliseconds.toFixed(1)} ms, ${explained.flatMap(({ indexes }) => indexes).join(" ")}`
  if (process.env["PLAN_REPORT"] === "1") console.log(report)
  assert.isBelow(blocks, maxBlocks, report)
})

const database = Layer.mergeAll(DeliveryRecords.layer, Invoices.layer).pipe(
  Layer.provideMerge(TestDatabase.layerPostgres)
)

layer(database, { excludeTestServices: true })("lists of an owner", (it) => {
  const deliveryCases: ReadonlyArray<readonly [string, string]> = [
    ["all have succeeded", "'succeeded'"],
    ["all are pending", "'pending'"],
    ["all have failed", "'failed'"],
    ["the newest half are pending", `CASE WHEN n > ${many / 2} THEN 'pending' ELSE 'succeeded' END`],
    [
      "few are pending behind many retries that are due",
      `CASE WHEN n <= ${many - 20} THEN 'retrying' ELSE 'pending' END`
    ],
    [
      "few are pending behind many that have succeeded",
      `CASE WHEN n <= ${many - 20} THEN 'succeeded' ELSE 'pending' END`
    ],
    ["the oldest are pending", `CASE WHEN n <= 20 THEN 'pending' ELSE 'succeeded' END`],
    ["ten are in flight before many pending", `CASE WHEN n <= ${inFlight} THEN 'delivering' ELSE 'pending' END`]
  ]
  for (const [name, status] of deliveryCases) {
    it.effect(`deliveries: a page of any status reads few rows when ${name}`, () =>
      Effect.gen(function* () {
        const { endpointId } = yield* storeDeliveries(status)
        const deliveries = yield* DeliveryRecords.DeliveryRecords
        const statuses = [
          undefined,
          "pending",
          "delivering",
          "succeeded",
          "retrying",
          "failed",
          "endpoint_disabled"
        ] as const
        for (const wanted of statuses) {
          yield* assertCheap(`${name}, ${wanted ?? "any"}`, deliveries.list(endpointId, { status: wanted }, firstPage))
        }
      })
    )
  }

  it.effect("deliveries: the pages of each status contain all of its records, newest first", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* DeliveryRecords.DeliveryRecords
      const third = several / 3
      for (const mixture of [
        `CASE WHEN n <= ${inFlight} THEN 'delivering' WHEN n % 3 = 0 THEN 'succeeded' ELSE 'pending' END`,
        `CASE WHEN n % ${third} = 0 THEN 'pending' WHEN n % ${third} <= 3 THEN 'delivering' ELSE 'succeeded' END`,
        `CASE WHEN n % ${third} = 0 THEN 'succeeded' ELSE 'failed' END`
      ]) {
        const { endpointId } = yield* storeDeliveries(mixture, several)
        for (const status of ["pending", "delivering", "succeeded"] as const) {
          const rows = yield* sql<{ readonly id: string }>`
            SELECT id FROM deliveries WHERE status = ${status} ORDER BY id DESC
          `
          const read = yield* readAll((page) => deliveries.list(endpointId, { status }, page), 10_000)
          assert.deepStrictEqual(
            read,
            rows.map(({ id }) => Number(id.slice(3))),
            `${mixture}: ${status}`
          )
        }
      }
    })
  )

  const invoiceCases: ReadonlyArray<readonly [string, string]> = [
    ["all were accepted", "'accepted'"],
    ["all were rejected", "'rejected'"],
    ["all are retrying", "'retrying'"],
    ["the oldest is submitted", "CASE n WHEN 1 THEN 'submitted' ELSE 'rejected' END"]
  ]
  for (const [name, status] of invoiceCases) {
    it.effect(`invoices: a page of any status and mode reads few rows when ${name}`, () =>
      Effect.gen(function* () {
        const organizationId = yield* storeInvoices(status)
        const invoices = yield* Invoices.Invoices
        const statuses = [
          undefined,
          "queued",
          "submitting",
          "retrying",
          "submitted",
          "accepted",
          "rejected",
          "failed"
        ] as const
        for (const mode of [undefined, "test", "live"] as const) {
          for (const wanted of statuses) {
            yield* assertCheap(
              `${name}, ${wanted ?? "any"}, ${mode ?? "any mode"}`,
              invoices.list(organizationId, { status: wanted, mode }, firstPage)
            )
          }
        }
      })
    )
  }

  it.effect(
    "invoices: a page reads only invoices of its organization, in the order of the index, without statistics too",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* storeInvoices("'accepted'")
        const few = yield* fixtures.organization
        yield* sql`UPDATE invoices SET organization_id = ${few} WHERE id <= ${`inv_0${"20".padStart(25, "0")}`}`
        const invoices = yield* Invoices.Invoices
        const second = { limit: 50, after: `inv_0${String(many / 2).padStart(25, "0")}` }
        const read = Effect.gen(function* () {
          for (const id of [organizationId, few]) {
            for (const [filter, page] of [
              [{ mode: "test" }, firstPage],
              [{ status: "accepted" }, firstPage],
              [{ status: "queued" }, firstPage],
              [{ mode: "test", metadata: { order: "1" } }, firstPage],
              [{ mode: "test" }, second]
            ] as const) {
              const { explained } = yield* explain(invoices.list(id, filter, page))
              const { blocks, ctes, sortedRows, wasted } = explained[0]!
              assert.deepStrictEqual(ctes["examined"], {
                scanned: [],
                indexes: ["invoices_organization_id_id_idx"]
              })
              assert.isAtMost(sortedRows, 2 * maxExamined)
              assert.strictEqual(wasted, 0)
              assert.isBelow(blocks, maxBlocks)
            }
          }
        })
        yield* sql`VACUUM ANALYZE invoices`
        yield* read
        yield* sql`DELETE FROM pg_statistic WHERE starelid = 'invoices'::regclass`
        yield* read
      })
  )

  it.effect("invoices: a page of large metadata reads few rows, and the pages contain all of its records", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const organizationId = yield* storeInvoices("'accepted'")
      yield* sql`
          UPDATE invoices SET metadata = json_build_object('order', n % 3000, 'note', repeat(md5(id), 30))
          FROM (SELECT id AS numbered, row_number() OVER (ORDER BY id) AS n FROM invoices) AS numbers
          WHERE id = numbered AND n <= 20000
        `
      yield* sql`UPDATE invoices SET metadata = '{"order":"7"}' WHERE id LIKE '%77'`
      yield* sql`VACUUM ANALYZE invoices`
      const invoices = yield* Invoices.Invoices
      const filter = { mode: "test", metadata: { order: "7" } } as const
      yield* assertCheap("metadata, first page", invoices.list(organizationId, filter, firstPage))
      const after = `inv_0${"20000".padStart(25, "0")}`
      yield* assertCheap("metadata, large", invoices.list(organizationId, filter, { limit: 50, after }))
      const rows = yield* sql<{ readonly id: string }>`
          SELECT id FROM invoices WHERE metadata ->> 'order' = '7' AND json_typeof(metadata -> 'order') = 'string'
          ORDER BY id DESC
        `
      assert.isAbove(rows.length, many / 200)
      const read = yield* readAll((page) => invoices.list(organizationId, filter, page), 100)
      assert.deepStrictEqual(
        read,
        rows.map(({ id }) => Number(id.slice(4)))
      )
    })
  )

  it.effect("invoices: the pages of each filter contain all of its records, newest first", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const invoices = yield* Invoices.Invoices
      const organizationId = yield* storeInvoices(
        `CASE WHEN n % ${maxExamined + 7} = 0 THEN 'submitted' WHEN n % 3 = 0 THEN 'accepted' ELSE 'rejected' END`
      )
      for (const status of [undefined, "submitted", "accepted", "rejected", "queued"] as const) {
        for (const mode of [undefined, "test", "live"] as const) {
          const rows = yield* sql<{ readonly id: string }>`
            SELECT id FROM invoices
            WHERE status = coalesce(${status ?? null}::text, status) AND mode = coalesce(${mode ?? null}::text, mode)
            ORDER BY id DESC
          `
          const read = yield* readAll((page) => invoices.list(organizationId, { status, mode }, page), 10_000)
          assert.deepStrictEqual(
            read,
            rows.map(({ id }) => Number(id.slice(4))),
            `${status ?? "any"}, ${mode ?? "any mode"}`
          )
        }
      }
    })
  )
})
