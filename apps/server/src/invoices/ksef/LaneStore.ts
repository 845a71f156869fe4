/**
 * The statements of a lane: sessions, submissions and the transitions of their invoices. Each is written under the lease of
 * the lane, or not at all.
 */
import { PgTypes } from "@effect/sql-pg"
import type { Ids } from "@govoice/core"
import { Context, Duration, Effect, Layer, Metric, Schedule } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { column, textArray } from "../../database/Arrays.ts"
import * as SqlErrors from "../../database/SqlErrors.ts"
import * as EngineMetrics from "../../observability/EngineMetrics.ts"
import { type Lane, LaneLost, LaneQueue } from "./LaneQueue.ts"
import { columnsOf } from "../ClaimedInvoice.ts"
import * as TransitionSteps from "../TransitionSteps.ts"
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
import { SessionStatuses } from "@govoice/ksef/protocol"

type Written = Effect.Effect<void, LaneLost | SqlError.SqlError>

/** Submissions that are due, and when the next of the others is. */
export interface Due {
  readonly rows: ReadonlyArray<SubmissionRow>
  readonly nextAt: number
}

/** Reads and writes what a lane has to remember. */
export class LaneStore extends Context.Service<
  LaneStore,
  {
    readonly organizations: (context: string) => Effect.Effect<ReadonlyArray<LaneOrganization>, SqlError.SqlError>
    /** The oldest invoices of an organization that wait to be sent, up to a limit, each with when the next one will. */
    readonly waiting: (
      organizationId: Ids.OrganizationId,
      limit: number
    ) => Effect.Effect<ReadonlyArray<WaitingInvoice>, SqlError.SqlError>
    /** When the next invoice of these organizations is to be sent, after now. */
    readonly nextWaitingAt: (
      context: string,
      organizations: ReadonlyArray<string>
    ) => Effect.Effect<number, SqlError.SqlError>
    /** Adds a sentence to the message of those of these invoices that wait because the national system is unavailable. */
    readonly explain: (
      ids: ReadonlyArray<Ids.InvoiceId>,
      sentence: string
    ) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>
    /** Claims an invoice that was tried and not sent, for the transition of a failure. */
    readonly find: (id: Ids.InvoiceId) => Effect.Effect<SendingInvoice | undefined, SqlError.SqlError>
    /** Stores the intent to open an interactive session. */
    readonly beginSession: (
      lane: Lane,
      organizationId: Ids.OrganizationId,
      kind: SessionKind
    ) => Effect.Effect<string, LaneLost | SqlError.SqlError>
    /**
     * Stores the intent to send an invoice in an interactive session, and returns it where it may be sent: not where its
     * organization has deleted the credential.
     */
    readonly beginSubmission: (
      lane: Lane,
      sessionId: string,
      id: Ids.InvoiceId,
      dueAt: Date
    ) => Effect.Effect<(SendingInvoice & InvoiceXml) | undefined, LaneLost | SqlError.SqlError>
    /** Stores the intent to send these invoices as a batch, and returns those that may be sent. */
    readonly beginBatch: (
      lane: Lane,
      sessionId: string,
      ids: ReadonlyArray<Ids.InvoiceId>
    ) => Effect.Effect<ReadonlyArray<Ids.InvoiceId>, LaneLost | SqlError.SqlError>
    /** Returns the SHA-256 of a document in Base64. */
    readonly documentHash: (id: Ids.InvoiceId) => Effect.Effect<string | undefined, SqlError.SqlError>
    /** Reads documents, in the order of the identifiers of their invoices. */
    readonly documents: (
      ids: ReadonlyArray<Ids.InvoiceId>
    ) => Effect.Effect<ReadonlyArray<InvoiceXml>, SqlError.SqlError>
    readonly write: (lane: Lane, changes: Changes) => Written
    /** Makes the look due at sends of interactive sessions whose outcome is not known. */
    readonly lookAtSends: (lane: Lane) => Written
    readonly unfinishedSessions: (context: string) => Effect.Effect<ReadonlyArray<SessionRow>, SqlError.SqlError>
    /** Submissions whose verdict is due, the longest due first. */
    readonly dueVerdicts: (context: string, limit: number) => Effect.Effect<Due, SqlError.SqlError>
    readonly dueReceipts: (context: string, limit: number) => Effect.Effect<Due, SqlError.SqlError>
    /** Some submissions of a session whose outcome is open, in the order of their identifiers, after one of them. */
    readonly members: (
      sessionId: string,
      after?: SubmissionRow
    ) => Effect.Effect<ReadonlyArray<SubmissionRow>, SqlError.SqlError>
    /** All submissions of an invoice, the newest first. */
    readonly submissionsOf: (id: Ids.InvoiceId) => Effect.Effect<ReadonlyArray<SubmissionRow>, SqlError.SqlError>
    /** The references of a session's submissions, as far as they are known. */
    readonly referencesOf: (sessionId: string) => Effect.Effect<ReadonlyArray<string>, SqlError.SqlError>
    /** Stores since when this login cannot read a session; null where it was read again. */
    readonly markUnreadable: (lane: Lane, sessionId: string, since: Date | null) => Written
    /**
     * Whether another invoice with the same document has no verdict yet, so that it may have its number. Of two that KSeF calls
     * duplicates, only the later one waits for the other.
     */
    readonly hasOpenCopy: (invoice: Pick<SubmissionRow, "id" | "sha256">) => Effect.Effect<boolean, SqlError.SqlError>
    /** The live invoice that has a KSeF number. */
    readonly invoiceOfNumber: (number: string) => Effect.Effect<Ids.InvoiceId | undefined, SqlError.SqlError>
  }
