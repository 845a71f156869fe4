/**
 * The invoices that something is left to do for, as a queue in the `invoices` table.
 *
 * A claim takes an invoice for the length of a lease and raises its fencing number; whoever writes names the number it
 * was given, so a worker that comes back late writes nothing.
 *
 * The invoices that have been due for longest come first. When more are due than a claim takes, every second claim goes
 * by organization instead, so that a backlog of one does not hold up the others.
 *
 * @since 0.1.0
 */
import { PgTypes } from "@effect/sql-pg"
import type { Ids, Invoice, InvoiceEvent, InvoiceState } from "@govoice/core"
import { Clock, Context, Effect, Layer, Ref } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
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
  readonly trace: string | null
  readonly xml: string
  /** The fencing number of this claim. */
  readonly claims: number
  /** Whether the claim takes over from a worker that let its lease run out. */
  readonly taken_over: boolean
}

/**
 * What a worker writes when it lets go of an invoice: what changed, and when something is due next.
 *
 * @category models
 * @since 0.1.0
 */
export interface Move {
  readonly status: InvoiceState.Status
  /** When it happened. */
  readonly at: Date
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
 * An invoice and where it goes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Moving {
  readonly invoice: ClaimedInvoice
  readonly move: Move
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
    readonly claim: (options: { readonly limit: number; readonly leaseMs: number }) => Effect.Effect<
      {
        readonly invoices: ReadonlyArray<ClaimedInvoice>
        /** When the next one is due, in milliseconds since the epoch; absent when nothing is left to do. */
        readonly nextDueAt: number | undefined
      },
      SqlError.SqlError
    >
    /** Writes moves, and says of each whether the invoice was still in these hands. */
    readonly move: (moving: ReadonlyArray<Moving>) => Effect.Effect<ReadonlyArray<boolean>, SqlError.SqlError>
  }
>()("@govoice/server/engine/InvoiceQueue") {}

// How many organizations a claim by organization looks at, and how many invoices it takes of one.
const turns = 50
const ofEach = 5

interface NextDue {
  readonly next_due_at: Date | null
  readonly last_organization_id: string | null
}

type ClaimRow = NextDue & (ClaimedInvoice | { readonly id: null })

// Where the next claim by organization begins. A full claim did not get to the end of its walk; a walk that found nobody
// was at the end of the round.
const endOf = (invoices: ReadonlyArray<ClaimedInvoice>, limit: number, last: string | null): string =>
  invoices.length === limit
    ? invoices.reduce((max, { organization_id: id }) => (id > max ? id : max), "")
    : (last ?? "")

const following = ({ invoice, move }: Moving): InvoiceRow => ({
  ...invoice,
  status: move.status,
  updated_at: move.at,
  upo_available: invoice.upo_available || move.receipt !== undefined,
  official_number: move.officialNumber ?? invoice.official_number,
  rejection: move.rejection ?? invoice.rejection,
  failure: move.failure === undefined ? invoice.failure : move.failure,
  next_attempt_at: move.nextAttemptAt ?? null,
  submitted_at: move.submittedAt ?? invoice.submitted_at,
  completed_at: move.completedAt ?? invoice.completed_at
})

// The columns that moving an invoice may change, as the statement reads them.
const toParameters = ({ invoice, move }: Moving, next: InvoiceRow) => ({
  id: next.id,
  claims: invoice.claims,
  status: next.status,
  upo_available: next.upo_available,
  official_number: next.official_number,
  rejection: next.rejection,
  failure: next.failure,
  next_attempt_at: next.next_attempt_at,
  submitted_at: next.submitted_at,
  completed_at: next.completed_at,
  updated_at: next.updated_at,
  reference: move.reference ?? invoice.reference,
  due_at: move.dueAt,
  receipt: move.receipt === undefined ? null : Buffer.from(move.receipt).toString("base64")
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
    const milestoneSteps = yield* Milestone.makeSteps
    const order = yield* Ref.make<{ readonly byOrganization: boolean; readonly lastServed: string }>({
      byOrganization: false,
      lastServed: ""
    })

    const oldest = (limit: number, now: Date) => sql`
      turn AS (SELECT NULL::text AS organization_id), due AS MATERIALIZED (
        SELECT id, held AS taken_over FROM invoices WHERE due_at <= ${now}
        ORDER BY due_at, id LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
      )
    `

    // Walks the organizations that have anything left to do, one index look-up each.
    const inTurns = (after: string, limit: number, now: Date) => sql`
      turn (organization_id, position) AS (
        (
          SELECT organization_id, 1 FROM invoices WHERE due_at IS NOT NULL AND organization_id > ${after}
          ORDER BY organization_id, due_at, id LIMIT 1
        )
        UNION ALL
        SELECT next.organization_id, position + 1
        FROM turn CROSS JOIN LATERAL (
          SELECT organization_id FROM invoices WHERE due_at IS NOT NULL AND organization_id > turn.organization_id
          ORDER BY organization_id, due_at, id LIMIT 1
        ) AS next
        WHERE position < ${turns}::int
      ), due AS MATERIALIZED (
        SELECT oldest.* FROM turn CROSS JOIN LATERAL (
          SELECT id, held AS taken_over FROM invoices
          WHERE organization_id = turn.organization_id AND due_at <= ${now}
          ORDER BY organization_id, due_at, id LIMIT ${ofEach}::int FOR UPDATE SKIP LOCKED
        ) AS oldest
        LIMIT ${limit}::int
      )
    `

    // The attempt of a submission is counted here, before the gateway hears of it.
    const claimDue = (due: Statement.Fragment, now: Date, lease: Date) => sql<ClaimRow>`
      WITH RECURSIVE ${due}, claimed AS (
        UPDATE invoices SET
          status          = CASE WHEN status IN ('queued', 'retrying') THEN 'submitting' ELSE status END,
          attempt_count   = attempt_count + CASE WHEN status IN ('queued', 'retrying', 'submitting') THEN 1 ELSE 0 END,
          next_attempt_at = NULL,
          claims          = claims + 1,
          held            = true,
          due_at          = ${lease},
          updated_at      = ${now}
        FROM due WHERE invoices.id = due.id
        RETURNING invoices.*, taken_over
      )
      SELECT claimed.*, xml, next.due_at AS next_due_at,
             (SELECT max(organization_id) FROM turn) AS last_organization_id
      FROM (
        SELECT (SELECT due_at FROM invoices WHERE due_at > ${now} ORDER BY due_at, id LIMIT 1) AS due_at
      ) AS next
      LEFT JOIN (claimed JOIN invoice_documents ON invoice_id = claimed.id) ON true
    `

    const updateMoved = (rows: ReadonlyArray<ReturnType<typeof toParameters>>) => sql`
      move AS MATERIALIZED (
        SELECT * FROM json_to_recordset(${PgTypes.json(rows)}) AS move (
          id text, claims int, status text, upo_available boolean, official_number text, rejection jsonb, failure jsonb,
          next_attempt_at timestamptz, submitted_at timestamptz, completed_at timestamptz, updated_at timestamptz,
          reference text, due_at timestamptz, receipt text
        )
      ), moved AS (
        UPDATE invoices SET
          status          = move.status,
          upo_available   = move.upo_available,
          official_number = move.official_number,
          rejection       = move.rejection,
          failure         = move.failure,
          next_attempt_at = move.next_attempt_at,
          submitted_at    = move.submitted_at,
          completed_at    = move.completed_at,
          updated_at      = move.updated_at,
          reference       = move.reference,
          held            = false,
          due_at          = move.due_at
        FROM move
        WHERE invoices.id = move.id AND invoices.claims = move.claims AND held
        RETURNING invoices.id
      ), receipt AS (
        INSERT INTO receipts (invoice_id, created_at, sha256, xml)
        SELECT id, updated_at, sha256(decode(receipt, 'base64')), decode(receipt, 'base64')
        FROM move JOIN moved USING (id)
        WHERE receipt IS NOT NULL
        ON CONFLICT ON CONSTRAINT receipts_pkey DO NOTHING
      )
    `

    return {
      claim: Effect.fn("InvoiceQueue.claim")(function* ({ leaseMs, limit }) {
        const now = yield* Clock.currentTimeMillis
        const at = new Date(now)
        const { byOrganization, lastServed } = yield* Ref.get(order)
        const due = byOrganization ? inTurns(lastServed, limit, at) : oldest(limit, at)
        const rows = yield* claimDue(due, at, new Date(now + leaseMs))
        const invoices = rows.filter((row) => row.id !== null)
        const { last_organization_id: last, next_due_at: next } = rows[0]!
        const backlog = byOrganization || invoices.length === limit

        yield* Ref.set(order, {
          byOrganization: !byOrganization && invoices.length === limit,
          lastServed: byOrganization ? endOf(invoices, limit, last) : lastServed
        })
        return { invoices, nextDueAt: backlog ? now : next?.getTime() }
      }),

      move: Effect.fn("InvoiceQueue.move")(function* (moving) {
        const next = moving.map(following)
        const milestones = moving.flatMap(({ invoice, move }, index) =>
          move.emits === null
            ? []
            : [Milestone.make(move.emits, invoice.organization_id, toRecord(next[index]!), move.at, invoice.trace)]
        )
        const rows = moving.map((one, index) => toParameters(one, next[index]!))
        const moved = yield* sql<{ readonly id: Ids.InvoiceId }>`
          WITH ${updateMoved(rows)}, ${milestoneSteps(milestones)} SELECT id FROM moved
        `
        const ids = new Set(moved.map(({ id }) => id))
        return moving.map(({ invoice }) => ids.has(invoice.id))
      })
    }
  })
)
