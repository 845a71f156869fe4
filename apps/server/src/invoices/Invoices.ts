/**
 * Reads invoices and their receipts. Invoices that are looked up at the same time are read by one statement.
 */
import { Ids, type Invoice, type InvoiceState, type Metadata, type Mode } from "@govoice/core"
import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../database/Arrays.ts"
import * as Page from "../database/Page.ts"
import * as QueryTimeout from "../database/QueryTimeout.ts"
import * as SqlErrors from "../database/SqlErrors.ts"
import * as Batcher from "../jobs/Batcher.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import * as EventOutbox from "../webhooks/EventOutbox.ts"
import { columns, type InvoiceRow, toApi } from "./InvoiceRow.ts"

/** The organization has no such invoice, or not in this mode. */
export class InvoiceNotFound extends Data.TaggedError("InvoiceNotFound") {}

/** The invoice has no receipt. */
export class ReceiptNotAvailable extends Data.TaggedError("ReceiptNotAvailable") {}

/** The organization, and the mode if the caller has access to one only, as an API key has. */
export interface InvoiceScope {
  readonly organizationId: Ids.OrganizationId
  readonly mode?: Mode.Mode
}

/** The filters of a list. */
export interface InvoiceFilter {
  readonly status?: InvoiceState.Status | undefined
  readonly mode?: Mode.Mode | undefined
  /** Strings by name that the metadata has, among others. */
  readonly metadata?: Metadata.Metadata | undefined
  /** The invoice of an event. */
  readonly eventId?: string | undefined
  /** The invoice that was submitted with this key, in this mode. */
  readonly submission?: { readonly mode: Mode.Mode; readonly idempotencyKey: string } | undefined
}

/** A receipt (UPO) as it was received from the gateway. */
export interface StoredReceipt {
  readonly xml: Uint8Array
  readonly sha256: Uint8Array
}

/** Reads invoices. */
export class Invoices extends Context.Service<
  Invoices,
  {
    readonly find: (scope: InvoiceScope, id: string) => Effect.Effect<Invoice.Invoice, InvoiceNotFound>
    readonly list: (
      organizationId: Ids.OrganizationId,
      filter: InvoiceFilter,
      page: Page.PageRequest
    ) => Effect.Effect<Page.Page<Invoice.Invoice>>
    readonly receipt: (
      scope: InvoiceScope,
      id: string
    ) => Effect.Effect<StoredReceipt, InvoiceNotFound | ReceiptNotAvailable>
  }
>()("@govoice/server/invoices/Invoices") {}

// These statuses have an index of their own.
const isIndexed = (status: InvoiceState.Status): boolean =>
  status === "retrying" || status === "rejected" || status === "failed"

// Metadata has up to 27 KB, and is parsed for each examined invoice.
const maxParsed = 1000

const examinedBy = (metadata: InvoiceFilter["metadata"]): number =>
  metadata === undefined ? Page.maxExamined : maxParsed

interface LookUp {
  readonly scope: InvoiceScope
  readonly id: Ids.InvoiceId
}

const batches = { atOnce: 2, atMost: 32 }

