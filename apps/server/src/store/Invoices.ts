/**
 * Keeps invoices: takes submissions, shows what became of them, hands out receipts. The engine moves them on.
 *
 * @since 0.1.0
 */
import { PgTypes } from "@effect/sql-pg"
import { CanonicalRequest, Ids, type Invoice, InvoiceState, type Mode } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer, Result } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import * as Availability from "../database/Availability.ts"
import * as Patience from "../database/Patience.ts"
import { InvoiceGateways } from "../gateway/InvoiceGateway.ts"
import * as Trace from "../observability/Trace.ts"
import * as NewId from "../security/NewId.ts"
import { columns, type InvoiceRow, toRecord } from "./InvoiceRow.ts"
import * as Milestone from "./Milestone.ts"
import * as Page from "./Page.ts"
import * as Together from "./Together.ts"

/**
 * There is no such invoice for this organization in this mode.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvoiceNotFound extends Data.TaggedError("InvoiceNotFound") {}

/**
 * The invoice is there, its receipt is not.
 *
 * @category errors
 * @since 0.1.0
 */
export class ReceiptNotAvailable extends Data.TaggedError("ReceiptNotAvailable") {}

/**
 * The idempotency key was used for another request.
 *
 * @category errors
 * @since 0.1.0
 */
export class IdempotencyConflict extends Data.TaggedError("IdempotencyConflict") {}

/**
 * No gateway is installed for the mode of the submission.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoGateway extends Data.TaggedError("NoGateway") {}

/**
 * A validated submission.
 *
 * @category models
 * @since 0.1.0
 */
export interface Submission extends CanonicalRequest.CanonicalRequest {
  readonly organizationId: Ids.OrganizationId
  readonly idempotencyKey: string
}

/**
 * The answer to a submission: the invoice as JSON, the same text every time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Submitted {
  readonly invoiceId: Ids.InvoiceId
  readonly body: string
  readonly replayed: boolean
}

/**
 * Whose invoices, in which mode.
 *
 * @category models
 * @since 0.1.0
 */
export interface Scope {
  readonly organizationId: Ids.OrganizationId
  readonly mode: Mode.Mode
}

/**
 * Which invoices are wanted.
 *
 * @category models
 * @since 0.1.0
 */
export interface Filter {
  readonly status?: InvoiceState.Status | undefined
  readonly mode?: Mode.Mode | undefined
}

/**
 * Service that stores and finds invoices.
 *
 * @category services
 * @since 0.1.0
 */
export class Invoices extends Context.Service<
  Invoices,
  {
    /** Durable when it returns: invoice, idempotency record, first event and its deliveries are committed together. */
    readonly submit: (submission: Submission) => Effect.Effect<Submitted, IdempotencyConflict | NoGateway>
    readonly find: (scope: Scope, id: string) => Effect.Effect<Invoice.Invoice, InvoiceNotFound>
    readonly list: (
      organizationId: Ids.OrganizationId,
      filter: Filter,
      page: Page.PageRequest
    ) => Effect.Effect<Page.Page<Invoice.Invoice>>
    readonly receipt: (
      scope: Scope,
      id: string
    ) => Effect.Effect<{ readonly xml: Uint8Array; readonly sha256: Uint8Array }, InvoiceNotFound | ReceiptNotAvailable>
  }
>()("@govoice/server/store/Invoices") {}

const newRow = ({ metadata, mode, scenario }: Submission, now: Date): InvoiceRow => ({
  id: NewId.at("inv", now.getTime()),
  mode,
  status: InvoiceState.initial,
  scenario,
  metadata,
  official_number: null,
  rejection: null,
  failure: null,
  upo_available: false,
  attempt_count: 0,
  next_attempt_at: null,
  created_at: now,
  updated_at: now,
  submitted_at: null,
  completed_at: null
})

interface Arrival {
  readonly submission: Submission
  readonly row: InvoiceRow
  readonly hash: Uint8Array
  readonly body: string
  readonly dueAt: number
  readonly milestone: Milestone.Milestone
}

