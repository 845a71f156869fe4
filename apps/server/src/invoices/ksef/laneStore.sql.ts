/** The statements of a lane. Those that write take the step that checks its lease, and return a row where it is held. */
import { PgTypes } from "@effect/sql-pg"
import type { Ids } from "@govoice/core"
import { SessionStatuses } from "@govoice/ksef/protocol"
import type { Statement } from "effect/sql"
import { column, textArray } from "../../database/Arrays.ts"
import { columnsOf } from "../ClaimedInvoice.ts"
import type {
  Changes,
  InvoiceXml,
  LaneOrganization,
  SendingInvoice,
  SessionKind,
  SessionRow,
  SubmissionRow,
  WaitingInvoice
} from "./laneRows.ts"

type Sql = Statement.Constructor

/** A row of a statement under the lease of a lane. */
export interface Leased {
  readonly lane_is_leased: boolean
}

// In the order of the statement.
const sessionColumns = `id bigint, state text, reference text, "validUntil" timestamptz, code int, "checkCount" int,
  "documentCount" int, "dueAt" timestamptz`
const submissionColumns = `id bigint, state text, reference text, code int, "checkCount" int,
  "receiptCount" int, "sentAt" timestamptz, "originalSession" text, "storedAt" timestamptz, "dueAt" timestamptz`

const document = "invoice_documents.sha256, seller_nip, issue_date, invoice_number, form_code, schema_version"

// Codes of batches whose documents go alone the next time.
const sentAlone = column(
  "int4",
  Object.entries(SessionStatuses.sessionStatuses.batch).filter(([, { action }]) => action === "send-alone"),
  ([code]) => Number(code)
)

/** Selects the organizations of a context. */
export const selectOrganizations = (sql: Sql, environmentId: string, context: string) => sql<LaneOrganization>`
  SELECT id, credential_updated_at, credential_state, credential_checked_at, credential_refusals,
         credential_refusal->>'code' AS refusal_code
  FROM organizations
  WHERE credential_context = ${context} AND credential_environment = ${environmentId} ORDER BY id
`

/**
 * Selects the oldest invoices of an organization that wait to be sent, each with when the next one will. LIMIT 1 makes the planner
 * look rows up by key; without it, it hashes both tables for thousands of invoices.
 */
export const selectWaiting = (
  sql: Sql,
  organizationId: Ids.OrganizationId,
  limit: number,
  at: Date
) => sql<WaitingInvoice>`
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
             WHERE context = (SELECT credential_context FROM organizations WHERE id = ${organizationId})
               AND due_at > ${at} AND state = 'refused'
             ORDER BY context, due_at, invoice_id LIMIT 1
           ))
         ) AS next_at
  FROM (
    (
      SELECT id, organization_id, due_at, invoicing_mode, corrects, false AS is_resend, NULL::int AS batch_limit FROM invoices
      WHERE organization_id = ${organizationId} AND mode = 'live' AND status IN ('queued', 'retrying')
        AND due_at <= ${at}
      ORDER BY organization_id, due_at, id LIMIT ${limit}::int
    )
    UNION ALL (
      SELECT invoices.id, invoices.organization_id, submission.due_at, invoicing_mode, corrects, true,
             CASE WHEN session.kind = 'batch' AND submission.code = ${SessionStatuses.tooManyInvoices}::int
                    THEN greatest(1, document_count / 2)
                  WHEN session.kind = 'batch' AND submission.code = ANY(${sentAlone}) THEN 1
             END
      FROM national_submissions AS submission
      JOIN invoices ON invoices.id = invoice_id
      JOIN national_sessions AS session ON session.id = session_id
      WHERE submission.context = (SELECT credential_context FROM organizations WHERE id = ${organizationId})
        AND submission.due_at <= ${at} AND submission.state = 'refused'
        AND invoices.organization_id = ${organizationId}
      ORDER BY submission.context, submission.due_at, invoice_id LIMIT ${limit}::int
    )
  ) AS waiting CROSS JOIN LATERAL (
    SELECT form_code, schema_version, issue_date, has_attachment, octet_length(xml) AS bytes
    FROM invoice_documents WHERE invoice_id = waiting.id LIMIT 1
  ) AS document
  ORDER BY due_at, id LIMIT ${limit}::int
`

