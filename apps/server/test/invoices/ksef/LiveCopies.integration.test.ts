/** Invoices with the same document, in simulated time. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

layer(layerPostgres, { timeout: "120 seconds", excludeTestServices: true })("copies of documents", (it) => {
  it.effect("of which one is sent again are accepted once, in either order of reading", () =>
    simulated.simulate({ grainMs: 1000 }, ({ ksef }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          const xml = live.fa3({ number: "FV/1", seller: ksef.nip })
          // No verdict is read until both are sent.
          ksef.faults.add({ do: "5xx", on: "getInvoice", times: 3 })
          const original = yield* live.submit(organizationId, xml, "1")
          const sent = (id: string) =>
            live.poll(
              sql`SELECT 1 FROM national_submissions WHERE invoice_id = ${id} AND state = 'sent'`,
              ({ length }) => length === 1
            )
          yield* sent(original)
          // Its verdict is read late, as that of a batch is. The copy is sent twice, as after a session that was given up.
          yield* sql`
            UPDATE national_submissions SET due_at = due_at + interval '10 minutes' WHERE invoice_id = ${original}
          `
          const copy = yield* live.submit(organizationId, xml, "2")
          yield* sent(copy)
          yield* sql`
            UPDATE national_submissions SET state = 'refused', due_at = to_timestamp(0) WHERE invoice_id = ${copy}
          `
          const all = yield* live.eventually(live.allDone, live.invoices)
          return { all, copy, original }
        })
        const { all, copy, original } = yield* live.withDeployment(ksef, program)
        const [accepted] = ksef.ledger.accepted()
        assert.lengthOf(ksef.ledger.accepted(), 1)
        const statusOf = (id: string) => all.find((one) => one.id === id)!
        assert.deepInclude(statusOf(original), { status: "accepted", official_number: accepted!.ksefNumber })
        assert.strictEqual(statusOf(copy).status, "rejected")
        assert.strictEqual(statusOf(copy).rejection?.code, "duplicate_invoice")
        assert.isAtLeast((yield* sql`SELECT 1 FROM national_submissions WHERE invoice_id = ${copy}`).length, 2)
      })
    )
  )
})
