/** Keyset pages of records: newest first, or oldest first, after the identifier of the last record of the previous page. Never OFFSET. */
import type { Ids } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { idBoundary } from "./idBoundary.ts"

/** The requested page of a list. */
export interface PageRequest {
  readonly limit: number
  /** The identifier of the last record of the previous page; absent for the first page. */
  readonly after: string | undefined
  /** The identifier that the records of the list begin with; absent if there is no such limit. */
  readonly from?: string | undefined
  /** Oldest first. */
  readonly isAscending?: boolean
  /** The identifier that the records of an ascending list end before; absent if there is no such limit. */
  readonly before?: string | undefined
}

/** The records of a time, both in milliseconds since the epoch: `before` itself is not part of it. */
export interface TimeRange {
  readonly from?: number | undefined
  readonly before?: number | undefined
}

/** Limits a page to the records of a time. Identifiers sort by age, so the time is a range of identifiers. */
export const within = (page: PageRequest, prefix: Ids.Prefix, { before, from }: TimeRange): PageRequest => {
  const end = before === undefined ? undefined : idBoundary(prefix, before)
  const first = from === undefined ? page.from : idBoundary(prefix, from)
  return page.isAscending === true
    ? { ...page, from: first, before: earlier(page.before, end) }
    : { ...page, from: first, after: earlier(page.after, end) }
}

const earlier = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || (other !== undefined && other < one) ? other : one

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
    (page: PageRequest): Statement.Fragment =>
      sql`${bounds(sql, page)} ORDER BY id ${page.isAscending === true ? sql`ASC` : sql`DESC`} LIMIT ${page.limit + 1}`
)

/** Returns the conditions that follow `WHERE …`, so that a statement reads the records of this page and of later ones only. */
export const bounds = (
  sql: SqlClient.SqlClient,
  { after, before, from, isAscending = false }: PageRequest
): Statement.Fragment => {
  const below = isAscending ? before : after
  return sql`
    ${below === undefined ? sql`` : sql`AND id < ${below}`} ${from === undefined ? sql`` : sql`AND id >= ${from}`}
    ${isAscending && after !== undefined ? sql`AND id > ${after}` : sql``}
  `
}

/** How many records a list examines for one page, where no index finds those of the filter. */
export const maxExamined = 5000

/** The columns of a page beside those of the record. A page without records has one row, without those of the record. */
export interface Examined {
  /** The identifier of the last examined record, or `null` if no more are left. */
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

/**
 * Merges the pages of several lists to the page of all of them. A list that was examined in part hides what is older than its
 * last examined record, so the merged page ends there.
 */
export const merge = <A extends { readonly id: string }>(
  pages: ReadonlyArray<Page<A>>,
  { limit }: PageRequest
): Page<A> => {
  const unread = pages.flatMap(({ continueAfter, hasMore, records }) =>
    hasMore ? [continueAfter ?? records.at(-1)!.id] : []
  )
  const end = unread.reduce((newest, id) => (id > newest ? id : newest), "")
  const known = pages
    .flatMap(({ records }) => records)
    .filter(({ id }) => id >= end)
    .sort((left, right) => (left.id < right.id ? 1 : -1))
  return known.length > limit || unread.length === 0
    ? { records: known.slice(0, limit), hasMore: known.length > limit }
    : { records: known, hasMore: true, continueAfter: end }
}
