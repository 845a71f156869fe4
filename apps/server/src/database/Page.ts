/** Keyset pages of records: newest first, after the identifier of the last record of the previous page. Never OFFSET. */
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"

/** The requested page of a list. */
export interface PageRequest {
  readonly limit: number
  /** The identifier of the last record of the previous page; absent for the first page. */
  readonly after: string | undefined
}

/** A page of a list. */
export interface Page<A> {
  readonly records: ReadonlyArray<A>
  readonly hasMore: boolean
  /** Where the next page begins, if that is not after the last record. */
  readonly continueAfter?: string
}

/** Makes the function that ends a list statement after `WHERE …`, with one record more than requested. */
export const makeTail = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    ({ after, limit }: PageRequest): Statement.Fragment =>
      sql`${after === undefined ? sql`` : sql`AND id < ${after}`} ORDER BY id DESC LIMIT ${limit + 1}`
)

/** How many records a list examines for one page, where no index finds those of the filter. */
export const maxExamined = 5000

/** What each row of such a page says beside its record, which is absent from the only row of a page without records. */
export interface Examined {
  /** The identifier of the last examined record, or `null` if fewer than `maxExamined` were left. */
  readonly last_examined: string | null
}

/** Makes a page from the matching ones of the examined records. A page that is short, or empty, can have a next one. */
export const fromExamined = <Row extends { readonly id: string }, A>(
  rows: ReadonlyArray<Row & Examined>,
  page: PageRequest,
  toApi: (row: Row) => A
): Page<A> => {
  const found = rows.filter(({ id }) => id !== null)
  const lastExamined = rows[0]?.last_examined ?? null
  return lastExamined === null || found.length > page.limit
    ? fromRows(found, page, toApi)
    : { records: found.map(toApi), hasMore: true, continueAfter: lastExamined }
}

/** Makes a page from its rows and one more, if there is a next page. */
export const fromRows = <Row, A>(
  rows: ReadonlyArray<Row>,
  { limit }: PageRequest,
  toApi: (row: Row) => A
): Page<A> => ({ records: rows.slice(0, limit).map(toApi), hasMore: rows.length > limit })
