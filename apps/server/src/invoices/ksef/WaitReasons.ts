/**
 * Has every live invoice that waits show why: in its `failure`, and thereby in the live status of its organization.
 *
 * Lanes know the reasons of the taxpayers that they serve. Of an invoice that nobody has a reason for, the credential of its
 * organization tells one, and otherwise that earlier invoices go first.
 */
import { PgTypes } from "@effect/sql-pg"
import type { Invoice } from "@govoice/core"
import { Clock, Effect, Metric, Random } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { column, textArray } from "../../database/Arrays.ts"
import { StatementTime } from "../../database/StatementTime.ts"
import * as EngineMetrics from "../../observability/EngineMetrics.ts"
import { columnsOf } from "../ClaimedInvoice.ts"
import type { Lease, TroubleOfTaxpayer, TroubleRecord } from "./Troubles.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import type { SendingInvoice } from "./laneRows.ts"
import * as LaneRules from "./LaneRules.ts"
import { credentialRefused } from "./Logins.ts"
import * as liveTransitions from "./liveTransitions.ts"
import { unreadableSession } from "./StatusRules.ts"
import * as TransitionSteps from "../TransitionSteps.ts"
import { waitingOrganizations, waits } from "./waiting.sql.ts"

/**
 * After how many seconds an invoice shows a reason that is known, and another one. It is looked at every 10 s. Of a lane that another
 * process leases, and has had the time to write one, it shows that it waits: that process may be dead or stopped.
 */
const known = 30
const other = 40
const ofOthers = 45

/** How many invoices are written at once. */
export const maxInvoices = 5000

/** How many of one organization, and how often others are replaced before the next look. */
const maxOfOrganization = 1000
export const maxReplacements = 20

/** How many show at once that their credential is missing: one of each organization. */
const maxTransitions = 1000

const missing: Invoice.Reason = {
  code: "gateway_credential_missing",
  message: "The organization has no KSeF credential for the environment of this deployment. Store one."
}

/** Why an invoice waits of which nothing else is known. */
export const itsTurn: Invoice.Reason = {
  code: "gateway_limit",
  message: "The invoice waits for its turn: earlier invoices are sent first."
}

const unchecked: Invoice.Reason = {
  code: "gateway_unavailable",
  message: "KSeF has not accepted the credential of the organization yet."
}

