/** Technical corrections whose answer is lost, in a session that cannot be read, in simulated time. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import type { Fault } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { SubmitInvoice } from "../../../src/invoices/SubmitInvoice.ts"
import { Notifier } from "../../../src/jobs/Notifier.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const hour = 3_600_000

const issue = Effect.fnUntraced(function* (
  organizationId: Ids.OrganizationId,
  invoiceXml: string,
  correctsInvoiceId?: Ids.InvoiceId
) {
  const { invoiceId } = yield* (yield* SubmitInvoice).submit({
    ...fixtures.submission({ organizationId, invoiceXml, idempotencyKey: invoiceXml.slice(-200), mode: "live" }),
    invoicingMode: "offline",
    certificateUrl: "https://example.com",
    ...(correctsInvoiceId === undefined ? {} : { correctsInvoiceId })
  })
  yield* (yield* Notifier).wake("lanes")
  return invoiceId
})

/** Sends a correction under faults, and returns it when `until` holds. */
const correction = (
  faults: ReadonlyArray<Fault>,
  { grainMs = 60_000, isShownAgain }: { readonly grainMs?: number; readonly isShownAgain: boolean }
) =>
  simulated.simulate({ grainMs }, ({ ksef, now }) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sends = () => ksef.ledger.calls().filter(({ operation }) => operation === "sendInvoice")
      const program = Effect.gen(function* () {
        const organizationId = yield* live.taxpayer(ksef)
        const xml = live.fa3({ number: "FV/1", seller: ksef.nip, extra: "" })
        const rejected = yield* issue(organizationId, xml.replace(/<P_1>[^<]*/, "<P_1>2099-01-04"))
        yield* live.eventually(live.allDone, live.invoices)
        for (const fault of faults) ksef.faults.add(fault)
        const startedAt = now()
        const id = yield* issue(organizationId, `${xml}\n`, rejected)
        if (isShownAgain) {
          yield* live.poll(Effect.sync(sends), (all) => all.some(({ status }) => status === 400))
          ksef.faults.clear()
        }
        const all = yield* live.eventually((found) => found.length === 2 && live.allDone(found), live.invoices)
        return { invoice: all.find((one) => one.id === id)!, tookMs: now() - startedAt }
      })
      const result = yield* live.withDeployment(ksef, program, { leaseMs: hour })
      const open = yield* sql`SELECT 1 FROM national_submissions WHERE state IN ('sending', 'sent')`
      return { ...result, open: open.length, accepted: ksef.ledger.accepted(), sends: sends().length }
    })
  )

// The answer is lost, and the list of the session is not shown.
const lost: ReadonlyArray<Fault> = [
  { do: "drop-after", on: "sendInvoice" },
  { do: "exception", code: 21173, on: "listInvoices", times: "always" }
]

// KSeF did not judge it at first, so that it is sent again as a submitted invoice.
const lostWhenSentAgain: ReadonlyArray<Fault> = [
  { do: "verdict", code: 500 },
  { do: "drop-after", on: "sendInvoice", nth: 2 },
  { do: "exception", code: 21173, on: "listInvoices", times: "always" }
]

layer(layerPostgres, { timeout: "120 seconds", excludeTestServices: true })(
  "technical corrections whose answer is lost",
  (it) => {
    for (const [when, faults] of [
      ["sent", lost],
      ["sent again", lostWhenSentAgain]
    ] as const) {
      it.effect(`are found when KSeF shows the session again, after they were ${when}`, () =>
        Effect.gen(function* () {
          const { accepted, invoice, open } = yield* correction(faults, { isShownAgain: true })
          assert.lengthOf(accepted, 1)
          assert.deepInclude(invoice, { status: "accepted", official_number: accepted[0]!.ksefNumber })
          assert.strictEqual(open, 0)
        })
      )

      it.effect(`end after a day if KSeF never shows it, after they were ${when}`, () =>
        Effect.gen(function* () {
          const { accepted, invoice, open, sends, tookMs } = yield* correction(faults, {
            grainMs: 300_000,
            isShownAgain: false
          })
          assert.lengthOf(accepted, 1)
          assert.strictEqual(invoice.status, "failed")
          assert.strictEqual(invoice.failure?.code, "duplicate_unresolved")
          assert.isAtLeast(tookMs, 24 * hour)
          assert.isAtMost(tookMs, 30 * hour)
          assert.isAtMost(sends, 110)
          assert.strictEqual(open, 0)
        })
      )
    }
  }
)
