/**
 * The weekly partitions of `events` and `deliveries`.
 *
 * Identifiers sort by age, and a week is a range of them. The first partition has everything before the week in which it was
 * made. Partitions are made ahead, and dropped as a whole.
 */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { idBoundary } from "./idBoundary.ts"
import { EvaluationTime } from "./StatementTime.ts"

/** How many weeks after the current one have partitions. Every claim and completion opens all of them. */
export const weeksAhead = 2

const weekMs = 7 * 86_400_000

// 1970-01-05.
const firstMonday = 4 * 86_400_000

const weekOf = (ms: number): number => Math.floor((ms - firstMonday) / weekMs) * weekMs + firstMonday

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The range of a partition, in milliseconds since the epoch. The first one begins at `-Infinity`. */
interface Range {
  readonly start: number
  readonly end: number
}

const prefixOfFirst = "before_"

/** The end of the names of the partitions of a range: `20261123`, or `before_20261123`. */
const nameOf = ({ end, start }: Range): string =>
  (start === -Infinity ? prefixOfFirst + dateOf(end) : dateOf(start)).replaceAll("-", "")

const toRange = (name: string): Range => {
  const isFirst = name.startsWith(prefixOfFirst)
  const [year, month, day] = /(\d{4})(\d\d)(\d\d)$/.exec(name)!.slice(1).map(Number) as [number, number, number]
  const at = Date.UTC(year, month - 1, day)
  return isFirst ? { start: -Infinity, end: at } : { start: at, end: at + weekMs }
}

/** The time of the database in milliseconds, and the ranges that have partitions, the oldest first. */
const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly now: number; readonly names: ReadonlyArray<string> }>`
    SELECT (extract(epoch FROM ${yield* (yield* EvaluationTime)(sql)}) * 1000)::float8 AS now, ARRAY(
      SELECT substr(relname, length('events_') + 1) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent = 'events'::regclass
    ) AS names
  `
  const { names, now } = row!
  return { now, ranges: names.map(toRange).sort((one, other) => one.start - other.start) }
})

const weeks = (from: number, ahead: number): ReadonlyArray<Range> =>
  Array.from({ length: ahead + 1 }, (_, n) => ({ start: from + n * weekMs, end: from + (n + 1) * weekMs }))

const covers = (ranges: ReadonlyArray<Range>, { end, start }: Range): boolean =>
  ranges.some((one) => one.start <= start && end <= one.end)

/** Says that the current week or one of as many after it has no partitions, or returns `undefined`. */
export const problem = (ahead: number): Effect.Effect<string | undefined, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.map(read, ({ now, ranges }) => {
    const absent = weeks(weekOf(now), ahead).find((week) => !covers(ranges, week))
    return absent === undefined
      ? undefined
      : `No event of the week of ${dateOf(absent.start)} can be stored: its partitions are missing. Workers make them; run 'govoice migrate' to make them now.`
  })

