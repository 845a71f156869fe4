/**
 * The decision of an operator about an invoice that has a status of the national system which no rule covers.
 *
 * The fencing token of the lane is increased first: an answer that its holder is reading meanwhile is not written, and the
 * next holder reads it again.
 */
import { Ids } from "@govoice/core"
import { InvoiceStatuses } from "@govoice/ksef/protocol"
import { Clock, Data, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { StatementTime } from "../../database/StatementTime.ts"
import { type ClaimedInvoice, columnsOf } from "../ClaimedInvoice.ts"
import * as liveTransitions from "./liveTransitions.ts"
import * as TransitionSteps from "../TransitionSteps.ts"

/** The invoice cannot be decided by an operator. */
export class FailRefused extends Data.TaggedError("FailRefused")<{ readonly message: string }> {}

/** `settled`: it failed now. `unchanged`: an operator decided it before. `code` is the status of the national system. */
export interface FailResult {
  readonly outcome: "settled" | "unchanged"
  readonly code: number | null
}

interface Row extends ClaimedInvoice {
  readonly submission_id: string | null
  readonly submission_state: string | null
  readonly code: number | null
}

const failureCode = "unknown_verdict"

// Returns why the invoice cannot be decided, or `undefined`.
const refusalOf = ({ code, id, mode, status, submission_state: state }: Row): string | undefined => {
  if (mode !== "live") return `Invoice ${id} is a test invoice. KSeF never received it.`
  if (status !== "submitted") return `Invoice ${id} is ${status}. Only a submitted invoice can be settled.`
  if (state !== "sent") {
    return `Invoice ${id} is to be sent again, because KSeF did not decide about it. Wait for the next status.`
  }
  if (code === null) return `Invoice ${id} waits for a status of KSeF. Only an undocumented status can be settled.`
  const { action, meaning } = InvoiceStatuses.invoiceStatus(code, undefined)
  return action === "park"
    ? undefined
    : `Invoice ${id} has the status ${code} of KSeF (${meaning}), which Govoice decides by itself. Only an undocumented status can be settled.`
}

/** Ends an invoice as failed, with its event and deliveries. */
export const failSubmittedInvoice = (
  id: string
): Effect.Effect<FailResult, FailRefused | SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* (): Effect.fn.Return<FailResult, FailRefused | SqlError.SqlError, SqlClient.SqlClient> {
    const sql = yield* SqlClient.SqlClient
    const steps = yield* TransitionSteps.make
    const now = yield* (yield* StatementTime)(sql)
    const notFound = new FailRefused({
      message: `There is no invoice ${JSON.stringify(id)}. Check the id, and that DATABASE_URL or GOVOICE_DATA_DIR names the database of this deployment.`
    })
    if (!Ids.is("inv", id)) return yield* notFound

    const latest = sql`
      SELECT * FROM national_submissions WHERE invoice_id = ${id} ORDER BY invoice_id, id DESC LIMIT 1
    `
    yield* sql`
      UPDATE national_lanes SET fencing_token = fencing_token + 1, due_at = ${now}
      WHERE context = (SELECT context FROM (${latest}) AS submission)
    `
    const [row] = yield* sql<Row>`
      SELECT ${sql.literal(columnsOf("invoices"))}, submission.sha256, submission.id::text AS submission_id, submission.state AS submission_state,
             submission.code
      FROM invoices LEFT JOIN (${latest}) AS submission ON submission.invoice_id = invoices.id
      WHERE invoices.id = ${id} FOR UPDATE OF invoices
    `
    if (row === undefined) return yield* notFound
    if (row.status === "failed" && row.failure?.code === failureCode) return { outcome: "unchanged", code: row.code }
    const refusal = refusalOf(row)
    if (refusal !== undefined) return yield* new FailRefused({ message: refusal })

    const failure = {
      code: failureCode,
      message: `KSeF gave the status ${row.code}, which is not documented. The operator decided that the invoice failed.`
    }
    const pending = liveTransitions.failed(row, failure, yield* Clock.currentTimeMillis)
    yield* sql`
      WITH submission AS (
        UPDATE national_submissions SET state = 'refused', due_at = NULL WHERE id = ${row.submission_id}::bigint
      ), ${steps([{ ...pending, statusBefore: row.status }], sql`invoices.status = transition.status_before`)}
      SELECT id FROM transitioned
    `
    return { outcome: "settled", code: row.code }
  }).pipe(
    // A refusal rolls the lane back.
    (decision) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(decision))
  )