>()("@govoice/server/invoices/ksef/LaneStore") {}

// In the order of the statement.
const sessionColumns = `id bigint, state text, reference text, "validUntil" timestamptz, code int, "checkCount" int,
  "documentCount" int, "dueAt" timestamptz`
const submissionColumns = `id bigint, state text, reference text, code int, "checkCount" int,
  "receiptCount" int, "sentAt" timestamptz, "originalSession" text, "storedAt" timestamptz, "dueAt" timestamptz`

/** How many members of a batch are read at once. They are garbage before the next ones are read. */
export const membersAtOnce = 200

const document = "invoice_documents.sha256, seller_nip, issue_date, invoice_number, form_code, schema_version"

// Codes of batches whose documents go alone the next time.
const sentAlone = column(
  "int4",
  Object.entries(SessionStatuses.sessionStatuses.batch).filter(([, { action }]) => action === "send-alone"),
  ([code]) => Number(code)
)

/** Provides `LaneStore` from a migrated database, for credentials of this environment. Writes are retried for `retryForMs`. */
export const layerOf = (
  environmentId: string,
  retryForMs: number
): Layer.Layer<LaneStore, never, LaneQueue | SqlClient.SqlClient> =>
  Layer.effect(
    LaneStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { fence } = yield* LaneQueue
      const transitionSteps = yield* TransitionSteps.make
      const now = Effect.clockWith((clock) => clock.currentTimeMillis)
      const storeRetries = Schedule.spaced("250 millis").pipe(Schedule.upTo({ duration: Duration.millis(retryForMs) }))

      // The last step of a statement returns a row for each it wrote; the lane is lost where its step returned none.
      const fenced = <Row extends { readonly lane_is_leased: boolean }>(
        lane: Lane,
        statement: (fenceStep: Statement.Fragment) => Statement.Statement<Row>
      ) =>
        Effect.flatMap(now, (clock) => {
          const markStored = lane.windows.beginStore()
          return Effect.tap(statement(fence(lane, clock)), () => Effect.sync(markStored))
        }).pipe(
          Effect.retry({ schedule: storeRetries, while: SqlErrors.isTransient }),
          Effect.flatMap((rows) =>
            rows[0]?.lane_is_leased === true ? Effect.succeed(rows) : new LaneLost({ context: lane.context })
          )
        )

      // LIMIT 1 has invoices and documents read by their keys: for a thousand of them the planner would read the whole tables.
      const submissionRows = (submissions: Statement.Fragment, nextDueAt = sql`NULL::timestamptz`) => sql<
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

      const stepCondition = (step: "verdicts" | "receipts") =>
        step === "verdicts" ? sql`state IN ('sending', 'sent')` : sql`state = 'decided'`

      const nextDue = (context: string, step: "verdicts" | "receipts", after: number) => sql`
        SELECT due_at AS next_due_at FROM national_submissions
        WHERE context = ${context} AND due_at > ${new Date(after)} AND ${stepCondition(step)}
        ORDER BY context, due_at, invoice_id LIMIT 1
      `

      // One statement where something is due: what is next comes with it.
      const due = Effect.fnUntraced(function* (context: string, step: "verdicts" | "receipts", limit: number) {
        const at = yield* now
        const rows = yield* submissionRows(
          sql`
            context = ${context} AND due_at <= ${new Date(at)} AND ${stepCondition(step)}
            ORDER BY context, due_at, invoice_id LIMIT ${limit}::int
          `,
          sql`(${nextDue(context, step, at)})`
        )
        const [next] =
          rows.length > 0 ? rows : yield* sql<{ readonly next_due_at: Date }>`${nextDue(context, step, at)}`
        const nextAt = next?.next_due_at?.getTime() ?? Infinity
        return { rows, nextAt: rows.length === limit ? at : nextAt }
      })

      const begin = <Row extends { readonly id: Ids.InvoiceId }>(
        lane: Lane,
        sessionId: string,
        ids: ReadonlyArray<Ids.InvoiceId>,
        dueAt: Date | null,
        columns: string
      ) =>
        Effect.gen(function* () {
          const at = new Date(yield* now)
          const rows = yield* fenced(
            lane,
            (fenceStep) => sql<(Row | { readonly id: null }) & { readonly lane_is_leased: boolean }>`
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
                SELECT ${sessionId}::bigint, picked.organization_id, picked.id, ${lane.context}, ${at}, ${dueAt}::timestamptz, 'sending', sha256
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
          )
          return rows.filter((row): row is Row & { readonly lane_is_leased: boolean } => row.id !== null)
        })

      return {
        organizations: (context) => sql<LaneOrganization>`
          SELECT id, credential_updated_at, credential_state, credential_checked_at, credential_refusals,
                 credential_refusal->>'code' AS refusal_code
          FROM organizations
          WHERE credential_context = ${context} AND credential_environment = ${environmentId} ORDER BY id
        `,

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
        }),

        nextWaitingAt: Effect.fn("LaneStore.nextWaitingAt")(function* (context, organizations) {
          const [row] = yield* sql<{ readonly at: Date | null }>`
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
          return row?.at?.getTime() ?? Infinity
        }),

        explain: Effect.fn("LaneStore.explain")(
          (ids, sentence) => sql`
            UPDATE invoices
            SET failure = jsonb_set(failure, '{message}', to_jsonb(failure->>'message' || ${sentence}::text))
            WHERE id = ANY(${textArray(ids)}) AND mode = 'live' AND status = 'retrying'
              AND failure->>'code' = 'gateway_unavailable' AND right(failure->>'message', length(${sentence})) <> ${sentence}
          `
        ),

        find: Effect.fn("LaneStore.find")(function* (id) {
          const [row] = yield* sql<SendingInvoice>`
            SELECT ${sql.literal(columnsOf("invoices"))}, ${sql.literal(document)}
            FROM invoices JOIN invoice_documents ON invoice_id = id WHERE id = ${id}
          `
          return row
        }),

        beginSession: Effect.fn("LaneStore.beginSession")(function* (lane, organizationId, kind) {
          const at = new Date(yield* now)
          const [row] = yield* fenced(
            lane,
            (fenceStep) => sql<{ readonly id: string; readonly lane_is_leased: boolean }>`
              WITH ${fenceStep}
              INSERT INTO national_sessions (organization_id, context, created_at, kind, state)
              SELECT ${organizationId}, context, ${at}, ${kind}, 'opening' FROM lane
              RETURNING id::text, true AS lane_is_leased
            `
          )
          return row!.id
        }),

        beginSubmission: Effect.fn("LaneStore.beginSubmission")(function* (lane, sessionId, id, dueAt) {
          const columns = `${columnsOf("transitioned")}, submission.id::text AS submission_id, ${document}, xml`
          const [invoice] = yield* begin<SendingInvoice & InvoiceXml>(lane, sessionId, [id], dueAt, columns)
          return invoice
        }),

        beginBatch: Effect.fn("LaneStore.beginBatch")(function* (lane, sessionId, ids) {
          const begun = yield* begin<{ readonly id: Ids.InvoiceId }>(lane, sessionId, ids, null, "transitioned.id")
          return begun.map(({ id }) => id)
        }),

        documentHash: (id) =>
          Effect.map(
            sql<{ readonly hash: string }>`
              SELECT encode(sha256, 'base64') AS hash FROM invoice_documents WHERE invoice_id = ${id}
            `,
            ([row]) => row?.hash
          ),

        documents: (ids) => sql<InvoiceXml>`
          SELECT invoice_id AS id, xml FROM invoice_documents
          WHERE invoice_id = ANY(${textArray(ids)}) ORDER BY invoice_id
        `,

        write: Effect.fn("LaneStore.write")(
          (lane, { reasons = [], sessions = [], submissions = [], transitions = [] }) =>
            Effect.andThen(
              fenced(
                lane,
                (fenceStep) => sql<{ readonly lane_is_leased: boolean }>`
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
                ), ${transitionSteps(
                  transitions,
                  // A receipt is stored once, also where it was passed on and read.
                  sql`invoices.status = transition.status_before AND EXISTS (SELECT 1 FROM lane)
                    AND NOT (invoices.upo_available AND transition.receipt IS NOT NULL)`
                )}, fenced_off AS (
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
              ),
              Effect.forEach(
                transitions,
                ({ transition }) => Metric.update(EngineMetrics.invoiceTransitions.live(transition.status), 1),
                { discard: true }
              )
            )
        ),

        lookAtSends: Effect.fn("LaneStore.lookAtSends")(function* (lane) {
          const at = new Date(yield* now)
          yield* fenced(
            lane,
            (fenceStep) => sql<{ readonly lane_is_leased: boolean }>`
              WITH ${fenceStep}, sending AS (
                UPDATE national_submissions SET due_at = ${at}
                FROM lane, national_sessions AS session
                WHERE national_submissions.context = lane.context AND national_submissions.due_at IS NOT NULL
                  AND national_submissions.state = 'sending' AND session.id = session_id AND session.kind = 'online'
              )
              SELECT true AS lane_is_leased FROM lane
            `
          )
        }),

        markUnreadable: Effect.fn("LaneStore.markUnreadable")((lane, sessionId, since) =>
          Effect.asVoid(
            fenced(
              lane,
              (fenceStep) => sql<{ readonly lane_is_leased: boolean }>`
                WITH ${fenceStep}, session AS (
                  UPDATE national_sessions SET unreadable_since = ${since}::timestamptz FROM lane WHERE id = ${sessionId}::bigint
                )
                SELECT true AS lane_is_leased FROM lane
              `
            )
          )
        ),

        unfinishedSessions: (context) => sql<SessionRow>`
          SELECT id::text, organization_id, kind, state, reference, created_at, valid_until, due_at, check_count,
                 unreadable_since
          FROM national_sessions WHERE context = ${context} AND state NOT IN ('done', 'abandoned') ORDER BY context, id
        `,

        dueVerdicts: (context, limit) => due(context, "verdicts", limit),
        dueReceipts: (context, limit) => due(context, "receipts", limit),

        members: (sessionId, after) => sql<SubmissionRow>`
          ${submissionRows(sql`
            session_id = ${sessionId}::bigint AND state IN ('sending', 'sent') AND id > ${after?.submission_id ?? "0"}::bigint
            ORDER BY session_id, id LIMIT ${membersAtOnce}::int
          `)}
          ORDER BY submission.id
        `,

        submissionsOf: (id) =>
          sql<SubmissionRow>`${submissionRows(sql`invoice_id = ${id}`)} ORDER BY submission.id DESC`,

        referencesOf: (sessionId) =>
          Effect.map(
            sql<{ readonly reference: string }>`
              SELECT reference FROM national_submissions
              WHERE session_id = ${sessionId}::bigint AND reference IS NOT NULL
            `,
            (rows) => rows.map(({ reference }) => reference)
          ),

        hasOpenCopy: ({ id, sha256 }) =>
          Effect.map(
            sql`
              SELECT 1 FROM national_submissions
              WHERE state IN ('sending', 'sent') AND sha256 = ${sha256} AND invoice_id <> ${id}
                AND (code IS DISTINCT FROM 440 OR invoice_id < ${id})
              LIMIT 1
            `,
            ({ length }) => length > 0
          ),

        invoiceOfNumber: (number) =>
          Effect.map(
            sql<{ readonly id: Ids.InvoiceId }>`
              SELECT id FROM invoices WHERE official_number = ${number} AND mode = 'live' LIMIT 1
            `,
            ([row]) => row?.id
          )
      }
    })
  )