/** Makes the functions that write reasons, for credentials of this environment. */
export const make = Effect.fnUntraced(function* (environmentId: string) {
  const sql = yield* SqlClient.SqlClient
  const statementTime = (yield* StatementTime)(sql)

  const json = (reason: Invoice.Reason) => sql`${PgTypes.jsonb(reason)}::jsonb`
  const rowsOf = (troubles: ReadonlyArray<TroubleOfTaxpayer>) =>
    PgTypes.json(troubles.map(({ context, reason, until }) => ({ context, failure: reason, until: new Date(until) })))

  type Known = readonly [
    troubles: ReadonlyArray<TroubleOfTaxpayer>,
    leased: ReadonlyArray<string>,
    unknown: Invoice.Reason
  ]

  /**
   * Writes the reasons of the invoices that a statement finds by the CTE `reason`, which has one of each organization. It takes them in
   * random order, so that organizations with many invoices keep no other from its turn.
   */
  const write = ([troubles, leased, unknown]: Known, found: Statement.Fragment) => {
    const written = sql`
      WITH RECURSIVE trouble AS MATERIALIZED (
        SELECT * FROM json_to_recordset(${rowsOf(troubles)}) AS trouble (context text, failure jsonb, until timestamptz)
      ), ${waitingOrganizations(sql)}, known AS MATERIALIZED (
        SELECT waiting.organization_id, trouble.until,
               CASE WHEN credential_environment IS DISTINCT FROM ${environmentId} THEN ${json(missing)}
                    WHEN credential_state = 'refused' THEN ${json(credentialRefused)}
                    WHEN trouble.failure IS NOT NULL THEN trouble.failure
                    WHEN credential_state = 'unchecked' THEN ${json(unchecked)}
                    ELSE ${json(unknown)}
               END AS failure,
               is_leased IS TRUE AND credential_context <> ALL(${textArray(leased)}) AS is_of_others,
               trouble.failure IS NOT NULL OR credential_environment IS DISTINCT FROM ${environmentId}
                 OR credential_state = 'refused' AS is_known
        FROM waiting JOIN organizations ON organizations.id = waiting.organization_id
        LEFT JOIN trouble ON trouble.context = credential_context
        LEFT JOIN national_lanes ON national_lanes.context = credential_context
      ), reason AS MATERIALIZED (
        SELECT *, interval '1 second' * CASE
          WHEN is_of_others THEN ${ofOthers}::int WHEN is_known THEN ${known}::int ELSE ${other}::int
        END AS waited
        FROM known
      ), found AS MATERIALIZED (
        ${found}
      ), picked AS MATERIALIZED (
        SELECT id FROM invoices WHERE id = ANY (ARRAY(SELECT id FROM found)) FOR UPDATE SKIP LOCKED
      )
      UPDATE invoices SET
        failure         = CASE invoices.status WHEN 'queued' THEN found.failure ELSE invoices.failure END,
        next_attempt_at = CASE invoices.status WHEN 'retrying' THEN found.until END
      FROM found
      WHERE invoices.id = found.id AND invoices.id = ANY (ARRAY(SELECT id FROM picked))
        AND invoices.status = found.status AND (invoices.status = 'queued' OR next_attempt_at < found.until)
      RETURNING invoices.id
    `
    return Effect.map(written, ({ length }) => length)
  }

  return {
    /** Returns which of these taxpayers no other process has had the lane of since. */
    lastHeld: Effect.fn("WaitReasons.lastHeld")(function* (leases: ReadonlyArray<Lease>) {
      if (leases.length === 0) return new Set<string>()
      const rows = yield* sql<{ readonly context: string }>`
        SELECT context FROM unnest(
          ${column("text", leases, ({ context }) => context)}, ${column("int4", leases, ({ fencingToken }) => fencingToken)}
        ) AS held (context, fencing_token) JOIN national_lanes USING (context, fencing_token)
      `
      return new Set(rows.map(({ context }) => context))
    }),

    /**
     * Writes the reasons of some invoices that are not sent and show none, and returns how many. `unknown` is that of those without
     * another. The lanes that other processes lease, which is all but these, have theirs written by them, while they live.
     */
    showUnsent: Effect.fn("WaitReasons.showUnsent")(function* (...known: Known) {
      const now = yield* statementTime
      return yield* write(
        known,
        sql`
          SELECT id, status, failure, until FROM (SELECT * FROM reason ORDER BY random()) AS reason CROSS JOIN LATERAL (
            SELECT id, status FROM invoices
            WHERE organization_id = reason.organization_id AND mode = 'live' AND status = 'queued' AND invoices.failure IS NULL
              AND due_at <= ${now} - waited
            ORDER BY organization_id, due_at, id LIMIT ${maxOfOrganization}::int
          ) AS invoice
          LIMIT ${maxInvoices}::int
        `
      )
    }),

    /** Replaces some reasons by another that is known, and times of attempts by later ones, and returns how many. */
    replace: Effect.fn("WaitReasons.replace")(function* (...known: Known) {
      const now = yield* statementTime
      const ofOrganization = sql`organization_id = reason.organization_id AND ${waits(sql)} AND invoices.failure IS NOT NULL`
      const withCode = (comparison: "<" | ">") => sql`
        SELECT id, status FROM invoices
        WHERE ${ofOrganization} AND status = 'queued' AND is_known AND NOT is_of_others
          AND invoices.failure->>'code' ${sql.literal(comparison)} reason.failure->>'code'
        LIMIT ${maxOfOrganization}::int
      `
      return yield* write(
        known,
        sql`
          SELECT id, status, failure, until FROM (SELECT * FROM reason ORDER BY random()) AS reason CROSS JOIN LATERAL (
            (${withCode("<")}) UNION ALL (${withCode(">")}) UNION ALL (
              SELECT id, status FROM invoices
              WHERE ${ofOrganization} AND status = 'retrying' AND reason.until > ${now} AND next_attempt_at < reason.until
              LIMIT ${maxOfOrganization}::int
            )
          ) AS invoice
          LIMIT ${maxInvoices}::int
        `
      )
    }),

    /**
     * Writes the reasons of some invoices that were sent, or may have been, while nobody can be asked about them, and returns how many.
     * They are those of lanes with trouble alone.
     */
    showUndecided: Effect.fn("WaitReasons.showUndecided")(function* (troubles: ReadonlyArray<TroubleOfTaxpayer>) {
      if (troubles.length === 0) return 0
      const now = yield* statementTime
      const before = sql`${now} - ${known}::int * interval '1 second'`
      const written = yield* sql`
        WITH trouble AS MATERIALIZED (
          SELECT * FROM json_to_recordset(${rowsOf(troubles)}) AS trouble (context text, failure jsonb, until timestamptz)
        ), undecided AS (
          SELECT invoice_id, failure FROM trouble CROSS JOIN LATERAL (
            SELECT invoice_id FROM national_submissions
            WHERE national_submissions.context = trouble.context AND due_at IS NOT NULL AND state IN ('sending', 'sent')
              AND created_at <= ${before}
          ) AS submission
          UNION ALL
          SELECT invoice_id, failure FROM trouble CROSS JOIN LATERAL (
            SELECT id FROM national_sessions
            WHERE national_sessions.context = trouble.context AND state NOT IN ('done', 'abandoned')
          ) AS session CROSS JOIN LATERAL (
            SELECT invoice_id FROM national_submissions
            WHERE session_id = session.id AND due_at IS NULL AND state IN ('sending', 'sent') AND created_at <= ${before}
          ) AS submission
        ), picked AS MATERIALIZED (
          SELECT invoice.id, undecided.failure FROM undecided CROSS JOIN LATERAL (
            SELECT id FROM invoices
            WHERE id = invoice_id AND invoices.failure IS NULL AND status IN ('submitting', 'submitted')
            LIMIT 1 FOR UPDATE SKIP LOCKED
          ) AS invoice
          LIMIT ${maxInvoices}::int
        )
        UPDATE invoices SET failure = picked.failure
        FROM picked
        WHERE invoices.id = picked.id AND invoices.id = ANY (ARRAY(SELECT id FROM picked))
          AND status IN ('submitting', 'submitted')
        RETURNING invoices.id
      `
      return written.length
    }),

    /** Counts the invoices of taxpayers that are not decided, up to 1,000 each. */
    count: Effect.fn("WaitReasons.count")(function* (records: ReadonlyArray<TroubleRecord>) {
      if (records.length === 0) return new Map<string, number>()
      const contexts = records.map(({ context }) => ({ context }))
      const rows = yield* sql<{ readonly context: string; readonly invoices: number }>`
        SELECT wanted.context, (
          SELECT count(*)::int FROM (
            SELECT FROM organizations CROSS JOIN LATERAL (
              SELECT FROM invoices WHERE organization_id = organizations.id AND ${waits(sql)}
              ORDER BY organization_id, due_at, id LIMIT 1000
            ) AS invoice
            WHERE credential_context = wanted.context AND credential_environment = ${environmentId} LIMIT 1000
          ) AS unsent
        ) + (
          SELECT count(*)::int FROM (
            SELECT FROM national_submissions
            WHERE national_submissions.context = wanted.context AND due_at IS NOT NULL AND state IN ('sending', 'sent') LIMIT 1000
          ) AS undecided
        ) AS invoices
        FROM json_to_recordset(${PgTypes.json(contexts)}) AS wanted (context text)
      `
      return new Map(rows.map(({ invoices, context }) => [context, invoices]))
    })
  }
})

