/**
 * The steps of a statement that write transitions of invoices, with their receipts, events and deliveries.
 */
import { PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as EventOutbox from "../deliveries/EventOutbox.ts"
import type { ClaimedInvoice, PendingTransition } from "./ClaimedInvoice.ts"
import { type InvoiceRow, toApi } from "./InvoiceRow.ts"

// No earlier than the claim, whose time is that of the database.
const transitionedAt = ({ invoice, transition }: PendingTransition): Date =>
  invoice.updated_at > transition.at ? invoice.updated_at : transition.at

/** Returns the invoice as it is after the transition. */
export const transitioned = <Row extends ClaimedInvoice>({
  invoice,
  transition
}: PendingTransition & { readonly invoice: Row }): Row => ({
  ...invoice,
  status: transition.status,
  updated_at: transitionedAt({ invoice, transition }),
  official_mode: transition.officialMode ?? invoice.official_mode,
  warnings: transition.warnings?.length ? [...(invoice.warnings ?? []), ...transition.warnings] : invoice.warnings,
  upo_available: invoice.upo_available || transition.receipt !== undefined,
  official_number: transition.officialNumber ?? invoice.official_number,
  rejection: transition.rejection ?? invoice.rejection,
  failure: transition.failure === undefined ? invoice.failure : transition.failure,
  next_attempt_at: transition.nextAttemptAt ?? null,
  submitted_at: transition.submittedAt ?? invoice.submitted_at,
  completed_at: transition.completedAt ?? invoice.completed_at
})

// The columns that a transition may change, as the statement reads them.
const toParameters = ({ invoice, statusBefore, transition }: PendingTransition, next: InvoiceRow) => ({
  id: next.id,
  status_before: statusBefore ?? invoice.status,
  status: next.status,
  official_mode: next.official_mode,
  upo_available: next.upo_available,
  official_number: next.official_number,
  rejection: next.rejection,
  failure: next.failure,
  next_attempt_at: next.next_attempt_at,
  submitted_at: next.submitted_at,
  completed_at: next.completed_at,
  updated_at: next.updated_at,
  attempt_count: next.attempt_count,
  due_at: transition.dueAt,
  warnings: next.warnings === invoice.warnings ? null : next.warnings,
  receipt: transition.receipt === undefined ? null : Buffer.from(transition.receipt).toString("base64")
})

/**
 * Makes the function that returns these steps of a `WITH`; `transitioned` returns the `id` of each invoice that was written.
 *
 * `fence` is the condition under which an invoice is written: it can name columns of `invoices`, and of `transition` the
 * `status_before`.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const outboxSteps = yield* EventOutbox.makeSteps

  const steps = (rows: ReadonlyArray<ReturnType<typeof toParameters>>, fence: Statement.Fragment) => sql`
      transition AS MATERIALIZED (
        SELECT * FROM json_to_recordset(${PgTypes.json(rows)}) AS transition (
          id text, status_before text, status text, upo_available boolean, official_mode text, official_number text, rejection jsonb, failure jsonb,
          next_attempt_at timestamptz, submitted_at timestamptz, completed_at timestamptz, updated_at timestamptz,
          due_at timestamptz, warnings json, receipt text, attempt_count int
        )
      ), transitioned AS (
        UPDATE invoices SET
          status          = transition.status,
          upo_available   = transition.upo_available,
          official_mode   = transition.official_mode,
          official_number = transition.official_number,
          warnings        = coalesce(transition.warnings, invoices.warnings),
          rejection       = transition.rejection,
          failure         = transition.failure,
          next_attempt_at = transition.next_attempt_at,
          submitted_at    = transition.submitted_at,
          completed_at    = transition.completed_at,
          updated_at      = greatest(invoices.updated_at, transition.updated_at),
          attempt_count   = transition.attempt_count,
          due_at          = transition.due_at,
          first_failed_at = CASE transition.status
            WHEN 'retrying' THEN coalesce(first_failed_at, transition.updated_at) ELSE first_failed_at
          END
        FROM transition
        WHERE invoices.id = transition.id AND ${fence}
        RETURNING invoices.id, invoices.organization_id
      ), receipt AS (
        INSERT INTO receipts (invoice_id, organization_id, created_at, xml)
        SELECT id, organization_id, updated_at, decode(receipt, 'base64')
        FROM transition JOIN transitioned USING (id)
        WHERE receipt IS NOT NULL
        ON CONFLICT ON CONSTRAINT receipts_pkey DO NOTHING
      )
    `

  return (pending: ReadonlyArray<PendingTransition>, fence: Statement.Fragment): Statement.Fragment => {
    const next = pending.map((one): InvoiceRow => transitioned(one))
    const outbox = pending.flatMap(({ invoice, transition: { emits } }, index) => {
      const row = next[index]!
      return emits === null
        ? []
        : [EventOutbox.make(emits, invoice.organization_id, toApi(row), row.updated_at, invoice.traceparent)]
    })
    const rows = pending.map((one, index) => toParameters(one, next[index]!))
    return sql`${steps(rows, fence)}, ${outboxSteps(outbox)}`
  }
})
