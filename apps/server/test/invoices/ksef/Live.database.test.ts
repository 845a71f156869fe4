import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { SubmitInvoice } from "../../../src/invoices/SubmitInvoice.ts"
import * as EngineMetrics from "../../../src/observability/EngineMetrics.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { liveDatabase as database } from "../../support/TestDatabase.ts"

const lifeOfAnInvoice = ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"]

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
      const submitted = Effect.map(
        Metric.value(EngineMetrics.invoiceTransitions.live("submitted")),
        ({ count }) => count
      )
      const before = yield* submitted
      const all = yield* live.withDeployment(ksef, program)
      assert.strictEqual((yield* submitted) - before, 3)
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

  it.effect("shows the warnings of KSeF beside those of the document, sent one by one or in a batch", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const ksef = yield* live.simulator()
      ksef.faults.add({ do: "system-warning", on: "sendInvoice", code: "W1", message: "Soon." })
      ksef.faults.add({
        do: "system-warning",
        on: "closeBatchSession",
        code: "W2",
        message: "Later.",
        times: "always"
      })
      const ofDocument = { code: "total_differs", message: "Look.", line: 2, column: 7 }
      const submitSome = (organizationId: Ids.OrganizationId, numbers: ReadonlyArray<number>) =>
        Effect.forEach(numbers, (number) =>
          Effect.flatMap(SubmitInvoice, ({ submit }) =>
            submit({
              ...fixtures.submission({
                organizationId,
                invoiceXml: live.fa3({ number: `FV/${number}`, seller: ksef.nip }),
                idempotencyKey: `key-${number}`,
                mode: "live"
              }),
              warnings: number % 2 === 0 ? [ofDocument] : []
            })
          )
        )
      const ofSystem = (message: string) => ({ code: "system_warning", message, line: null, column: null })
      const stored = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{ readonly warnings: ReadonlyArray<unknown>; readonly shown: ReadonlyArray<unknown> }>`
            SELECT warnings, (
              SELECT body::json #> '{data,invoice,warnings}' FROM events
              WHERE invoice_id = invoices.id AND type = 'invoice.accepted'
            ) AS shown
            FROM invoices JOIN idempotency_records ON invoice_id = invoices.id ORDER BY length(key), key
          `
      )
      const one = Effect.gen(function* () {
        const organizationId = yield* live.taxpayer(ksef)
        yield* submitSome(organizationId, [2])
        yield* live.eventually(live.allDone, live.invoices)
        return organizationId
      })
      const organizationId = yield* live.withDeployment(ksef, one)
      const both = [ofDocument, ofSystem("[W1] Soon.")]
      assert.deepStrictEqual(yield* stored, [{ warnings: both, shown: both }])

      const numbers = Array.from({ length: 40 }, (_, index) => index + 3)
      yield* live.withDeployment(ksef, submitSome(organizationId, numbers), { hasWorker: false })
      yield* live.withDeployment(ksef, live.eventually(live.allDone, live.invoices))
      assert.isTrue(ksef.ledger.calls().some(({ operation }) => operation === "closeBatchSession"))
      const inBatches = (yield* stored).slice(1).map(({ warnings }) => warnings)
      const later = ofSystem("[W2] Later.")
      assert.deepStrictEqual(
        inBatches,
        numbers.map((number) => (number % 2 === 0 ? [ofDocument, later] : [later]))
      )
    })
  )
})
