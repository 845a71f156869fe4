import { assert, layer } from "@effect/vitest"
import { Ids } from "@govoice/core"
import { Effect, Result } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import type { Invoice } from "@govoice/core"
import { textArray } from "../../src/database/Arrays.ts"
import * as SqlErrors from "../../src/database/SqlErrors.ts"
import * as EventOutbox from "../../src/deliveries/EventOutbox.ts"
import { database } from "../support/TestDatabase.ts"
import * as fixtures from "../support/fixtures.ts"

const invoiceOf = (id: Ids.InvoiceId): Invoice.Invoice => ({
  id,
  object: "invoice",
  mode: "test",
  status: "accepted",
  scenario: "accepted",
  metadata: {},
  document: null,
  verification: null,
  invoicing_mode: "online",
  official_mode: null,
  send_by: null,
  corrects: null,
  warnings: [],
  official_number: null,
  rejection: null,
  failure: null,
  upo_available: false,
  attempt_count: 1,
  next_attempt_at: null,
  created_at: "2026-11-20T12:00:00.000Z",
  updated_at: "2026-11-20T12:00:00.000Z",
  submitted_at: null,
  completed_at: null
})

/** Writes an event of an organization with as many endpoints. */
const write = Effect.fnUntraced(function* (endpoints: number) {
  yield* fixtures.clear
  const sql = yield* SqlClient.SqlClient
  const steps = yield* EventOutbox.makeSteps
  const organizationId = yield* fixtures.organization
  for (let n = 0; n < endpoints; n++) yield* fixtures.endpoint(organizationId)
  const invoiceId = yield* fixtures.invoice(organizationId)
  const event = EventOutbox.make("invoice.accepted", organizationId, invoiceOf(invoiceId), new Date())
  const result = yield* Effect.result(
    sql`WITH transitioned AS (SELECT ${invoiceId}::text AS id), ${steps([event])} SELECT 1`
  )
  const rows = yield* sql<{ readonly id: string; readonly endpoint_id: string }>`SELECT id, endpoint_id FROM deliveries`
  return { event, result, rows }
})

layer(database.layer, { timeout: "120 seconds" })(`EventOutbox (${database.name})`, (it) => {
  it.effect(
    "writes one delivery for each endpoint, each with an identifier of its own that has the time of the event",
    () =>
      Effect.gen(function* () {
        const { event, result, rows } = yield* write(20)
        assert.isTrue(Result.isSuccess(result))
        assert.strictEqual(new Set(rows.map(({ endpoint_id }) => endpoint_id)).size, 20)
        assert.strictEqual(new Set(rows.map(({ id }) => id)).size, 20)
        for (const { id } of rows) assert.isTrue(Ids.is("wd", id), id)
        // They are in the partitions of the same week, and dropped together.
        const timeOf = (id: string) => id.slice(id.indexOf("_") + 1).slice(0, 10)
        for (const { id } of rows) assert.strictEqual(timeOf(id), timeOf(event.eventId))
      })
  )

  it.effect("writes deliveries for the endpoints of the mode of the event alone", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const sql = yield* SqlClient.SqlClient
      const steps = yield* EventOutbox.makeSteps
      const organizationId = yield* fixtures.organization
      const endpointOf = Effect.fnUntraced(function* (modes: ReadonlyArray<string> | undefined) {
        const id = yield* fixtures.endpoint(organizationId)
        if (modes !== undefined) yield* sql`UPDATE webhook_endpoints SET modes = ${textArray(modes)} WHERE id = ${id}`
        return id
      })
      const both = yield* endpointOf(undefined)
      const test = yield* endpointOf(["test"])
      const live = yield* endpointOf(["live"])
      const delivered = Effect.fnUntraced(function* (mode: Invoice.Invoice["mode"]) {
        const id = yield* fixtures.invoice(organizationId)
        const invoice = { ...invoiceOf(id), mode }
        const event = EventOutbox.make("invoice.accepted", organizationId, invoice, new Date())
        yield* sql`WITH transitioned AS (SELECT ${id}::text AS id), ${steps([event])} SELECT 1`
        const rows = yield* sql<{ readonly endpoint_id: Ids.EndpointId }>`
            SELECT endpoint_id FROM deliveries WHERE event_id = ${event.eventId}
          `
        return rows.map(({ endpoint_id }) => endpoint_id)
      })
      assert.sameMembers(yield* delivered("test"), [both, test])
      assert.sameMembers(yield* delivered("live"), [both, live])
    })
  )

  it.effect("refuses more endpoints than there are identifiers, and writes nothing", () =>
    Effect.gen(function* () {
      const { result, rows } = yield* write(33)
      assert.isTrue(Result.isFailure(result) && SqlError.isSqlError(result.failure))
      if (Result.isFailure(result)) assert.strictEqual(SqlErrors.sqlState(result.failure), "23514")
      assert.lengthOf(rows, 0)
    })
  )
})
