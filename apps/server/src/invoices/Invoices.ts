/**
 * Reads invoices and their receipts.
 */
import { Ids, type Invoice, type InvoiceState, type Mode } from "@govoice/core"
import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Page from "../database/Page.ts"
import { columns, type InvoiceRow, toApi } from "./InvoiceRow.ts"

/** The organization has no such invoice in this mode. */
export class InvoiceNotFound extends Data.TaggedError("InvoiceNotFound") {}

/** The invoice has no receipt. */
export class ReceiptNotAvailable extends Data.TaggedError("ReceiptNotAvailable") {}

/** The organization and the mode that an API key gives access to. */
export interface InvoiceScope {
  readonly organizationId: Ids.OrganizationId
  readonly mode: Mode.Mode
}

/** The filters of a list. */
export interface InvoiceFilter {
  readonly status?: InvoiceState.Status | undefined
  readonly mode?: Mode.Mode | undefined
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

/** Provides `Invoices` from a migrated database. */
export const layer: Layer.Layer<Invoices, never, SqlClient.SqlClient> = Layer.effect(
  Invoices,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tail = yield* Page.makeTail
    const recordColumns = sql.literal(columns)

    const selectOne = ({ mode, organizationId }: InvoiceScope, id: Ids.InvoiceId) => sql<InvoiceRow>`
      SELECT ${recordColumns} FROM invoices
      WHERE organization_id = ${organizationId} AND mode = ${mode} AND id = ${id}
    `

    const selectPage = (organizationId: Ids.OrganizationId, { mode, status }: InvoiceFilter, page: Page.PageRequest) =>
      sql<InvoiceRow>`
        SELECT ${recordColumns} FROM invoices
        WHERE organization_id = ${organizationId}
          ${status === undefined ? sql`` : sql`AND status = ${status}`}
          ${mode === undefined ? sql`` : sql`AND mode = ${mode}`}
          ${tail(page)}
      `

    const selectReceipt = ({ mode, organizationId }: InvoiceScope, id: Ids.InvoiceId) => sql<{
      readonly xml: Uint8Array | null
      readonly sha256: Uint8Array | null
    }>`
      SELECT xml, sha256 FROM invoices LEFT JOIN receipts ON invoice_id = id
      WHERE organization_id = ${organizationId} AND mode = ${mode} AND id = ${id}
    `

    return {
      find: Effect.fn("Invoices.find")(function* (scope, id) {
        const [row] = Ids.is("inv", id) ? yield* Effect.orDie(selectOne(scope, id)) : []
        return row === undefined ? yield* new InvoiceNotFound() : toApi(row)
      }),

      list: Effect.fn("Invoices.list")(function* (organizationId, filter, page) {
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