/**
 * Makes the effect that has one invoice of each organization show that its credential is missing: it was deleted, or is for another
 * environment. It returns how many were written.
 *
 * No lane has such invoices. As with a refused credential, one of the organization is `retrying` and shows the reason, until the
 * time to give up; the others stay queued. After a credential is stored, all of them are sent at once.
 */
export const makeShowMissing = Effect.fnUntraced(function* (environmentId: string) {
  const sql = yield* SqlClient.SqlClient
  const notifier = yield* Notifier
  const statementTime = (yield* StatementTime)(sql)
  const steps = yield* TransitionSteps.make

  const lacks = sql`organizations.credential_environment IS DISTINCT FROM ${environmentId}`
  const shows = sql`status = 'retrying' AND failure->>'code' = ${missing.code}`

  // An invoice whose session could not be read is not given up: KSeF may have it.
  // One lookup in the index for each organization. The invoice that shows the reason is not due; where none does, it is
  // the one that did before, or the oldest.
  const select = Effect.flatMap(
    statementTime,
    (now) => sql<SendingInvoice & { readonly may_have_it: boolean }>`
      WITH RECURSIVE ${waitingOrganizations(sql)}
      SELECT ${sql.literal(columnsOf("invoice"))}, sha256, seller_nip, issue_date, invoice_number, form_code, schema_version,
             EXISTS (
               SELECT 1 FROM national_submissions WHERE invoice_id = invoice.id AND code = ${unreadableSession}::int
             ) AS may_have_it
      FROM waiting JOIN organizations ON organizations.id = waiting.organization_id AND ${lacks}
      CROSS JOIN LATERAL (
        SELECT * FROM invoices
        WHERE organization_id = waiting.organization_id AND ${waits(sql)} AND due_at <= ${now}
        ORDER BY ${shows} DESC, due_at, id LIMIT 1
      ) AS invoice
      JOIN invoice_documents ON invoice_id = invoice.id
      WHERE NOT EXISTS (
        SELECT 1 FROM invoices
        WHERE organization_id = waiting.organization_id AND ${waits(sql)} AND due_at > ${now} AND ${shows}
      )
      LIMIT ${maxTransitions}::int
    `
  )

  return Effect.gen(function* () {
    const rows = yield* select
    if (rows.length === 0) return 0
    const now = yield* Clock.currentTimeMillis
    const random = yield* Random.next
    const pending = rows.map((row) => {
      const tried = { ...row, status: "submitting", attempt_count: row.attempt_count + 1 } as const
      return {
        ...liveTransitions.attemptFailed(tried, missing, now, {
          giveUpMs: row.may_have_it ? Infinity : LaneRules.giveUpMs,
          random
        }),
        statusBefore: row.status
      }
    })
    // The lock waits for a credential that is being stored, and has a later one wait for this statement.
    const written = yield* sql`
      WITH owner AS MATERIALIZED (
        SELECT id FROM organizations WHERE id = ANY(${textArray(rows.map((row) => row.organization_id))}) AND ${lacks}
        ORDER BY id FOR SHARE
      ), ${steps(
        pending,
        sql`invoices.status = transition.status_before AND invoices.organization_id IN (SELECT id FROM owner)`
      )}
      SELECT id FROM transitioned
    `
    for (const { transition } of pending) {
      yield* Metric.update(EngineMetrics.invoiceTransitions.live(transition.status), 1)
    }
    if (pending.some(({ transition }) => transition.emits !== null)) {
      yield* notifier.wake("deliveries")
    }
    return written.length
  }).pipe(Effect.withSpan("WaitReasons.showMissing"))
})
