/** The statements about invoices that wait to be sent. */
import type { Ids } from "@govoice/core"
import { SessionStatuses } from "@govoice/ksef/protocol"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { column, textArray } from "../../../database/Arrays.ts"
import type { WaitingInvoice } from "./laneRows.ts"

export interface Statements {
  /** The oldest invoices of an organization that wait to be sent, up to a limit, each with when the next one will. */
  readonly waiting: (
    organizationId: Ids.OrganizationId,
    limit: number
  ) => Effect.Effect<ReadonlyArray<WaitingInvoice>, SqlError.SqlError>
  /** When the next invoice of these organizations is to be sent, after now. */
  readonly nextWaitingAt: (nip: string) => Effect.Effect<number, SqlError.SqlError>
  /** Adds a sentence to the message of those of these invoices that wait because the national system is unavailable. */
  readonly explain: (
    ids: ReadonlyArray<Ids.InvoiceId>,
    sentence: string
  ) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>
}

// Codes of batches whose documents go alone the next time.
const sentAlone = column(
  "int4",
  Object.entries(SessionStatuses.sessionStatuses.batch).filter(([, { action }]) => action === "send-alone"),
  ([code]) => Number(code)
)

/** Makes the statements, for credentials of this environment. */
export const statements = (sql: SqlClient.SqlClient, environmentId: string): Statements => {
  const now = Effect.clockWith((clock) => clock.currentTimeMillis)
  return {
    waiting: Effect.fn("LaneStore.waiting")(function* (organizationId, limit) {
      const at = new Date(yield* now)
      // LIMIT 1 has documents and submissions read by their keys: for thousands of invoices the planner would hash the tables.
      return yield* sql<WaitingInvoice>`
        SELECT waiting.*, form_code, schema_version, issue_date, bytes,
               has_attachment OR coalesce((
                 SELECT true FROM national_submissions WHERE invoice_id = waiting.id AND code = 415 LIMIT 1
               ), false) AS needs_batch,
               batch_limit, (
                 SELECT least((
                   SELECT due_at FROM invoices
                   WHERE organization_id = ${organizationId} AND mode = 'live' AND status IN ('queued', 'retrying')
                     AND due_at > ${at}
                   ORDER BY organization_id, due_at, id LIMIT 1
                 ), (
                   SELECT due_at FROM national_submissions
                   WHERE nip = (SELECT credential_nip FROM organizations WHERE id = ${organizationId})
                     AND due_at > ${at} AND state = 'refused'
                   ORDER BY nip, due_at, invoice_id LIMIT 1
                 ))
               ) AS next_at
        FROM (
          (
            SELECT id, organization_id, due_at, false AS is_resend, NULL::int AS batch_limit FROM invoices
            WHERE organization_id = ${organizationId} AND mode = 'live' AND status IN ('queued', 'retrying')
              AND due_at <= ${at}
            ORDER BY organization_id, due_at, id LIMIT ${limit}::int
          )
          UNION ALL (
            SELECT invoices.id, invoices.organization_id, submission.due_at, true,
                   CASE WHEN session.kind = 'batch' AND submission.code = ${SessionStatuses.tooManyInvoices}::int
                          THEN greatest(1, document_count / 2)
                        WHEN session.kind = 'batch' AND submission.code = ANY(${sentAlone}) THEN 1
                   END
            FROM national_submissions AS submission
            JOIN invoices ON invoices.id = invoice_id
            JOIN national_sessions AS session ON session.id = session_id
            WHERE submission.nip = (SELECT credential_nip FROM organizations WHERE id = ${organizationId})
              AND submission.due_at <= ${at} AND submission.state = 'refused'
              AND invoices.organization_id = ${organizationId}
            ORDER BY submission.nip, submission.due_at, invoice_id LIMIT ${limit}::int
          )
        ) AS waiting CROSS JOIN LATERAL (
          SELECT form_code, schema_version, issue_date, has_attachment, octet_length(xml) AS bytes
          FROM invoice_documents WHERE invoice_id = waiting.id LIMIT 1
        ) AS document
        ORDER BY due_at, id LIMIT ${limit}::int
      `
    }),

    nextWaitingAt: Effect.fn("LaneStore.nextWaitingAt")(function* (nip) {
      const [row] = yield* sql<{ readonly at: Date | null }>`
        SELECT least((
          SELECT min(next.due_at) FROM organizations CROSS JOIN LATERAL (
            SELECT due_at FROM invoices
            WHERE organization_id = organizations.id AND mode = 'live' AND status IN ('queued', 'retrying')
            ORDER BY organization_id, due_at, id LIMIT 1
          ) AS next
          WHERE credential_nip = ${nip} AND credential_environment = ${environmentId}
        ), (
          SELECT submission.due_at FROM national_submissions AS submission CROSS JOIN LATERAL (
            SELECT organization_id FROM invoices WHERE id = invoice_id LIMIT 1
          ) AS invoice
          WHERE submission.nip = ${nip} AND submission.due_at IS NOT NULL AND submission.state = 'refused'
            AND EXISTS (
              SELECT 1 FROM organizations
              WHERE organizations.id = invoice.organization_id AND credential_nip = ${nip}
                AND credential_environment = ${environmentId}
            )
          ORDER BY submission.nip, submission.due_at, invoice_id LIMIT 1
        )) AS at
      `
      return row?.at?.getTime() ?? Infinity
    }),

    explain: Effect.fn("LaneStore.explain")(
      (ids, sentence) => sql`
        UPDATE invoices
        SET failure = jsonb_set(failure, '{message}', to_jsonb(failure->>'message' || ${sentence}::text))
        WHERE id = ANY(${textArray(ids)}) AND mode = 'live' AND status = 'retrying'
          AND failure->>'code' = 'gateway_unavailable' AND right(failure->>'message', length(${sentence})) <> ${sentence}
      `
    )
  }
}