/** Provides `Invoices` from a migrated database. */
export const layer: Layer.Layer<Invoices, never, SqlClient.SqlClient> = Layer.effect(
  Invoices,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tail = yield* Page.makeTail
    const recordColumns = sql.literal(columns)

    const inScope = ({ mode, organizationId }: InvoiceScope, id: Ids.InvoiceId) =>
      mode === undefined
        ? sql`organization_id = ${organizationId} AND id = ${id}`
        : sql`organization_id = ${organizationId} AND mode = ${mode} AND id = ${id}`

    // An index lookup for each, also when the statement was planned for a small table.
    const selectMany = (lookUps: ReadonlyArray<LookUp>) => sql<InvoiceRow & { readonly position: number }>`
      SELECT position::int4, record.* FROM unnest(
        ${column("text", lookUps, ({ scope }) => scope.organizationId)},
        ${column("text", lookUps, ({ scope }) => scope.mode ?? null)},
        ${column("text", lookUps, ({ id }) => id)}
      ) WITH ORDINALITY AS wanted (organization_id, mode, id, position)
      CROSS JOIN LATERAL (
        SELECT ${recordColumns} FROM invoices
        WHERE organization_id = wanted.organization_id AND (wanted.mode IS NULL OR mode = wanted.mode) AND id = wanted.id
        LIMIT 1
      ) record
    `

    // The timeout is here, because interrupting a caller does not cancel a statement that others share.
    const withTimeout = QueryTimeout.withSharedTimeout(yield* Effect.scope)
    const findMany = (lookUps: ReadonlyArray<LookUp>) =>
      Effect.map(withTimeout(selectMany(lookUps)), (rows) => {
        const found = Array<InvoiceRow | undefined>(lookUps.length).fill(undefined)
        for (const row of rows) found[row.position - 1] = row
        return found
      })

    const findBatched = yield* Batcher.make({ write: findMany, isShared: SqlErrors.isTransient, ...batches })

    const isOfSubmission = (
      organizationId: Ids.OrganizationId,
      { idempotencyKey, mode }: NonNullable<InvoiceFilter["submission"]>
    ) => sql`
      AND id = (
        SELECT invoice_id FROM idempotency_records
        WHERE organization_id = ${organizationId} AND mode = ${mode} AND key = ${idempotencyKey}
      )
    `

    const selectPage = (
      organizationId: Ids.OrganizationId,
      { eventId, mode, status, submission }: InvoiceFilter,
      page: Page.PageRequest
    ) => sql<InvoiceRow>`
      SELECT ${recordColumns} FROM invoices
      WHERE organization_id = ${organizationId}
        ${status === undefined ? sql`` : sql`AND status = ${status}`}
        ${mode === undefined ? sql`` : sql`AND mode = ${mode}`}
        ${eventId === undefined ? sql`` : sql`AND id = (${EventOutbox.selectInvoiceId(sql, organizationId, eventId)})`}
        ${submission === undefined ? sql`` : isOfSubmission(organizationId, submission)}
        ${tail(page)}
    `

    // Most invoices are accepted, and an index of their status or mode would cost each a write: a page of such a filter
    // examines the newest invoices, those of the status if it has an index.
    //
    // By `organization_id = …` the planner also takes the order of the primary key, and reads past the invoices of other
    // organizations. A limit whose value it knows makes it sort the whole organization where it expects few invoices; from a
    // subquery, whose value it does not know, it expects a tenth of the rows.
    const selectExamined = (
      organizationId: Ids.OrganizationId,
      { metadata, mode, status }: InvoiceFilter,
      page: Page.PageRequest
    ) => sql<InvoiceRow & Page.Examined>`
      WITH examined AS MATERIALIZED (
        SELECT id, status, mode ${metadata === undefined ? sql`` : sql`, metadata`} FROM invoices
        WHERE organization_id = ANY (ARRAY[${organizationId}])
          ${status !== undefined && isIndexed(status) ? sql`AND status = ${status}` : sql``}
          ${Page.bounds(sql, page)}
        ORDER BY organization_id, id DESC LIMIT (SELECT ${examinedBy(metadata)}::int)
      ), found AS MATERIALIZED (
        SELECT id FROM examined
        WHERE true ${status === undefined ? sql`` : sql`AND status = ${status}`} ${mode === undefined ? sql`` : sql`AND mode = ${mode}`}
          ${metadata === undefined ? sql`` : sql`AND metadata::jsonb @> ${JSON.stringify(metadata)}::text::jsonb`}
        ORDER BY id DESC LIMIT ${page.limit + 1}
      )
      SELECT last_examined, record.*
      FROM (SELECT CASE count(*) WHEN ${examinedBy(metadata)}::int THEN min(id) END AS last_examined FROM examined) AS examination
      LEFT JOIN (SELECT ${recordColumns} FROM invoices WHERE id IN (SELECT id FROM found)) AS record ON true
      ORDER BY id DESC
    `

    const selectReceipt = (scope: InvoiceScope, id: Ids.InvoiceId) => sql<{
      readonly xml: Uint8Array | null
      readonly sha256: Uint8Array | null
    }>`
      SELECT xml, sha256 FROM invoices LEFT JOIN receipts ON invoice_id = id WHERE ${inScope(scope, id)}
    `

    return {
      find: Effect.fnUntraced(function* (scope, id) {
        const row = Ids.is("inv", id) ? yield* Effect.orDie(findBatched({ scope, id })) : undefined
        return row === undefined ? yield* new InvoiceNotFound() : toApi(row)
      }, TraceContext.withSpan("Invoices.find")),

      list: Effect.fn("Invoices.list")(function* (organizationId, filter, page) {
        const { eventId, mode, status, submission } = filter
        if (eventId !== undefined && !Ids.is("evt", eventId)) return { records: [], hasMore: false }
        const isOne = eventId !== undefined || submission !== undefined
        const isFoundByIndex = isOne || (mode === undefined && (status === undefined || isIndexed(status)))
        if (!isFoundByIndex) {
          return Page.fromExamined(yield* Effect.orDie(selectExamined(organizationId, filter, page)), page, toApi)
        }
        return Page.fromRows(yield* Effect.orDie(selectPage(organizationId, filter, page)), page, toApi)
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