/** Selects when the next invoice of these organizations is to be sent. */
export const selectNextWaiting = (
  sql: Sql,
  environmentId: string,
  context: string,
  organizations: ReadonlyArray<string>
) => sql<{ readonly at: Date | null }>`
  SELECT least((
    SELECT min(next.due_at) FROM organizations CROSS JOIN LATERAL (
      SELECT due_at FROM invoices
      WHERE organization_id = organizations.id AND mode = 'live' AND status IN ('queued', 'retrying')
      ORDER BY organization_id, due_at, id LIMIT 1
    ) AS next
    WHERE organizations.id = ANY(${textArray(organizations)}) AND credential_context = ${context}
      AND credential_environment = ${environmentId}
  ), (
    SELECT submission.due_at FROM national_submissions AS submission CROSS JOIN LATERAL (
      SELECT organization_id FROM invoices WHERE id = invoice_id LIMIT 1
    ) AS invoice
    WHERE submission.context = ${context} AND submission.due_at IS NOT NULL AND submission.state = 'refused'
      AND EXISTS (
        SELECT 1 FROM organizations
        WHERE organizations.id = invoice.organization_id AND organizations.id = ANY(${textArray(organizations)})
          AND credential_context = ${context} AND credential_environment = ${environmentId}
      )
    ORDER BY submission.context, submission.due_at, invoice_id LIMIT 1
  )) AS at
`

/** Adds a sentence to the message of those that wait because the national system is unavailable. */
export const explain = (sql: Sql, ids: ReadonlyArray<Ids.InvoiceId>, sentence: string) => sql`
  UPDATE invoices
  SET failure = jsonb_set(failure, '{message}', to_jsonb(failure->>'message' || ${sentence}::text))
  WHERE id = ANY(${textArray(ids)}) AND mode = 'live' AND status = 'retrying'
    AND failure->>'code' = 'gateway_unavailable' AND right(failure->>'message', length(${sentence})) <> ${sentence}
`

/** Selects an invoice that was tried. */
export const selectSending = (sql: Sql, id: Ids.InvoiceId) => sql<SendingInvoice>`
  SELECT ${sql.literal(columnsOf("invoices"))}, ${sql.literal(document)}
  FROM invoices JOIN invoice_documents ON invoice_id = id WHERE id = ${id}
`

/** Inserts the intent to open a session. */
export const insertSession = (
  sql: Sql,
  fenceStep: Statement.Fragment,
  organizationId: Ids.OrganizationId,
  kind: SessionKind,
  at: Date
) => sql<Leased & { readonly id: string }>`
  WITH ${fenceStep}
  INSERT INTO national_sessions (organization_id, context, created_at, kind, state)
  SELECT ${organizationId}, context, ${at}, ${kind}, 'opening' FROM lane
  RETURNING id::text, true AS lane_is_leased
`

/** The intent to send invoices. */
export interface Intent {
  readonly context: string
  readonly environmentId: string
  readonly sessionId: string
  readonly ids: ReadonlyArray<Ids.InvoiceId>
  readonly at: Date
  /** When the look at the send is due, unless its session is looked at. */
  readonly dueAt: Date | null
  /** The columns that are returned. */
  readonly columns: string
}

/** Inserts the intent to send invoices. Where none of them may be sent, a row without an identifier is returned. */
export const insertSubmissions = <Row>(
  sql: Sql,
  fenceStep: Statement.Fragment,
  { at, columns, context, dueAt, environmentId, ids, sessionId }: Intent
) => sql<Leased & (Row | { readonly id: null })>`
  WITH ${fenceStep}, picked AS MATERIALIZED (
    SELECT invoices.id, organization_id, status FROM invoices, lane
    WHERE invoices.id = ANY(${textArray(ids)}) AND mode = 'live'
      AND status IN ('queued', 'retrying', 'submitted')
      AND EXISTS (
        SELECT 1 FROM organizations
        WHERE organizations.id = organization_id AND credential_context = lane.context
          AND credential_environment = ${environmentId}
      )
      AND NOT EXISTS (
        SELECT 1 FROM national_submissions
        WHERE invoice_id = invoices.id AND state IN ('sending', 'sent')
      )
    FOR UPDATE OF invoices
  ), resent AS (
    UPDATE national_submissions SET due_at = NULL
    FROM picked WHERE invoice_id = picked.id AND state = 'refused' AND due_at IS NOT NULL
  ), submission AS (
    INSERT INTO national_submissions (session_id, organization_id, invoice_id, context, created_at, due_at, state, sha256)
    SELECT ${sessionId}::bigint, picked.organization_id, picked.id, ${context}, ${at}, ${dueAt}::timestamptz, 'sending', sha256
    FROM picked JOIN invoice_documents ON invoice_id = picked.id
    RETURNING id, invoice_id
  ), transitioned AS (
    UPDATE invoices SET
      status          = CASE picked.status WHEN 'submitted' THEN picked.status ELSE 'submitting' END,
      next_attempt_at = NULL,
      attempt_count   = attempt_count + 1,
      updated_at      = greatest(updated_at, ${at})
    FROM picked WHERE invoices.id = picked.id
    RETURNING invoices.*
  )
  SELECT ${sql.literal(columns)}, true AS lane_is_leased
  FROM lane LEFT JOIN (
    transitioned JOIN submission ON submission.invoice_id = transitioned.id
    JOIN invoice_documents ON invoice_documents.invoice_id = transitioned.id
  ) ON true
  ORDER BY transitioned.id
`

