/**
 * The invoices that something is left to do for, as a queue in the `invoices` table.
 *
 * A claim takes an invoice for the length of a lease and raises its fencing number; whoever writes names the number it
 * was given, so a worker that comes back late writes nothing.
 *
 * @since 0.1.0
 */
import { type Ids, type Invoice, type InvoiceEvent, type InvoiceState } from "@govoice/core"
import { Clock, Context, Effect, Layer } from "effect"
import { PgTypes } from "@effect/sql-pg"
import { SqlClient, type Statement } from "effect/sql"
import { createHash } from "node:crypto"
import { type InvoiceRow, toRecord } from "../store/InvoiceRow.ts"
import * as Milestone from "../store/Milestone.ts"

/**
 * An invoice in the hands of a worker.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClaimedInvoice extends InvoiceRow {
  readonly organization_id: Ids.OrganizationId
  readonly reference: string | null
  readonly xml: string
  /** The fencing number of this claim. */
  readonly claims: number
}

/**
 * What a worker writes when it lets go of an invoice: what changed, and when something is due next.
 *
 * @category models
 * @since 0.1.0
 */
export interface Move {
  readonly status: InvoiceState.Status
  readonly dueAt: Date | null
  readonly emits: InvoiceEvent.EventType | null
  readonly nextAttemptAt?: Date | null
  readonly submittedAt?: Date
  readonly completedAt?: Date
  readonly officialNumber?: string
  readonly reference?: string
  readonly rejection?: Invoice.Reason
  readonly failure?: Invoice.Reason | null
  readonly receipt?: Uint8Array
}

/**
 * Service that claims invoices and lets go of them.
 *
 * @category services
 * @since 0.1.0
 */
export class InvoiceQueue extends Context.Service<
  InvoiceQueue,
  {
    readonly claim: (limit: number, leaseMs: number) => Effect.Effect<ReadonlyArray<ClaimedInvoice>>
    /** Writes a move. `false` when the invoice is in other hands by now, and nothing was written. */
    readonly move: (invoice: ClaimedInvoice, move: Move) => Effect.Effect<boolean>
    /** When the next invoice after a point in time is due. Both in milliseconds since the epoch. */
    readonly nextDueAfter: (milliseconds: number) => Effect.Effect<number | undefined>
  }
>()("@govoice/server/engine/InvoiceQueue") {}

const jsonb = (value: unknown) => (value === null ? null : PgTypes.jsonb(value))

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
    const milestoneSteps = yield* Milestone.makeSteps

    // The attempt of a submission is counted here, before the gateway hears of it.
    const claimDue = (limit: number, now: Date, lease: Date) => sql<ClaimedInvoice>`
      WITH due AS (
        SELECT id FROM invoices WHERE due_at <= ${now} ORDER BY due_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      UPDATE invoices SET
        status          = CASE WHEN status IN ('queued', 'retrying') THEN 'submitting' ELSE status END,
        attempt_count   = attempt_count + CASE WHEN status IN ('queued', 'retrying', 'submitting') THEN 1 ELSE 0 END,
        next_attempt_at = NULL,
        claims          = claims + 1,
        due_at          = ${lease},
        updated_at      = ${now}
      FROM due JOIN invoice_documents ON invoice_id = due.id
      WHERE invoices.id = due.id
      RETURNING invoices.*, xml
    `

    const updateMoved = (invoice: ClaimedInvoice, next: InvoiceRow, dueAt: Date | null, reference: string | null) => sql`
      UPDATE invoices SET
        status          = ${next.status},
        upo_available   = ${next.upo_available},
        official_number = ${next.official_number},
        rejection       = ${jsonb(next.rejection)}::jsonb,
        failure         = ${jsonb(next.failure)}::jsonb,
        next_attempt_at = ${next.next_attempt_at}::timestamptz,
        submitted_at    = ${next.submitted_at}::timestamptz,
        completed_at    = ${next.completed_at}::timestamptz,
        updated_at      = ${next.updated_at},
        reference       = ${reference},
        due_at          = ${dueAt}::timestamptz
      WHERE id = ${invoice.id} AND claims = ${invoice.claims} AND due_at IS NOT NULL
      RETURNING id
    `

    const insertReceipt = (xml: Uint8Array, at: Date) => sql`
      INSERT INTO receipts (invoice_id, created_at, sha256, xml)
      SELECT id, ${at}, ${createHash("sha256").update(xml).digest()}, ${xml} FROM moved
      ON CONFLICT ON CONSTRAINT receipts_pkey DO NOTHING
    `

    const selectNextDue = (after: Date) => sql<{ readonly due_at: Date | null }>`
      SELECT min(due_at) AS due_at FROM invoices WHERE due_at > ${after}
    `

    return {
      claim: Effect.fn("InvoiceQueue.claim")(function* (limit, leaseMs) {
        const now = yield* Clock.currentTimeMillis
        return yield* Effect.orDie(claimDue(limit, new Date(now), new Date(now + leaseMs)))
      }),

      move: Effect.fn("InvoiceQueue.move")(function* (invoice, move) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const next: InvoiceRow = {
          ...invoice,
          status: move.status,
          updated_at: now,
          upo_available: invoice.upo_available || move.receipt !== undefined,
          official_number: move.officialNumber ?? invoice.official_number,
          rejection: move.rejection ?? invoice.rejection,
          failure: move.failure === undefined ? invoice.failure : move.failure,
          next_attempt_at: move.nextAttemptAt ?? null,
          submitted_at: move.submittedAt ?? invoice.submitted_at,
          completed_at: move.completedAt ?? invoice.completed_at
        }
        const steps: Array<Statement.Fragment> = [sql`moved AS (${updateMoved(invoice, next, move.dueAt, move.reference ?? invoice.reference)})`]
        if (move.emits !== null) {
          steps.push(milestoneSteps(Milestone.make(move.emits, invoice.organization_id, toRecord(next), now)))
        }
        if (move.receipt !== undefined) steps.push(sql`receipt AS (${insertReceipt(move.receipt, now)})`)

        const moved = yield* Effect.orDie(sql`WITH ${sql.csv(steps)} SELECT id FROM moved`)
        return moved.length > 0
      }),

      nextDueAfter: (milliseconds) =>
        Effect.map(Effect.orDie(selectNextDue(new Date(milliseconds))), ([row]) => row?.due_at?.getTime())
    }
  })
)
