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
}

/** Makes the function that ends a list statement after `WHERE …`, with one record more than requested. */
export const makeTail = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    ({ after, limit }: PageRequest): Statement.Fragment =>
      sql`${after === undefined ? sql`` : sql`AND id < ${after}`} ORDER BY id DESC LIMIT ${limit + 1}`
)

/** Makes a page from its rows and one more, if there is a next page. */
export const fromRows = <Row, A>(
  rows: ReadonlyArray<Row>,
  { limit }: PageRequest,
  toApi: (row: Row) => A
): Page<A> => ({ records: rows.slice(0, limit).map(toApi), hasMore: rows.length > limit })
