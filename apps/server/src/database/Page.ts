/** Pages of records: newest first, cut by the identifier of the last record of the page before. Never OFFSET. */
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"

/** Which page of a list is wanted. */
export interface PageRequest {
  readonly limit: number
  /** The identifier of the last record of the page before; absent for the first page. */
  readonly after: string | undefined
}

/** A page of a list. */
export interface Page<A> {
  readonly records: ReadonlyArray<A>
  readonly hasMore: boolean
}

/** Makes the function that ends a list statement: what follows `WHERE …`, one record more than wanted. */
export const makeTail = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    ({ after, limit }: PageRequest): Statement.Fragment =>
      sql`${after === undefined ? sql`` : sql`AND id < ${after}`} ORDER BY id DESC LIMIT ${limit + 1}`
)

/** Makes a page from rows of which there may be one too many. */
export const fromRows = <Row, A>(
  rows: ReadonlyArray<Row>,
  { limit }: PageRequest,
  toApi: (row: Row) => A
): Page<A> => ({ records: rows.slice(0, limit).map(toApi), hasMore: rows.length > limit })
