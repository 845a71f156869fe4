/**
 * The queue of unfinished invoices of test mode, which is the `invoices` table. Those of live mode are in `LaneQueue`.
 *
 * A claim leases an invoice and increases its fencing token. Every later write has to match the token, so that a worker
 * whose lease was lost writes nothing.
 *
 * A claim takes the invoices that have been due for longest. When more are due than it takes, every second claim serves
 * organizations in turn instead, so that the backlog of one does not delay the others.
 *
 * @since 0.1.0
 */
import { PgTypes } from "@effect/sql-pg"
import type { Ids } from "@govoice/core"
import { Backoff } from "@govoice/dispatcher"
import { Clock, Context, Effect, Layer, Ref } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { StatementTime } from "../database/StatementTime.ts"
import * as Interruptions from "../jobs/Interruptions.ts"
import type { ClaimedInvoice, PendingTransition } from "./ClaimedInvoice.ts"
import * as InvoiceTransitions from "./InvoiceTransitions.ts"
import { type InvoiceRow, toApi } from "./InvoiceRow.ts"
import * as EventOutbox from "../webhooks/EventOutbox.ts"

/**
 * What a claim found.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  readonly invoices: ReadonlyArray<ClaimedInvoice>
  /** The number of expired leases that were counted as interruptions. */
  readonly interrupted: number
  /** When the next invoice is due, in milliseconds since the epoch; absent when all are finished. */
  readonly nextDueAt: number | undefined
}

/**
 * How much to claim.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClaimOptions {
  readonly limit: number
  readonly leaseMs: number
}

/**
 * Service that claims invoices and writes their transitions.
 *
 * @category services
 * @since 0.1.0
 */
export class InvoiceQueue extends Context.Service<
  InvoiceQueue,
  {
    /** Claims due invoices that are not in quarantine, and reschedules those whose lease expired. */
    readonly claim: (options: ClaimOptions) => Effect.Effect<Claim, SqlError.SqlError>
    /** Claims due invoices in quarantine. */
    readonly claimQuarantined: (
      options: ClaimOptions
    ) => Effect.Effect<ReadonlyArray<ClaimedInvoice>, SqlError.SqlError>
    /** Writes transitions, and returns for each whether its lease was still valid. */
    readonly transition: (
      pending: ReadonlyArray<PendingTransition>
    ) => Effect.Effect<ReadonlyArray<boolean>, SqlError.SqlError>
  }
>()("@govoice/server/invoices/InvoiceQueue") {}

// How many organizations a claim by organization scans, and how many invoices it takes of each.
const maxOrganizations = 50
const perOrganization = 5

interface NextDue {
  readonly now: Date
  readonly interrupted: number
  readonly next_due_at: Date | null
  readonly last_organization_id: string | null
}

type ClaimRow = NextDue & (ClaimedInvoice | { readonly id: null })

// Where the next claim by organization begins. A full claim did not reach the end of its scan; a scan that found nothing
// has reached the last organization.
const scanEnd = (invoices: ReadonlyArray<ClaimedInvoice>, limit: number, last: string | null): string =>
  invoices.length === limit
    ? invoices.reduce((max, { organization_id: id }) => (id > max ? id : max), "")
    : (last ?? "")

// No earlier than the claim, whose time is that of the database.
const transitionedAt = ({ invoice, transition }: PendingTransition): Date =>
  invoice.updated_at > transition.at ? invoice.updated_at : transition.at

// The attempt that this claim is for is stored by its transition.
const claimedOf = (rows: ReadonlyArray<ClaimRow>): ReadonlyArray<ClaimedInvoice> =>
  rows
    .filter((row) => row.id !== null)
    .map((row) => (row.status === "submitting" ? { ...row, attempt_count: row.attempt_count + 1 } : row))

const transitionedRow = ({ invoice, transition }: PendingTransition): InvoiceRow => ({
  ...invoice,
  status: transition.status,
  updated_at: transitionedAt({ invoice, transition }),
  upo_available: invoice.upo_available || transition.receipt !== undefined,
  official_number: transition.officialNumber ?? invoice.official_number,
  rejection: transition.rejection ?? invoice.rejection,
  failure: transition.failure === undefined ? invoice.failure : transition.failure,
  next_attempt_at: transition.nextAttemptAt ?? null,
  submitted_at: transition.submittedAt ?? invoice.submitted_at,
  completed_at: transition.completedAt ?? invoice.completed_at
})

