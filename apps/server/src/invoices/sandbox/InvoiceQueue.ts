/**
 * The queue of unfinished invoices of test mode, which is the `invoices` table. Those of live mode are in `LaneQueue`.
 *
 * A claim leases an invoice and increases its fencing token. Every later write has to match the token, so that a worker
 * whose lease was lost writes nothing.
 *
 * A claim takes the invoices that have been due for longest. When more are due than it takes, every second claim serves
 * organizations in turn instead, so that the backlog of one does not delay the others.
 */
import { PgTypes } from "@effect/sql-pg"
import type { Ids } from "@govoice/core"
import { Backoff } from "@govoice/dispatcher"
import { Clock, Context, Effect, Layer, Ref } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { StatementTime } from "../../database/StatementTime.ts"
import * as Interruptions from "../../jobs/Interruptions.ts"
import type { ClaimedInvoice, PendingTransition } from "../ClaimedInvoice.ts"
import * as InvoiceTransitions from "./InvoiceTransitions.ts"
import * as TransitionSteps from "../TransitionSteps.ts"

/** The result of a claim. */
export interface InvoiceClaim {
  readonly invoices: ReadonlyArray<ClaimedInvoice>
  /** The number of expired leases that were counted as interruptions. */
  readonly interrupted: number
  /** When the next invoice is due, in milliseconds since the epoch; absent when all are finished. */
  readonly nextDueAt: number | undefined
}

/** How much to claim. */
export interface InvoiceClaimOptions {
  readonly limit: number
  readonly leaseMs: number
}

/** Service that claims invoices and writes their transitions. */
export class InvoiceQueue extends Context.Service<
  InvoiceQueue,
  {
    /** Claims due invoices that are not in quarantine, and reschedules those whose lease expired. */
    readonly claim: (options: InvoiceClaimOptions) => Effect.Effect<InvoiceClaim, SqlError.SqlError>
    /** Claims due invoices in quarantine. */
    readonly claimQuarantined: (
      options: InvoiceClaimOptions
    ) => Effect.Effect<ReadonlyArray<ClaimedInvoice>, SqlError.SqlError>
    /** Writes transitions, and returns for each whether its lease was still valid. */
    readonly transition: (
      pending: ReadonlyArray<PendingTransition>
    ) => Effect.Effect<ReadonlyArray<boolean>, SqlError.SqlError>
  }
>()("@govoice/server/invoices/sandbox/InvoiceQueue") {}

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

// The attempt that this claim is for is stored by its transition.
const claimedOf = (rows: ReadonlyArray<ClaimRow>): ReadonlyArray<ClaimedInvoice> =>
  rows
    .filter((row) => row.id !== null)
    .map((row) => (row.status === "submitting" ? { ...row, attempt_count: row.attempt_count + 1 } : row))

/** Layer that provides `InvoiceQueue` from a migrated database. */
export const layer: Layer.Layer<InvoiceQueue, never, SqlClient.SqlClient> = Layer.effect(
  InvoiceQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)
    const interruptionWait = Interruptions.makeWait(sql, Backoff.defaultSchedule)
    const claimable = sql`(interruption_count < ${Interruptions.quarantineAfter}::int OR is_leased)`
    const transitionSteps = yield* TransitionSteps.make
    const fence = sql`invoices.fencing_token = transition.fencing_token AND is_leased`
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

    // Scans the organizations with unfinished invoices, one index lookup each.
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
        const transitioned = yield* sql<{ readonly id: Ids.InvoiceId }>`
          WITH ${transitionSteps(pending, fence)} SELECT id FROM transitioned
        `
        const ids = new Set(transitioned.map(({ id }) => id))
        return pending.map(({ invoice }) => ids.has(invoice.id))
      })
    }
  })
)