// Everything else waits behind a statement that waits for an exclusive lock, so it waits for short statements only. A dump keeps
// its locks until it ends.
const withLocks = <A, E>(
  mode: "ACCESS EXCLUSIVE" | "SHARE UPDATE EXCLUSIVE",
  change: Effect.Effect<A, E, SqlClient.SqlClient>
) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SET LOCAL lock_timeout = '500ms'`
        yield* sql`LOCK TABLE ONLY events, ONLY deliveries IN ${sql.literal(mode)} MODE`
        return yield* change
      })
    )
  )

// A claim changes no indexed column, so Postgres writes the new row version to the same page and to no index (HOT); the
// fillfactor leaves space for it.
const tables = [
  { name: "events", prefix: "evt", storage: "" },
  {
    name: "deliveries",
    prefix: "wd",
    storage: `WITH (
      fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0,
      autovacuum_analyze_scale_factor = 0.1
    )`
  }
] as const

// The lock lets one process at a time create them.
const create = (range: Range) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (covers((yield* read).ranges, range)) return
    for (const { name, prefix, storage } of tables) {
      const partition = `${name}_${nameOf(range)}`
      const start = range.start === -Infinity ? "MINVALUE" : `'${idBoundary(prefix, range.start)}'`
      yield* sql.unsafe(`
        CREATE TABLE ${partition} PARTITION OF ${name} FOR VALUES FROM (${start}) TO ('${idBoundary(prefix, range.end)}') ${storage}
      `)
    }
  })

/** Creates the partitions that are missing of the current week and of as many after it. */
export const make = (ahead: number): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const { now, ranges } = yield* read
    const current = weekOf(now)
    const first = ranges.length === 0 ? [{ start: -Infinity, end: current }] : []
    for (const range of [...first, ...weeks(current, ahead)]) {
      if (!covers(ranges, range)) yield* withLocks("SHARE UPDATE EXCLUSIVE", create(range))
    }
  })

/** Creates the partition of everything before the oldest one, unless there is one: older rows arrive from another cell. */
export const makeFirst: Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const [oldest] = (yield* read).ranges
  if (oldest === undefined || oldest.start === -Infinity) return
  yield* withLocks("SHARE UPDATE EXCLUSIVE", create({ start: -Infinity, end: oldest.start }))
})

// So many are moved in some tenths of a second, for which everything waits.
const maxMoved = 10_000

/** Counts the deliveries of a range that are not finished, up to `maxMoved`. */
const countUnfinished = Effect.fnUntraced(function* ({ end, start }: Range) {
  const sql = yield* SqlClient.SqlClient
  const of = (condition: string) => sql`
    SELECT FROM deliveries
    WHERE id >= ${idBoundary("wd", start)} AND id < ${idBoundary("wd", end)} AND ${sql.literal(condition)}
  `
  const [row] = yield* sql<{ readonly n: number }>`
    SELECT count(*)::int AS n FROM (
      (${of("is_due")} ORDER BY endpoint_id, due_at LIMIT ${maxMoved + 1})
      UNION ALL (${of("due_at IS NOT NULL AND NOT is_due")} ORDER BY due_at LIMIT ${maxMoved + 1})
    ) AS unfinished
  `
  return row!.n
})

const drop = (range: Range) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(`DROP TABLE ${tables.map(({ name }) => `${name}_${nameOf(range)}`).join(", ")}`)
  )

/** Empties the partitions of a range but for its unfinished deliveries and their events. */
const empty = (range: Range) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [events, deliveries] = tables.map(({ name }) => `${name}_${nameOf(range)}`)
    yield* sql.unsafe(
      `CREATE TEMPORARY TABLE kept_delivery ON COMMIT DROP AS SELECT * FROM ${deliveries} WHERE due_at IS NOT NULL`
    )
    yield* sql.unsafe(`
      CREATE TEMPORARY TABLE kept_event ON COMMIT DROP AS
      SELECT * FROM ${events} WHERE id IN (SELECT event_id FROM kept_delivery)
    `)
    yield* sql.unsafe(`TRUNCATE ${events}, ${deliveries}`)
    yield* sql.unsafe(`INSERT INTO ${events} SELECT * FROM kept_event`)
    yield* sql.unsafe(`INSERT INTO ${deliveries} SELECT * FROM kept_delivery`)
  })

/** Whether most deliveries of a range are finished. */
const isMostlyFinished = Effect.fnUntraced(function* ({ end, start }: Range, unfinished: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly n: number }>`
    SELECT count(*)::int AS n FROM (
      SELECT FROM deliveries WHERE id >= ${idBoundary("wd", start)} AND id < ${idBoundary("wd", end)}
      LIMIT ${2 * unfinished + 1}
    ) AS counted
  `
  return row!.n > 2 * unfinished
})

/**
 * Drops the partitions that end before this time, in milliseconds, and returns how many weeks it dropped.
 *
 * A week with unfinished deliveries is kept, without the others: one organization that is slow does not keep the records of all.
 */
export const dropBefore = (ms: number): Effect.Effect<number, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    let dropped = 0
    for (const range of (yield* read).ranges) {
      if (range.end > ms) break
      // A finished delivery stays finished, so nothing that is counted can increase.
      const unfinished = yield* countUnfinished(range)
      if (unfinished === 0) {
        yield* withLocks("ACCESS EXCLUSIVE", drop(range))
        dropped++
      } else if (unfinished <= maxMoved && (yield* isMostlyFinished(range, unfinished))) {
        yield* withLocks("ACCESS EXCLUSIVE", empty(range))
      }
    }
    return dropped
  })

/** The same for the partitions that ended longer ago than this, in milliseconds, by the time of the database. */
export const dropOlder = (ageMs: number): Effect.Effect<number, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(read, ({ now }) => dropBefore(now - ageMs))