// The columns that a transition may change, as the statement reads them.
const toParameters = ({ invoice, transition }: PendingTransition, next: InvoiceRow) => ({
  id: next.id,
  fencing_token: invoice.fencing_token,
  status: next.status,
  upo_available: next.upo_available,
  official_number: next.official_number,
  rejection: next.rejection,
  failure: next.failure,
  next_attempt_at: next.next_attempt_at,
  submitted_at: next.submitted_at,
  completed_at: next.completed_at,
  updated_at: next.updated_at,
  reference: transition.reference ?? invoice.reference,
  attempt_count: next.attempt_count,
  interrupted: transition.interrupted === true,
  due_at: transition.dueAt,
  receipt: transition.receipt === undefined ? null : Buffer.from(transition.receipt).toString("base64")
})

/**
 * Layer that provides `InvoiceQueue` from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<InvoiceQueue, never, SqlClient.SqlClient> = Layer.effect(
  InvoiceQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)
    const interruptionWait = Interruptions.makeWait(sql, Backoff.defaultSchedule)
    const claimable = sql`(interruption_count < ${Interruptions.quarantineAfter}::int OR is_leased)`
    const outboxSteps = yield* EventOutbox.makeSteps
    const order = yield* Ref.make<{ readonly byOrganization: boolean; readonly lastServed: string }>({
      byOrganization: false,
      lastServed: ""
    })

    const dueOldest = (limit: number, now: Statement.Fragment) => sql`
      organization_scan AS (SELECT NULL::text AS organization_id), due AS MATERIALIZED (
        SELECT id FROM invoices WHERE mode = 'test' AND due_at <= ${now} AND ${claimable}
        ORDER BY due_at, id LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
      )
    `

    // Scans the organizations with unfinished invoices, one index look-up each.
    const dueByOrganization = (after: string, limit: number, now: Statement.Fragment) => sql`
      organization_scan (organization_id, position) AS (
        (
          SELECT organization_id, 1 FROM invoices WHERE mode = 'test' AND due_at IS NOT NULL AND organization_id > ${after}
          ORDER BY organization_id, due_at, id LIMIT 1
        )
        UNION ALL
        SELECT next.organization_id, position + 1
        FROM organization_scan CROSS JOIN LATERAL (
          SELECT organization_id FROM invoices WHERE mode = 'test' AND due_at IS NOT NULL AND organization_id > organization_scan.organization_id
          ORDER BY organization_id, due_at, id LIMIT 1
        ) AS next
        WHERE position < ${maxOrganizations}::int
      ), due AS MATERIALIZED (
        SELECT oldest.* FROM organization_scan CROSS JOIN LATERAL (
          SELECT id FROM invoices
          WHERE mode = 'test' AND organization_id = organization_scan.organization_id AND due_at <= ${now} AND ${claimable}
          ORDER BY organization_id, due_at, id LIMIT ${perOrganization}::int FOR UPDATE SKIP LOCKED
        ) AS oldest
        LIMIT ${limit}::int
      )
    `

    const dueQuarantined = (limit: number, now: Statement.Fragment) => sql`
      organization_scan AS (SELECT NULL::text AS organization_id), due AS MATERIALIZED (
        SELECT id FROM invoices
        WHERE mode = 'test' AND due_at <= ${now} AND interruption_count >= ${Interruptions.quarantineAfter}::int AND NOT is_leased
        ORDER BY due_at, id LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
      )
    `

    // An expired lease is an interruption: the invoice is retried after a wait, and claimed then.
    const claimDue = (due: Statement.Fragment, now: Statement.Fragment, leaseMs: number) => sql<ClaimRow>`
      WITH RECURSIVE ${due}, interrupted AS (
        UPDATE invoices SET
          status             = CASE status WHEN 'submitting' THEN 'retrying' ELSE status END,
          failure            = CASE status WHEN 'submitting' THEN ${PgTypes.jsonb(InvoiceTransitions.interrupted)} ELSE failure END,
          next_attempt_at    = CASE status WHEN 'submitting' THEN retry_at END,
          interruption_count = interruption_count + 1,
          is_leased          = false,
          due_at             = retry_at,
          updated_at         = greatest(updated_at, ${now})
        FROM (
          SELECT invoices.id, ${now} + ${interruptionWait(sql`interruption_count + 1`)} AS retry_at
          FROM due JOIN invoices USING (id) WHERE is_leased
        ) AS expired
        WHERE invoices.id = expired.id AND is_leased
        RETURNING retry_at
      ), claimed AS (
        UPDATE invoices SET
          status          = CASE WHEN status IN ('queued', 'retrying') THEN 'submitting' ELSE status END,
          next_attempt_at = NULL,
          fencing_token   = fencing_token + 1,
          is_leased       = true,
          due_at          = ${now} + ${leaseMs}::float8 * interval '1 millisecond',
          updated_at      = greatest(updated_at, ${now})
        FROM due WHERE invoices.id = due.id AND NOT is_leased
        RETURNING invoices.*
      )
      SELECT claimed.*, sha256, seller_nip, issue_date, invoice_number, form_code, schema_version, next.*,
             (SELECT max(organization_id) FROM organization_scan) AS last_organization_id
      FROM (
        SELECT ${now} AS now, (SELECT count(*)::int FROM interrupted) AS interrupted, least(
          (SELECT due_at FROM invoices WHERE mode = 'test' AND due_at > ${now} ORDER BY due_at, id LIMIT 1),
          (SELECT min(retry_at) FROM interrupted)
        ) AS next_due_at
      ) AS next
      LEFT JOIN (claimed JOIN invoice_documents ON invoice_id = claimed.id) ON true
    `

    const applyTransitions = (rows: ReadonlyArray<ReturnType<typeof toParameters>>) => sql`
      transition AS MATERIALIZED (
        SELECT * FROM json_to_recordset(${PgTypes.json(rows)}) AS transition (
          id text, fencing_token int, status text, upo_available boolean, official_number text, rejection jsonb, failure jsonb,
          next_attempt_at timestamptz, submitted_at timestamptz, completed_at timestamptz, updated_at timestamptz,
          reference text, due_at timestamptz, receipt text, attempt_count int, interrupted boolean
        )
      ), transitioned AS (
        UPDATE invoices SET
          status          = transition.status,
          upo_available   = transition.upo_available,
          official_number = transition.official_number,
          rejection       = transition.rejection,
          failure         = transition.failure,
          next_attempt_at = transition.next_attempt_at,
          submitted_at    = transition.submitted_at,
          completed_at    = transition.completed_at,
          updated_at      = greatest(invoices.updated_at, transition.updated_at),
          attempt_count   = transition.attempt_count,
          interruption_count            = interruption_count + transition.interrupted::int,
          quarantine_interruption_count = quarantine_interruption_count + transition.interrupted::int,
          reference       = transition.reference,
          is_leased       = false,
          due_at          = transition.due_at
        FROM transition
        WHERE invoices.id = transition.id AND invoices.fencing_token = transition.fencing_token AND is_leased
        RETURNING invoices.id
      ), receipt AS (
        INSERT INTO receipts (invoice_id, created_at, sha256, xml)
        SELECT id, updated_at, sha256(decode(receipt, 'base64')), decode(receipt, 'base64')
        FROM transition JOIN transitioned USING (id)
        WHERE receipt IS NOT NULL
        ON CONFLICT ON CONSTRAINT receipts_pkey DO NOTHING
      )
    `

    return {
      claim: Effect.fn("InvoiceQueue.claim")(function* ({ leaseMs, limit }) {
        const clock = yield* Clock.currentTimeMillis
        const now = yield* statementTime
        const { byOrganization, lastServed } = yield* Ref.get(order)
        const due = byOrganization ? dueByOrganization(lastServed, limit, now) : dueOldest(limit, now)
        const rows = yield* claimDue(due, now, leaseMs)
        const invoices = claimedOf(rows)
        const { interrupted, last_organization_id: last, next_due_at: next, now: statementAt } = rows[0]!
        const isFull = invoices.length + interrupted === limit

        yield* Ref.set(order, {
          byOrganization: !byOrganization && isFull,
          lastServed: byOrganization ? scanEnd(invoices, limit, last) : lastServed
        })
        // In the time of `Clock`, which may differ from that of the database.
        const nextDueAt = next === null ? undefined : clock + next.getTime() - statementAt.getTime()
        return { invoices, interrupted, nextDueAt: byOrganization || isFull ? clock : nextDueAt }
      }),

      claimQuarantined: Effect.fn("InvoiceQueue.claimQuarantined")(function* ({ leaseMs, limit }) {
        const now = yield* statementTime
        return claimedOf(yield* claimDue(dueQuarantined(limit, now), now, leaseMs))
      }),

      transition: Effect.fn("InvoiceQueue.transition")(function* (pending) {
        const next = pending.map(transitionedRow)
        const outbox = pending.flatMap(({ invoice, transition: { emits } }, index) => {
          const row = next[index]!
          return emits === null
            ? []
            : [EventOutbox.make(emits, invoice.organization_id, toApi(row), row.updated_at, invoice.traceparent)]
        })
        const rows = pending.map((one, index) => toParameters(one, next[index]!))
        const transitioned = yield* sql<{ readonly id: Ids.InvoiceId }>`
          WITH ${applyTransitions(rows)}, ${outboxSteps(outbox)} SELECT id FROM transitioned
        `
        const ids = new Set(transitioned.map(({ id }) => id))
        return pending.map(({ invoice }) => ids.has(invoice.id))
      })
    }
  })
)