/** The columns of an invoice that is sent alone. */
export const sentAloneColumns = `${columnsOf("transitioned")}, submission.id::text AS submission_id, ${document}, xml`

/** Selects the hash of a document in Base64. */
export const selectDocumentHash = (sql: Sql, id: Ids.InvoiceId) => sql<{ readonly hash: string }>`
  SELECT encode(sha256, 'base64') AS hash FROM invoice_documents WHERE invoice_id = ${id}
`

/** Selects documents, in the order of the identifiers of their invoices. */
export const selectDocuments = (sql: Sql, ids: ReadonlyArray<Ids.InvoiceId>) => sql<InvoiceXml>`
  SELECT invoice_id AS id, xml FROM invoice_documents
  WHERE invoice_id = ANY(${textArray(ids)}) ORDER BY invoice_id
`

/** Writes what has changed. `transitionStep` is that of the transitions. */
export const write = (
  sql: Sql,
  fenceStep: Statement.Fragment,
  transitionStep: Statement.Fragment,
  { reasons = [], sessions = [], submissions = [] }: Changes
) => sql<Leased>`
  WITH ${fenceStep}, session AS (
    UPDATE national_sessions SET
      state          = coalesce(change.state, national_sessions.state),
      reference      = coalesce(change.reference, national_sessions.reference),
      valid_until    = coalesce("validUntil", valid_until),
      code           = coalesce(change.code, national_sessions.code),
      check_count    = coalesce("checkCount", check_count),
      document_count = coalesce("documentCount", document_count),
      due_at         = "dueAt"
    FROM json_to_recordset(${PgTypes.json(sessions)}) AS change (${sql.literal(sessionColumns)}), lane
    WHERE national_sessions.id = change.id
  ), reason AS (
    UPDATE invoices SET failure = change.failure
    FROM json_to_recordset(${PgTypes.json(reasons)}) AS change (id text, failure jsonb), lane
    WHERE invoices.id = change.id AND mode = 'live' AND status IN ('submitting', 'submitted')
  ), ${transitionStep}, fenced_off AS (
    SELECT id FROM transition WHERE receipt IS NULL EXCEPT SELECT id FROM transitioned
  ), submission AS (
    UPDATE national_submissions SET
      state         = coalesce(change.state, national_submissions.state),
      reference     = coalesce(change.reference, national_submissions.reference),
      code          = coalesce(change.code, national_submissions.code),
      check_count   = coalesce("checkCount", check_count),
      receipt_count = coalesce("receiptCount", receipt_count),
      sent_at       = coalesce("sentAt", sent_at),
      stored_at     = coalesce("storedAt", stored_at),
      original_session = coalesce("originalSession", original_session),
      due_at        = "dueAt"
    FROM json_to_recordset(${PgTypes.json(submissions)}) AS change (${sql.literal(submissionColumns)}), lane
    WHERE national_submissions.id = change.id AND invoice_id NOT IN (SELECT id FROM fenced_off)
  )
  SELECT true AS lane_is_leased FROM lane
`

/** When a transition is written. A receipt is stored once, also where it was passed on and read. */
export const mayTransition = (sql: Sql) => sql`
  invoices.status = transition.status_before AND EXISTS (SELECT 1 FROM lane)
  AND NOT (invoices.upo_available AND transition.receipt IS NOT NULL)
`

/** Makes the look due at sends of interactive sessions whose outcome is not known. */
export const lookAtSends = (sql: Sql, fenceStep: Statement.Fragment, at: Date) => sql<Leased>`
  WITH ${fenceStep}, sending AS (
    UPDATE national_submissions SET due_at = ${at}
    FROM lane, national_sessions AS session
    WHERE national_submissions.context = lane.context AND national_submissions.due_at IS NOT NULL
      AND national_submissions.state = 'sending' AND session.id = session_id AND session.kind = 'online'
  )
  SELECT true AS lane_is_leased FROM lane
`

/** Stores since when a login cannot read a session. */
export const markUnreadable = (
  sql: Sql,
  fenceStep: Statement.Fragment,
  sessionId: string,
  since: Date | null
) => sql<Leased>`
  WITH ${fenceStep}, session AS (
    UPDATE national_sessions SET unreadable_since = ${since}::timestamptz FROM lane WHERE id = ${sessionId}::bigint
  )
  SELECT true AS lane_is_leased FROM lane
`

