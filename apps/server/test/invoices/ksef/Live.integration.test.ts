import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { liveDatabases } from "../../support/TestDatabase.ts"

const lifeOfAnInvoice = ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"]

for (const database of liveDatabases) {
  layer(database.layer, { timeout: "120 seconds", excludeTestServices: true })(`live mode (${database.name})`, (it) => {
    it.effect("sends invoices and stores the bytes of their receipts, each with its events", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          const ids = yield* Effect.forEach([1, 2, 3], (index) =>
            live.submit(organizationId, live.fa3({ number: `FV/${index}`, seller: ksef.nip }), `key-${index}`)
          )
          const all = yield* live.eventually(live.allDone, live.invoices)
          for (const id of ids) assert.deepStrictEqual(yield* live.events(id), lifeOfAnInvoice)
          return all
        })
        const all = yield* live.withDeployment(ksef, program)
        assert.deepStrictEqual(
          all.map(({ attempt_count, status }) => ({ attempt_count, status })),
          Array.from({ length: 3 }, () => ({ attempt_count: 1, status: "accepted" }))
        )
        const accepted = ksef.ledger.accepted()
        assert.sameMembers(
          all.map(({ official_number }) => official_number),
          accepted.map(({ ksefNumber }) => ksefNumber)
        )
        assert.strictEqual(ksef.ledger.overLimit, 0)

        const sql = yield* SqlClient.SqlClient
        const receipts = yield* sql<{ readonly xml: Uint8Array }>`SELECT xml FROM receipts ORDER BY invoice_id`
        const { ksefNumber } = accepted.find(({ ksefNumber: number }) => number === all[0]!.official_number)!
        assert.include(Buffer.from(receipts[0]!.xml).toString("utf8"), ksefNumber)
        // A stop closes the session and gives the lane back.
        const sessions = yield* sql`SELECT state FROM national_sessions`
        assert.deepStrictEqual(sessions, [{ state: "done" }])
        const lanes = yield* sql`SELECT is_leased FROM national_lanes`
        assert.deepStrictEqual(lanes, [{ is_leased: false }])
      })
    )
  })
}
