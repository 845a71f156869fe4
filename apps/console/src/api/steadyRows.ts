/**
 * Rows that stay where they are while a list is updated.
 */
import { useState } from "react"

interface Identified {
  readonly id: string
}

interface Shown<Row> {
  /** The list that the rows belong to. Another list starts anew. */
  readonly list: string
  readonly source: ReadonlyArray<Row>
  readonly rows: ReadonlyArray<Row>
  readonly newer: ReadonlyArray<Row>
}

/** Returns the state of a list that shows these rows. */
export const first = <Row>(list: string, source: ReadonlyArray<Row>): Shown<Row> => ({
  list,
  source,
  rows: source,
  newer: []
})

// Identifiers sort by time. Rows below the last one belong to the next page.
const isAbove = (id: string, rows: ReadonlyArray<Identified>) => id > rows.at(-1)!.id

/**
 * Merges newer data into shown rows: rows change in place, rows that left the page keep their last state, and new rows wait.
 */
export const merge = <Row extends Identified>(shown: Shown<Row>, source: ReadonlyArray<Row>): Shown<Row> => {
  if (shown.rows.length === 0) return first(shown.list, source)
  const latest = new Map(source.map((row) => [row.id, row]))
  const known = new Set(shown.rows.map(({ id }) => id))
  return {
    ...shown,
    source,
    rows: shown.rows.map((row) => latest.get(row.id) ?? row),
    newer: source.filter(({ id }) => !known.has(id) && isAbove(id, shown.rows))
  }
}

/** How many rows that left the page are read by themselves at a time, and for how long, so that each has its turn. */
const mostRead = 10
const turnMs = 15_000

/**
 * The shown rows that are no longer in the page, and may still change. They have to be read by themselves, ten at a time, in
 * turns.
 */
export const leftOf = <Row extends Identified>(
  { rows, source }: Shown<Row>,
  mayChange: (row: Row) => boolean,
  now: number
): ReadonlyArray<Row> => {
  const known = new Set(source.map(({ id }) => id))
  const left = rows.filter((row) => !known.has(row.id) && mayChange(row))
  const turn = Math.floor(now / turnMs) % Math.max(1, Math.ceil(left.length / mostRead))
  return left.slice(turn * mostRead, (turn + 1) * mostRead)
}

/** Puts rows in the place of those with their identifier. */
export const replace = <Row extends Identified>(shown: Shown<Row>, read: ReadonlyArray<Row>): Shown<Row> => {
  const found = new Map(read.map((row) => [row.id, row]))
  return shown.rows.some((row) => (found.get(row.id) ?? row) !== row)
    ? { ...shown, rows: shown.rows.map((row) => found.get(row.id) ?? row) }
    : shown
}

/** A hook that reads each of these rows by itself. */
export type UseRead<Row> = (
  rows: ReadonlyArray<Row>
) => ReadonlyArray<{ readonly data: Row | undefined; readonly dataUpdatedAt: number }>

/** The rows of a page. */
export const pageSize = 50

/** Returns the number of new rows that wait, if there are any. If a whole page is new, then more may be below it: `50+`. */
export const waitingOf = ({ newer }: Shown<unknown>): string | undefined =>
  newer.length === 0 ? undefined : `${newer.length}${newer.length >= pageSize ? "+" : ""}`

/**
 * Returns the rows to show, the number of those that wait, and the function that shows them. `updatedAt` is when the page was read. `isPlaceholder` is set while the rows are those of
 * the page before: the rows of this page then replace them. Rows that left the page are read by themselves until they are settled.
 */
export const useSteadyRows = <Row extends Identified>(
  page: string,
  source: ReadonlyArray<Row>,
  updatedAt: number,
  isPlaceholder: boolean,
  mayChange: (row: Row) => boolean,
  useRead: UseRead<Row>
) => {
  const list = isPlaceholder ? `placeholder of ${page}` : page
  const [shown, setShown] = useState(() => first(list, source))
  let current = shown
  if (shown.list !== list) current = first(list, source)
  else if (shown.source !== source) current = merge(shown, source)
  const read = useRead(leftOf(current, mayChange, updatedAt))
  // A record that was read before the page is older than the row.
  current = replace(
    current,
    read.flatMap(({ data, dataUpdatedAt }) => (data === undefined || dataUpdatedAt < updatedAt ? [] : [data]))
  )
  // Adjusts the state while rendering, so that no row is drawn twice.
  if (current !== shown) setShown(current)
  return {
    rows: current.rows,
    waiting: waitingOf(current),
    show: () => setShown(first(list, source))
  }
}
