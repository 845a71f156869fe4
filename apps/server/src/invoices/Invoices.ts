/**
 * Reads invoices and their receipts. Invoices that are looked up at the same time are read by one statement.
 */
import { Ids, type Invoice, type InvoiceState, type Metadata, type Mode } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { column } from "../database/Arrays.ts"
import { HotStatements } from "../database/HotStatements.ts"
import * as Page from "../database/Page.ts"
import * as Replica from "../database/Replica.ts"
import * as SqlErrors from "../database/SqlErrors.ts"
import { StatementTime } from "../database/StatementTime.ts"
import * as Batcher from "../jobs/Batcher.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import * as EventOutbox from "../deliveries/EventOutbox.ts"
import { columns, type InvoiceRow, toApi } from "./InvoiceRow.ts"
import * as SettledInvoices from "./SettledInvoices.ts"

/** The organization has no such invoice, or not in this mode. */
export class InvoiceNotFound extends Data.TaggedError("InvoiceNotFound") {}

/** The page may lack invoices that appear later, and has to be read again with the settled time. */
export class SettledTimeNeeded extends Data.TaggedError("SettledTimeNeeded") {}

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
  /** The number that the seller gave the invoice. */
  readonly number?: string | undefined
  readonly officialNumber?: string | undefined
  readonly buyerTaxId?: string | undefined
  readonly sellerTaxId?: string | undefined
  /** The invoice of an event. */
  readonly eventId?: string | undefined
  /** The invoice that was submitted with this key, in this mode. */
  readonly submission?: { readonly mode: Mode.Mode; readonly idempotencyKey: string } | undefined
  /** Whether a replica may serve the page, unless the filter names one invoice or the reader follows the list. */
  readonly mayBeLate?: boolean | undefined
  /** Only invoices before which no other one can appear any more, for a reader who follows the list. */
  readonly isSettled?: boolean | undefined
  /** The time before which none can, as far as it is known. */
  readonly settledTime?: number | undefined
}

/** An XML file as it was received: a receipt (UPO) from the gateway, or a document from the sender. */
export interface StoredFile {
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
    ) => Effect.Effect<Page.Page<Invoice.Invoice>, SettledTimeNeeded>
    /** Waits for the time before which no invoice can appear any more. */
    readonly settledTime: Effect.Effect<number>
    readonly receipt: (
      scope: InvoiceScope,
      id: string
    ) => Effect.Effect<StoredFile, InvoiceNotFound | ReceiptNotAvailable>
    readonly document: (scope: InvoiceScope, id: string) => Effect.Effect<StoredFile, InvoiceNotFound>
  }
>()("@govoice/server/invoices/Invoices") {}

// These statuses have an index of their own.
const isIndexed = (status: InvoiceState.Status): boolean =>
  status === "retrying" || status === "rejected" || status === "failed"

// Metadata has up to 150 KB of JSON. A page ends with the invoice with which it has so much of it, and is parsed for each examined
// invoice.
const maxMetadataBytes = 4_000_000
const maxParsed = 1000

/** The number of rows of a page before those were left out that would be too much. */
interface Measured {
  readonly row_count: number
}