/** Selects the sessions that are not over. */
export const selectUnfinishedSessions = (sql: Sql, context: string) => sql<SessionRow>`
  SELECT id::text, organization_id, kind, state, reference, created_at, valid_until, due_at, check_count,
         unreadable_since
  FROM national_sessions WHERE context = ${context} AND state NOT IN ('done', 'abandoned') ORDER BY context, id
`

// LIMIT 1 makes the planner look rows up by key; without it, it scans both tables for a thousand ids.
const submissionRows = (sql: Sql, submissions: Statement.Fragment, nextDueAt = sql`NULL::timestamptz`) => sql<
  SubmissionRow & { readonly next_due_at: Date | null }
>`
  SELECT ${sql.literal(columnsOf("invoices"))}, ${sql.literal(document)}, has_attachment, submission.id::text AS submission_id, submission.session_id::text,
         session.kind AS session_kind,
         session.organization_id AS session_organization_id, session.reference AS session_reference,
         session.unreadable_since AS session_unreadable_since,
         submission.state AS submission_state, submission.reference AS submission_reference,
         submission.created_at AS handed_over_at, submission.check_count, submission.receipt_count, submission.code,
         submission.original_session, ${nextDueAt} AS next_due_at
  FROM (SELECT * FROM national_submissions WHERE ${submissions}) AS submission
  JOIN national_sessions AS session ON session.id = submission.session_id
  CROSS JOIN LATERAL (SELECT * FROM invoices WHERE id = submission.invoice_id LIMIT 1) AS invoices
  CROSS JOIN LATERAL (
    SELECT * FROM invoice_documents WHERE invoice_id = submission.invoice_id LIMIT 1
  ) AS invoice_documents
`

/** What is looked at again: submissions without a verdict, or those without a receipt. */
export type DueStep = "verdicts" | "receipts"

const isOfStep = (sql: Sql, step: DueStep) =>
  step === "verdicts" ? sql`state IN ('sending', 'sent')` : sql`state = 'decided'`

/** Selects when the next submission of a step is due, after a time. */
export const selectNextDue = (sql: Sql, context: string, step: DueStep, after: Date) => sql<{
  readonly next_due_at: Date
}>`
  SELECT due_at AS next_due_at FROM national_submissions
  WHERE context = ${context} AND due_at > ${after} AND ${isOfStep(sql, step)}
  ORDER BY context, due_at, invoice_id LIMIT 1
`

/** Selects the submissions of a step that are due, each with when the next of the others is. */
export const selectDue = (sql: Sql, context: string, step: DueStep, limit: number, at: Date) =>
  submissionRows(
    sql,
    sql`
      context = ${context} AND due_at <= ${at} AND ${isOfStep(sql, step)}
      ORDER BY context, due_at, invoice_id LIMIT ${limit}::int
    `,
    sql`(${selectNextDue(sql, context, step, at)})`
  )

/** Selects some submissions of a session whose outcome is open, after one of them. */
export const selectMembers = (sql: Sql, sessionId: string, after: string, limit: number) => sql<SubmissionRow>`
  ${submissionRows(
    sql,
    sql`
      session_id = ${sessionId}::bigint AND state IN ('sending', 'sent') AND id > ${after}::bigint
      ORDER BY session_id, id LIMIT ${limit}::int
    `
  )}
  ORDER BY submission.id
`

/** Selects all submissions of an invoice, the newest first. */
export const selectSubmissions = (sql: Sql, id: Ids.InvoiceId) => sql<SubmissionRow>`
  ${submissionRows(sql, sql`invoice_id = ${id}`)} ORDER BY submission.id DESC
`

/** Selects the references of the submissions of a session. */
export const selectReferences = (sql: Sql, sessionId: string) => sql<{ readonly reference: string }>`
  SELECT reference FROM national_submissions
  WHERE session_id = ${sessionId}::bigint AND reference IS NOT NULL
`

/** Selects a row if another invoice with the same document has no verdict yet. */
export const selectOpenCopy = (sql: Sql, { id, sha256 }: Pick<SubmissionRow, "id" | "sha256">) => sql`
  SELECT 1 FROM national_submissions
  WHERE state IN ('sending', 'sent') AND sha256 = ${sha256} AND invoice_id <> ${id}
    AND (code IS DISTINCT FROM 440 OR invoice_id < ${id})
  LIMIT 1
`

/** Selects the live invoice that has a KSeF number. */
export const selectByNumber = (sql: Sql, number: string) => sql<{ readonly id: Ids.InvoiceId }>`
  SELECT id FROM invoices WHERE official_number = ${number} AND mode = 'live' LIMIT 1
`
