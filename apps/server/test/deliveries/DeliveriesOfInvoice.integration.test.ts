/** The deliveries of an invoice among many others: they are found by its events. `PLAN_REPORT=1` prints the costs. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { textArray } from "../../src/database/Arrays.ts"
import * as DeliveryRecords from "../../src/deliveries/DeliveryRecords.ts"
import { explain } from "../support/Explained.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const endpointCount = 20
const invoiceCount = 2000
const eventsOfInvoice = 4
const firstPage = { limit: 100, after: undefined }

const invoiceIdOf = (invoice: number) => `inv_0${String(invoice).padStart(25, "0")}`

// Each event of each invoice has a delivery to each endpoint. Of a hundred, one has failed and one is pending.
const store = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* fixtures.clear
  const organizationId = yield* fixtures.organization
  const endpoints = yield* Effect.forEach(Array.from({ length: endpointCount }), () =>
    fixtures.endpoint(organizationId)
  )
  const eventCount = invoiceCount * eventsOfInvoice
  yield* sql.withTransaction(
    Effect.gen(function* () {
      // Foreign keys are not looked up: the invoices do not exist.
      yield* sql`SET LOCAL session_replication_role = replica`
      yield* sql`SET LOCAL synchronous_commit = off`
      yield* sql`
        INSERT INTO events (id, organization_id, invoice_id, type, body)
        SELECT 'evt_' || lpad(n::text, 10, '0') || repeat('0', 16), ${organizationId},
               'inv_0' || lpad((n / ${eventsOfInvoice}::int)::text, 25, '0'), 'invoice.received', '{}'
        FROM generate_series(0, ${eventCount - 1}::int) AS n
      `
      yield* sql`
        INSERT INTO deliveries
          (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, is_due, status,
           delivered_at, failure_status)
        SELECT 'wd_' || substr(event_id, 5, 10) || lpad(n::text, 16, '0'), ${organizationId}, endpoint_id, event_id, 'invoice.received', now(), now(),
               CASE status WHEN 'pending' THEN now() END, status = 'pending', status,
               CASE status WHEN 'succeeded' THEN now() END, CASE status WHEN 'failed' THEN status END
        FROM (
          SELECT n, (${textArray(endpoints)})[n % ${endpointCount}::int + 1] AS endpoint_id,
                 'evt_' || lpad((n / ${endpointCount}::int)::text, 10, '0') || repeat('0', 16) AS event_id,
                 CASE n % 100 WHEN 1 THEN 'failed' WHEN 2 THEN 'pending' ELSE 'succeeded' END AS status
          FROM generate_series(0, ${eventCount * endpointCount - 1}::int) AS n
        ) AS delivery
      `
    })
  )
  yield* sql`VACUUM ANALYZE events`
  yield* sql`VACUUM ANALYZE deliveries`
  return { organizationId, endpoints }
})

const costOf = Effect.fnUntraced(function* <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) {
  const { explained, result } = yield* explain(effect)
  const [one] = explained
  assert.lengthOf(explained, 1)
  const report = `${name}: ${one!.blocks} blocks, ${one!.milliseconds.toFixed(1)} ms, ${one!.indexes.join(" ")}`
  if (process.env["PLAN_REPORT"] === "1") console.log(report)
  assert.deepStrictEqual(
    one!.scanned.filter((table) => table !== "webhook_endpoints"),
    [],
    report
  )
  assert.include([...one!.indexes], "events_invoice_id_idx", report)
  return { ...one!, report, result }
})

const database = DeliveryRecords.layer.pipe(Layer.provideMerge(TestDatabase.layerPostgres))

layer(database, { excludeTestServices: true })("deliveries of an invoice", (it) => {
  it.effect("are found by the index of its events, with every other filter, and for their organization only", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { endpoints, organizationId } = yield* store
      const other = yield* fixtures.organization
      const endpointOfOther = yield* fixtures.endpoint(other)
      const deliveries = yield* DeliveryRecords.DeliveryRecords
      const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)
      for (const invoice of [0, 1234, invoiceCount - 1]) {
        const invoiceId = invoiceIdOf(invoice)
        const rows = yield* sql<{
          readonly id: string
          readonly endpoint_id: Ids.EndpointId
          readonly event_id: string
          readonly status: string
        }>`
            SELECT deliveries.id, endpoint_id, event_id, status FROM deliveries JOIN events ON events.id = event_id
            WHERE invoice_id = ${invoiceId} ORDER BY deliveries.id DESC
          `
        assert.lengthOf(rows, eventsOfInvoice * endpointCount)

        for (const status of [undefined, "succeeded", "pending", "failed", "delivering"] as const) {
          const { blocks, report, result } = yield* costOf(
            `${status ?? "all"} of invoice ${invoice}`,
            deliveries.listAll(organizationId, { invoiceId, status }, firstPage)
          )
          const wanted = rows.filter((row) => status === undefined || row.status === status)
          assert.deepStrictEqual(idsOf(result.records), idsOf(wanted), report)
          // Each event is looked up for each endpoint.
          assert.isBelow(blocks, 6 * eventsOfInvoice * endpointCount, report)
        }

        const { blocks, report, result } = yield* costOf(
          `of one endpoint of invoice ${invoice}`,
          deliveries.list(endpoints[0]!, { invoiceId }, firstPage)
        )
        const ofEndpoint = rows.filter(({ endpoint_id }) => endpoint_id === endpoints[0])
        assert.lengthOf(ofEndpoint, eventsOfInvoice)
        assert.deepStrictEqual(idsOf(result.records), idsOf(ofEndpoint), report)
        assert.isBelow(blocks, 6 * eventsOfInvoice + 6, report)

        const eventId = rows[0]!.event_id
        const ofEvent = yield* deliveries.listAll(organizationId, { eventId, invoiceId }, firstPage)
        assert.deepStrictEqual(idsOf(ofEvent.records), idsOf(rows.filter((row) => row.event_id === eventId)))
        const elsewhere = { eventId, invoiceId: invoiceIdOf(invoice + 1) }
        assert.deepStrictEqual((yield* deliveries.listAll(organizationId, elsewhere, firstPage)).records, [])

        assert.deepStrictEqual((yield* deliveries.listAll(other, { invoiceId }, firstPage)).records, [])
        assert.deepStrictEqual((yield* deliveries.list(endpointOfOther, { invoiceId }, firstPage)).records, [])
      }
      for (const invoiceId of ["nonsense", invoiceIdOf(invoiceCount)]) {
        assert.deepStrictEqual((yield* deliveries.listAll(organizationId, { invoiceId }, firstPage)).records, [])
      }
    })
  )
})