const batches = { atOnce: 4, atMost: 32 }

// In UTF-16 code units.
const largest = 100_000

// A field of many rows as one parameter.
const column = <A>(type: keyof typeof PgTypes.OID, rows: ReadonlyArray<A>, field: (row: A) => unknown) =>
  Result.getOrThrow(PgTypes.array(rows.map(field), PgTypes.OID[type]))

const sha256 = (text: string): Uint8Array => createHash("sha256").update(text).digest()

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/**
 * Layer that provides `Invoices` from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Invoices, never, SqlClient.SqlClient | InvoiceGateways> = Layer.effect(
  Invoices,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const gateways = yield* InvoiceGateways
    const tail = yield* Page.makeTail
    const milestoneSteps = yield* Milestone.makeSteps
    const recordColumns = sql.literal(columns)

    // One statement, so one round trip and one transaction, for submissions that came together. A submission with the same
    // key that is under way is waited for; then nothing moves, and the record of the other can be read. Keys are taken in
    // their order, so that no two statements wait for each other.
    const insert = (arrivals: ReadonlyArray<Arrival>) => sql<{ readonly id: Ids.InvoiceId }>`
      WITH arrival AS MATERIALIZED (
        SELECT * FROM unnest(
          ${column("text", arrivals, ({ row }) => row.id)},
          ${column("text", arrivals, ({ submission }) => submission.organizationId)},
          ${column("text", arrivals, ({ row }) => row.mode)},
          ${column("text", arrivals, ({ row }) => row.status)},
          ${column("text", arrivals, ({ row }) => row.scenario)},
          ${column("text", arrivals, ({ row }) => JSON.stringify(row.metadata))},
          ${column("timestamptz", arrivals, ({ row }) => row.created_at.getTime())},
          ${column("timestamptz", arrivals, ({ dueAt }) => dueAt)},
          ${column("text", arrivals, ({ milestone }) => milestone.trace)},
          ${column("text", arrivals, ({ submission }) => submission.idempotencyKey)},
          ${column("bytea", arrivals, ({ hash }) => hash)},
          ${column("text", arrivals, ({ body }) => body)},
          ${column("text", arrivals, ({ submission }) => submission.invoiceXml)}
        ) AS arrival (
          id, organization_id, mode, status, scenario, metadata, created_at, due_at, trace, key, hash, body, xml
        )
      ), reserved AS (
        INSERT INTO idempotency_records
          (organization_id, mode, key, created_at, status, request_hash, invoice_id, body)
        SELECT organization_id, mode, key, created_at, 201, hash, id, body FROM arrival
        ORDER BY organization_id, mode, key
        ON CONFLICT DO NOTHING
        RETURNING invoice_id
      ), moved AS (
        INSERT INTO invoices
          (id, organization_id, mode, status, scenario, metadata, created_at, updated_at, due_at, trace)
        SELECT id, organization_id, mode, status, scenario, metadata::json, created_at, created_at, due_at, trace
        FROM arrival JOIN reserved ON invoice_id = id
        RETURNING id
      ), document AS (
        INSERT INTO invoice_documents (invoice_id, xml) SELECT id, xml FROM arrival JOIN moved USING (id)
      ), ${milestoneSteps(arrivals.map(({ milestone }) => milestone))}
      SELECT id FROM moved
    `

    // Bounded here, because those who wait for it cannot interrupt it: others may be in it.
    const write = (arrivals: ReadonlyArray<Arrival>) =>
      Effect.map(Patience.bounded(Patience.requestMs)(insert(arrivals)), (moved) => {
        const ids = new Set(moved.map(({ id }) => id))
        return arrivals.map(({ row }) => ids.has(row.id))
      })

    const writeTogether = yield* Together.make({ write, isShared: Availability.isUnavailable, ...batches })

    // A large document would keep the others waiting.
    const writeOne = (arrival: Arrival): Effect.Effect<boolean, SqlError.SqlError> =>
      arrival.submission.invoiceXml.length > largest
        ? Effect.map(write([arrival]), ([isNew]) => isNew === true)
        : writeTogether(arrival)

    const selectRecord = ({ idempotencyKey, mode, organizationId }: Submission) => sql<{
      readonly request_hash: Uint8Array
      readonly invoice_id: Ids.InvoiceId
      readonly body: string
    }>`
      SELECT request_hash, invoice_id, body FROM idempotency_records
      WHERE organization_id = ${organizationId} AND mode = ${mode} AND key = ${idempotencyKey}
    `

    const selectOne = ({ mode, organizationId }: Scope, id: Ids.InvoiceId) => sql<InvoiceRow>`
      SELECT ${recordColumns} FROM invoices
      WHERE organization_id = ${organizationId} AND mode = ${mode} AND id = ${id}
    `

    const selectPage = (organizationId: Ids.OrganizationId, { mode, status }: Filter, page: Page.PageRequest) =>
      sql<InvoiceRow>`
        SELECT ${recordColumns} FROM invoices
        WHERE organization_id = ${organizationId}
          ${status === undefined ? sql`` : sql`AND status = ${status}`}
          ${mode === undefined ? sql`` : sql`AND mode = ${mode}`}
          ${tail(page)}
      `

    const selectReceipt = ({ mode, organizationId }: Scope, id: Ids.InvoiceId) => sql<{
      readonly xml: Uint8Array | null
      readonly sha256: Uint8Array | null
    }>`
      SELECT xml, sha256 FROM invoices LEFT JOIN receipts ON invoice_id = id
      WHERE organization_id = ${organizationId} AND mode = ${mode} AND id = ${id}
    `

    const submit: Invoices["Service"]["submit"] = Effect.fn("Invoices.submit")(function* (submission) {
      const gateway = gateways[submission.mode]
      if (gateway === undefined) return yield* new NoGateway()

      const now = new Date(yield* Clock.currentTimeMillis)
      const row = newRow(submission, now)
      const invoice = toRecord(row)
      const body = JSON.stringify(invoice)
      const hash = CanonicalRequest.hash(submission, sha256)
      const trace = yield* Trace.current
      const milestone = Milestone.make(InvoiceState.emittedOnArrival, submission.organizationId, invoice, now, trace)
      const dueAt = now.getTime() + gateway.submitAfterMs(submission.scenario)

      const isNew = yield* Effect.orDie(writeOne({ submission, row, hash, body, dueAt, milestone }))
      if (isNew) return { invoiceId: row.id, body, replayed: false }

      const [first] = yield* Effect.orDie(selectRecord(submission))
      // The record was pruned in between: the key is free again.
      if (first === undefined) return yield* submit(submission)
      if (!sameBytes(first.request_hash, hash)) return yield* new IdempotencyConflict()
      return { invoiceId: first.invoice_id, body: first.body, replayed: true }
    })

    return {
      submit,

      find: Effect.fn("Invoices.find")(function* (scope, id) {
        const [row] = Ids.is("inv", id) ? yield* Effect.orDie(selectOne(scope, id)) : []
        return row === undefined ? yield* new InvoiceNotFound() : toRecord(row)
      }),

      list: Effect.fn("Invoices.list")(function* (organizationId, filter, page) {
        return Page.fromRows(yield* Effect.orDie(selectPage(organizationId, filter, page)), page, toRecord)
      }),

      receipt: Effect.fn("Invoices.receipt")(function* (scope, id) {
        const [row] = Ids.is("inv", id) ? yield* Effect.orDie(selectReceipt(scope, id)) : []
        if (row === undefined) return yield* new InvoiceNotFound()
        if (row.xml === null || row.sha256 === null) return yield* new ReceiptNotAvailable()
        return { xml: row.xml, sha256: row.sha256 }
      })
    }
  })
)