// A page that is cut has fewer records than were asked for.
const cutPage = (rows: ReadonlyArray<InvoiceRow & Measured>): Page.Page<Invoice.Invoice> | undefined =>
  rows.length > 0 && rows.length < rows[0]!.row_count ? { records: rows.map(toApi), hasMore: true } : undefined

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
    const settledTime = yield* SettledInvoices.makeTime
    const lateRead = yield* Replica.LateRead
    const statementTime = (yield* StatementTime)(sql)
    const recordColumns = Effect.map(statementTime, (now) => columns(sql, now))

    const inScope = ({ mode, organizationId }: InvoiceScope, id: Ids.InvoiceId) =>
      mode === undefined
        ? sql`invoices.organization_id = ${organizationId} AND id = ${id}`
        : sql`invoices.organization_id = ${organizationId} AND mode = ${mode} AND id = ${id}`

    // An index lookup for each, also when the statement was planned for a small table.
    const selectMany = (lookUps: ReadonlyArray<LookUp>, record: Statement.Fragment) => sql<
      InvoiceRow & { readonly position: number }
    >`
      SELECT position::int4, record.* FROM unnest(
        ${column("text", lookUps, ({ scope }) => scope.organizationId)},
        ${column("text", lookUps, ({ scope }) => scope.mode ?? null)},
        ${column("text", lookUps, ({ id }) => id)}
      ) WITH ORDINALITY AS wanted (organization_id, mode, id, position)
      CROSS JOIN LATERAL (
        SELECT ${record} FROM invoices
        WHERE organization_id = wanted.organization_id AND (wanted.mode IS NULL OR mode = wanted.mode) AND id = wanted.id
        LIMIT 1
      ) record
    `

    const findMany = (lookUps: ReadonlyArray<LookUp>) =>
      Effect.gen(function* () {
        const rows = yield* selectMany(lookUps, yield* recordColumns)
        const found = Array<InvoiceRow | undefined>(lookUps.length).fill(undefined)
        for (const row of rows) found[row.position - 1] = row
        return found
      })

    const hotStatements = yield* HotStatements
    hotStatements.add("invoice", findMany([]))
    const findBatched = yield* Batcher.make({ write: findMany, isShared: SqlErrors.isTransient, ...batches })

    const orderOf = ({ isAscending = false }: Page.PageRequest) => (isAscending ? sql`ASC` : sql`DESC`)

    const isOfSubmission = (
      organizationId: Ids.OrganizationId,
      { idempotencyKey, mode }: NonNullable<InvoiceFilter["submission"]>
    ) => sql`
      AND id = (
        SELECT invoice_id FROM idempotency_records
        WHERE organization_id = ${organizationId} AND mode = ${mode} AND key = ${idempotencyKey}
      )
    `

    const withinBytes = (page: Page.PageRequest, rows: Statement.Fragment) => sql`
      SELECT * FROM (
        SELECT *, count(*) OVER ()::int AS row_count, sum(octet_length(metadata::text)) OVER (
          ORDER BY id ${orderOf(page)} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS bytes_before
        FROM (${rows}) AS records
      ) AS measured
      WHERE coalesce(bytes_before < ${maxMetadataBytes}::int, true) ORDER BY id ${orderOf(page)}
    `

    // Conditions on a row of `invoices`.
    const isStatus = (status: InvoiceState.Status | undefined) =>
      status === undefined ? sql`` : sql`AND status = ${status}`
    const isMode = (mode: Mode.Mode | undefined) => (mode === undefined ? sql`` : sql`AND mode = ${mode}`)
    const hasMetadata = (metadata: Metadata.Metadata | undefined) =>
      metadata === undefined ? sql`` : sql`AND metadata::jsonb @> ${JSON.stringify(metadata)}::text::jsonb`
    const saysOfDocument = ({ buyerTaxId, number, sellerTaxId }: InvoiceFilter) => sql`
      ${number === undefined ? sql`` : sql`AND document ->> 'number' = ${number}`}
      ${buyerTaxId === undefined ? sql`` : sql`AND document #>> '{buyer,tax_id}' = ${buyerTaxId}`}
      ${sellerTaxId === undefined ? sql`` : sql`AND document #>> '{seller,tax_id}' = ${sellerTaxId}`}
    `

    // A number is of one invoice, or of a few that the sandbox numbered alike.
    const hasOfficialNumber = (officialNumber: string) =>
      sql`AND id = ANY (ARRAY(SELECT id FROM invoices WHERE official_number = ${officialNumber}))`

    const selectPage = (
      organizationId: Ids.OrganizationId,
      filter: InvoiceFilter,
      page: Page.PageRequest,
      record: Statement.Fragment
    ) => {
      const { eventId, metadata, mode, officialNumber, status, submission } = filter
      return sql<InvoiceRow & Measured>`${withinBytes(
        page,
        sql`
          SELECT ${record} FROM invoices
          WHERE organization_id = ${organizationId} ${isStatus(status)} ${isMode(mode)} ${hasMetadata(metadata)}
            ${saysOfDocument(filter)} ${officialNumber === undefined ? sql`` : hasOfficialNumber(officialNumber)}
            ${eventId === undefined ? sql`` : sql`AND id = (${EventOutbox.selectInvoiceId(sql, organizationId, eventId)})`}
            ${submission === undefined ? sql`` : isOfSubmission(organizationId, submission)}
            ${tail(page)}
        `
      )}`
    }

    // The documents that the most selective condition names; the others are checked for each of them.
    const selectNamed = ({ buyerTaxId, number, sellerTaxId }: InvoiceFilter): Statement.Fragment | undefined => {
      const named = (condition: Statement.Fragment) =>
        sql`
          SELECT organization_id, id FROM (
            SELECT organization_id, invoice_id AS id FROM invoice_documents WHERE form_code IS NOT NULL AND ${condition}
          ) AS named
        `
      if (number !== undefined) return named(sql`invoice_number = ${number}`)
      if (buyerTaxId !== undefined) return named(sql`buyer_tax_id = ${buyerTaxId}`)
      return sellerTaxId === undefined ? undefined : named(sql`seller_nip = ${sellerTaxId}`)
    }

    // Most invoices are accepted, and an index of their status or mode would cost each a write: a page of such a filter
    // examines the newest invoices, those of the status if it has an index, or those that the document names.
    //
    // By `organization_id = …` the planner also takes the order of the primary key, and reads past the invoices of other
    // organizations. A limit whose value it knows makes it sort the whole organization where it expects few invoices; from a
    // subquery, whose value it does not know, it expects a tenth of the rows.
    const selectExamined = (
      organizationId: Ids.OrganizationId,
      filter: InvoiceFilter,
      page: Page.PageRequest,
      record: Statement.Fragment
    ) => {
      const { metadata, mode, status } = filter
      const maxExamined = metadata === undefined ? Page.maxExamined : maxParsed
      const [order, last, isUpTo] =
        page.isAscending === true
          ? [sql`organization_id DESC, id ASC`, sql`max(id)`, sql`<=`]
          : [sql`organization_id ASC, id DESC`, sql`min(id)`, sql`>=`]
      const named = selectNamed(filter)
      const conditions = sql`${isStatus(status)} ${isMode(mode)} ${hasMetadata(metadata)}`
      const examined =
        named ??
        sql`SELECT organization_id, id, status, mode ${metadata === undefined ? sql`` : sql`, metadata`} FROM invoices`
      const isWanted =
        named === undefined
          ? sql`true ${conditions}`
          : sql`EXISTS (
              SELECT FROM invoices WHERE invoices.id = examined.id ${conditions} ${saysOfDocument(filter)} OFFSET 0
            )`
      const bytes =
        named === undefined
          ? sql`octet_length(metadata::text)`
          : sql`(SELECT octet_length(metadata::text) FROM invoices WHERE invoices.id = examined.id)`
      // In the order of the page, so that the sum ends with the first invoice that reaches the limit.
      const lastParsed = sql`
        SELECT id FROM (
          SELECT organization_id, id, sum(${bytes}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS bytes FROM examined
        ) AS parsed
        WHERE bytes >= ${maxMetadataBytes}::int ORDER BY ${order} LIMIT 1
      `
      return sql<InvoiceRow & Page.Examined & Measured>`
        WITH examined AS MATERIALIZED (
          ${examined}
          WHERE organization_id = ANY (ARRAY[${organizationId}])
            ${named === undefined && status !== undefined && isIndexed(status) ? isStatus(status) : sql``}
            ${Page.bounds(sql, page)}
          ORDER BY ${order} LIMIT (SELECT ${maxExamined}::int)
        ), examination AS MATERIALIZED (
          SELECT coalesce(
            (${metadata === undefined ? sql`NULL` : lastParsed}),
            (SELECT CASE count(*) WHEN ${maxExamined}::int THEN ${last} END FROM examined)
          ) AS last_examined
        ), found AS MATERIALIZED (
          SELECT id FROM examined
          WHERE coalesce(id ${isUpTo} (SELECT last_examined FROM examination), true) AND ${isWanted}
          ORDER BY ${order} LIMIT ${page.limit + 1}
        )
        ${withinBytes(
          page,
          sql`
            SELECT last_examined, record.*
            FROM examination
            LEFT JOIN (SELECT ${record} FROM invoices WHERE id IN (SELECT id FROM found)) AS record ON true
          `
        )}
      `
    }

    const selectReceipt = (scope: InvoiceScope, id: Ids.InvoiceId) => sql<{
      readonly xml: Uint8Array | null
      readonly sha256: Uint8Array | null
    }>`
      SELECT xml, sha256(xml) FROM invoices LEFT JOIN LATERAL (SELECT xml FROM receipts WHERE invoice_id = id) AS receipt ON true
      WHERE ${inScope(scope, id)}
    `

    const selectDocument = (scope: InvoiceScope, id: Ids.InvoiceId) => sql<StoredFile>`
      SELECT convert_to(xml, 'UTF8') AS xml, sha256
      FROM invoices CROSS JOIN LATERAL (SELECT xml, sha256 FROM invoice_documents WHERE invoice_id = id) AS document
      WHERE ${inScope(scope, id)}
    `

    const read = Effect.fnUntraced(function* (
      organizationId: Ids.OrganizationId,
      filter: InvoiceFilter,
      page: Page.PageRequest
    ) {
      const { eventId, metadata, mode, officialNumber, status, submission } = filter
      if (eventId !== undefined && !Ids.is("evt", eventId)) return { records: [], hasMore: false }
      const isOne = eventId !== undefined || submission !== undefined || officialNumber !== undefined
      const run: Replica.LateRead =
        filter.mayBeLate === true && !isOne && filter.isSettled !== true ? lateRead : (statement) => statement
      const record = yield* recordColumns
      const isWide = selectNamed(filter) !== undefined || metadata !== undefined || mode !== undefined
      if (!isOne && (isWide || (status !== undefined && !isIndexed(status)))) {
        const rows = yield* Effect.orDie(run(selectExamined(organizationId, filter, page, record)))
        return cutPage(rows) ?? Page.fromExamined(rows, page, toApi)
      }
      const rows = yield* Effect.orDie(run(selectPage(organizationId, filter, page, record)))
      return cutPage(rows) ?? Page.fromRows(rows, page, toApi)
    })

    return {
      find: Effect.fnUntraced(function* (scope, id) {
        const row = Ids.is("inv", id) ? yield* Effect.orDie(findBatched({ scope, id })) : undefined
        return row === undefined ? yield* new InvoiceNotFound() : toApi(row)
      }, TraceContext.withSpan("Invoices.find")),

      list: Effect.fn("Invoices.list")(function* (organizationId, filter, page) {
        const { isSettled, settledTime: before } = filter
        if (before !== undefined) return yield* read(organizationId, filter, Page.within(page, "inv", { before }))
        const found = yield* read(organizationId, filter, page)
        if (isSettled !== true) return found
        // Of an ascending list, a page of old invoices is complete.
        const last = page.isAscending === true && found.hasMore ? found.records.at(-1) : undefined
        const old = (yield* Clock.currentTimeMillis) - SettledInvoices.settledMs
        return last !== undefined && Date.parse(last.created_at) < old ? found : yield* new SettledTimeNeeded()
      }),

      settledTime: Effect.orDie(settledTime),

      receipt: Effect.fn("Invoices.receipt")(function* (scope, id) {
        const [row] = Ids.is("inv", id) ? yield* Effect.orDie(selectReceipt(scope, id)) : []
        if (row === undefined) return yield* new InvoiceNotFound()
        if (row.xml === null || row.sha256 === null) return yield* new ReceiptNotAvailable()
        return { xml: row.xml, sha256: row.sha256 }
      }),

      document: Effect.fn("Invoices.document")(function* (scope, id) {
        const [row] = Ids.is("inv", id) ? yield* Effect.orDie(selectDocument(scope, id)) : []
        return row ?? (yield* new InvoiceNotFound())
      })
    }
  })
)
