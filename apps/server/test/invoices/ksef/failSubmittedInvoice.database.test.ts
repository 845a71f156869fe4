import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { failSubmittedInvoice } from "../../../src/invoices/ksef/failSubmittedInvoice.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { liveDatabase as database } from "../../support/TestDatabase.ts"

const submissionOf = (id: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ readonly state: string; readonly code: number | null; readonly isDue: boolean }>`
        SELECT state, code, due_at IS NOT NULL AS "isDue" FROM national_submissions WHERE invoice_id = ${id}
      `,
      ([row]) => row
    )
  )

const fencingToken = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ readonly fencing_token: number }>`SELECT fencing_token FROM national_lanes`,
    ([row]) => row!.fencing_token
  )
)

const refusal = (id: string) => Effect.map(Effect.flip(failSubmittedInvoice(id)), ({ message }) => message)

layer(database.layer, { timeout: "120 seconds", excludeTestServices: true })(
  `failSubmittedInvoice (${database.name})`,
  (it) => {
    it.effect("fails an invoice whose status no rule covers, once, with its event and delivery", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator({ faults: [{ do: "verdict", code: 599 }] })
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          yield* fixtures.endpoint(organizationId)
          const id = yield* live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
          const postponed = live.poll(submissionOf(id), (row) => row?.code === 599)
          assert.deepInclude(yield* postponed, { state: "sent", isDue: true })

          const before = yield* fencingToken
          assert.deepStrictEqual(yield* failSubmittedInvoice(id), { outcome: "settled", code: 599 })
          assert.isAbove(yield* fencingToken, before, "a holder that reads an answer meanwhile must not write it")
          assert.deepStrictEqual(yield* failSubmittedInvoice(id), { outcome: "unchanged", code: 599 })
          return id
        })
        const id = yield* live.withDeployment(ksef, program)
        const [invoice] = yield* live.invoices
        assert.deepInclude(invoice, { status: "failed", upo_available: false, rejection: null })
        assert.strictEqual(invoice!.failure?.code, "unknown_verdict")
        assert.include(invoice!.failure?.message, "599")
        assert.deepStrictEqual(yield* live.events(id), ["invoice.received", "invoice.submitted", "invoice.failed"])
        const sql = yield* SqlClient.SqlClient
        const deliveries = yield* sql`SELECT 1 FROM deliveries WHERE event_type = 'invoice.failed'`
        assert.lengthOf(deliveries, 1)
        assert.deepStrictEqual(yield* submissionOf(id), { state: "refused", code: 599, isDue: false })
      })
    )

    it.effect("refuses invoices that need no decision of an operator, and writes nothing", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator({ faults: [{ do: "stuck-150", polls: 10_000 }] })
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          const id = yield* live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
          yield* live.poll(submissionOf(id), (row) => row?.code === 150)
          const before = yield* fencingToken
          assert.match(yield* refusal(id), /has the status 150 of KSeF .* Govoice decides by itself/)
          assert.strictEqual(yield* fencingToken, before)

          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE national_submissions SET code = 599, state = 'refused'`
          assert.match(yield* refusal(id), /is to be sent again/)
          const test = yield* fixtures.invoice(organizationId)
          assert.match(yield* refusal(test), /is a test invoice/)
          assert.match(yield* refusal("inv_1"), /There is no invoice "inv_1"/)
          return id
        })
        const id = yield* live.withDeployment(ksef, program)
        const [invoice] = yield* live.invoices
        assert.deepInclude(invoice, { id, status: "submitted", failure: null })
        assert.match(yield* refusal(`inv_${"0".repeat(26)}`), /There is no invoice/)
      })
    )
  }
)
