/**
 * Lists that are read page by page.
 *
 * @module
 * @since 0.1.0
 */
import { DecodeError } from "./error.ts"
import { buildPath } from "./internal/buildPath.ts"
import { callOptions, checkOptions } from "./internal/checkOptions.ts"
import { check, parse, type RecordSchema } from "./internal/decode.ts"
import { toWire } from "./internal/rename.ts"
import * as Schemas from "./internal/schemas.ts"
import type { CallOptions } from "./options.ts"
import type { Send } from "./internal/transport.ts"

declare const URLSearchParams: new (members: Record<string, string>) => { toString(): string }

/**
 * The options of a list. Timeout and deadline apply to each page.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListOptions extends CallOptions {
  /**
   * The number of records of a page, from 1 to 100. Iteration continues with the next page.
   *
   * @default 50
   */
  readonly limit?: number | undefined
}

/**
 * The filters by which a person names an invoice.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvoiceNames {
  /** Only invoices to which the seller gave this number. White space is collapsed, as in the document. */
  readonly number?: string | undefined
  /** Only the invoice to which the national system gave this number. */
  readonly officialNumber?: string | undefined
  /** Only invoices whose buyer has this tax number, as `document.buyer.taxId` shows it. */
  readonly buyerTaxId?: string | undefined
  /** Only invoices whose seller has this tax number (NIP). */
  readonly sellerTaxId?: string | undefined
  /** Only invoices whose metadata has these values, among others. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/**
 * One page of a list.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page<A> {
  /** The records: newest first, unless the order is ascending. */
  readonly data: ReadonlyArray<A>
  /** Whether the list has another page now. */
  readonly hasMore: boolean
  /** The cursor of the next page. Null on the last page, unless the order is ascending: pass it later to continue. */
  readonly nextCursor: string | null
}

/**
 * Records, newest first unless the order is ascending. A page is requested when iteration reaches it. Each iteration starts with the first page.
 *
 * @category models
 * @since 0.1.0
 */
export interface List<A> extends AsyncIterable<A> {
  /** Resolves with one page: the first, or the one at `cursor`. */
  page(cursor?: string): Promise<Page<A>>
}

/**
 * Returns an operation that lists records. Its arguments are the connection, an identifier for each `*` in the path, and the
 * filters with the options of the call.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller states the signature of the operation
export const list = <F>(path: string, schema: RecordSchema): F =>
  ((session: { readonly "~send": Send }, ...rest: Array<unknown>): List<unknown> => {
    const builtPath = buildPath(path, rest)
    const options = rest[0] as (CallOptions & { readonly metadata?: Readonly<Record<string, string>> }) | undefined
    const { deadlineMs, metadata, signal, timeoutMs, ...filter } = options ?? {}
    // The service refuses a filter that it does not know.
    const limits = checkOptions({ deadlineMs, signal, timeoutMs }, callOptions)
    const page = (cursor?: string) =>
      session["~send"](
        "GET",
        // Serialized and parsed, which drops undefined members.
        [
          builtPath,
          new URLSearchParams({
            ...(JSON.parse(JSON.stringify(toWire({ ...filter, cursor }))) as Record<string, string>),
            ...Object.fromEntries(Object.entries(metadata ?? {}).map(([key, value]) => [`metadata[${key}]`, value]))
          })
        ].join("?"),
        async (response) => {
          const page = check(Schemas.page, parse(await response.text())) as {
            data: ReadonlyArray<unknown>
          } & Page<unknown>
          // A value that is not a list becomes a list of one invalid record.
          for (const record of (page.data = [page.data].flat())) check(schema, record)
          return page
        },
        limits
      )
    return {
      page,
      async *[Symbol.asyncIterator]() {
        for (let cursor: string | undefined; ;) {
          const { data, hasMore, nextCursor } = await page(cursor)
          yield* data
          if (!hasMore) return
          // A cache that ignores the query would answer with the same page for ever.
          if (!nextCursor || nextCursor === cursor)
            throw new DecodeError("The list does not continue. Check baseUrl and proxies.")
          cursor = nextCursor
        }
      }
    }
  }) as F
