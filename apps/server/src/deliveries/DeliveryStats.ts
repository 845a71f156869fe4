/**
 * Counts deliveries over time. No table of counts is written: identifiers sort by age, so an interval is a range of an index,
 * and every count ends at a limit.
 */
import type { Statistics } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { Cache, Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { textArray } from "../database/Arrays.ts"
import { cacheOptions } from "../database/cacheOptions.ts"
import { idBoundary } from "../database/idBoundary.ts"
import { LateRead } from "../database/Replica.ts"
import { selectLimitedSince } from "./gauges.sql.ts"

/** How far an interval of one endpoint is counted, and one of an overview. */
export const limits = { endpoint: 10_000, overview: 1000 } as const

/** The intervals of each window, in seconds. The last one is not over. */
export const windows = {
  "24h": { buckets: 24, seconds: 3600 },
  "7d": { buckets: 28, seconds: 21_600 }
} as const satisfies Record<Statistics.Window, { readonly buckets: number; readonly seconds: number }>

/** The counts of one endpoint. */
export interface EndpointCounts {
  readonly endpoint_id: Ids.EndpointId
  readonly waiting: number
  readonly retrying: number
  /** Of the last 24 hours, over any window. */
  readonly failed_24h: number
  readonly buckets: ReadonlyArray<Statistics.DeliveryBucket>
}

/** Counts and when they were made, in milliseconds. */
export interface Counted<A> {
  readonly at: number
  readonly counts: A
}

/** Counts deliveries. Callers check the owner. Counts are kept for 30 seconds. */
export class DeliveryStats extends Context.Service<
  DeliveryStats,
  {
    readonly ofEndpoint: (id: Ids.EndpointId, window: Statistics.Window) => Effect.Effect<Counted<EndpointCounts>>
    /** Counts the deliveries of each endpoint that is not deleted now, the newest endpoint first. */
    readonly ofOrganization: (
      id: Ids.OrganizationId,
      window: Statistics.Window
    ) => Effect.Effect<Counted<ReadonlyArray<EndpointCounts>>>
    /** Returns since when the oldest delivery waits for this concurrency limit of the organization; `null` if none does. */
    readonly limitedSince: (id: Ids.OrganizationId, limit: number) => Effect.Effect<Date | null>
  }
>()("@govoice/server/deliveries/DeliveryStats") {}

interface Row {
  readonly endpoint_id: Ids.EndpointId
  readonly waiting: number
  readonly retrying: number
  readonly failed_24h: number
  readonly totals: ReadonlyArray<number>
  readonly retrying_counts: ReadonlyArray<number>
  readonly failed_counts: ReadonlyArray<number>
  readonly disabled_counts: ReadonlyArray<number>
}

interface Interval {
  readonly start: number
  readonly end: number
}

const intervalsOf = (window: Statistics.Window, now: number): ReadonlyArray<Interval> => {
  const { buckets, seconds } = windows[window]
  const length = seconds * 1000
  const last = Math.floor(now / length) * length
  return Array.from({ length: buckets }, (_, index) => {
    const start = last - (buckets - 1 - index) * length
    return { start, end: start + length }
  })
}

const keptCounts = cacheOptions(1000, Duration.seconds(30))

const toCounts = (row: Row, intervals: ReadonlyArray<Interval>, limit: number): EndpointCounts => {
  const buckets = intervals.map(({ start }, index) => {
    const counts = [row.totals, row.retrying_counts, row.failed_counts, row.disabled_counts].map((of) => of[index] ?? 0)
    const [total = 0, retrying = 0, failed = 0, disabled = 0] = counts.map((count) => Math.min(count, limit))
    return {
      start: new Date(start).toISOString(),
      total,
      retrying,
      failed,
      endpoint_disabled: disabled,
      capped: counts.some((count) => count > limit)
    }
  })
  return {
    endpoint_id: row.endpoint_id,
    waiting: Math.min(row.waiting, limit),
    retrying: Math.min(row.retrying, limit),
    failed_24h: Math.min(row.failed_24h, limit),
    buckets
  }
}

/** Provides `DeliveryStats` from a migrated database. */
export const layer: Layer.Layer<DeliveryStats, never, SqlClient.SqlClient> = Layer.effect(
  DeliveryStats,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const lateRead = yield* LateRead

    // Every count reads entries of one range of an index, and one more than the limit at most.
    const countFailures = (
      status: string,
      limit: number,
      { end, first }: { readonly first: Statement.Fragment; readonly end: Statement.Fragment }
    ) => sql`
      SELECT count(*)::int FROM (
        SELECT FROM deliveries
        WHERE endpoint_id = endpoint.id AND failure_status = ${status} AND id >= ${first} AND id < ${end}
        LIMIT ${limit + 1}
      ) AS counted
    `
    const ofInterval = { first: sql`first_id`, end: sql`end_id` }
    const within = ({ end, start }: Interval) => ({
      first: sql`${idBoundary("wd", start)}`,
      end: sql`${idBoundary("wd", end)}`
    })

    const select = (
      endpointIds: ReadonlyArray<string>,
      intervals: ReadonlyArray<Interval>,
      day: Interval,
      limit: number
    ) => sql<Row>`
      SELECT endpoint.id AS endpoint_id, bucket.*,
             (SELECT count(*)::int FROM (
                SELECT FROM deliveries WHERE is_due AND endpoint_id = endpoint.id LIMIT ${limit + 1}
              ) AS counted) AS waiting,
             (SELECT count(*)::int FROM (
                SELECT FROM deliveries
                WHERE endpoint_id = endpoint.id AND failure_status = 'retrying' LIMIT ${limit + 1}
              ) AS counted) AS retrying,
             (${countFailures("failed", limit, within(day))}) AS failed_24h
      FROM unnest(${textArray(endpointIds)}::text[]) AS endpoint (id)
      CROSS JOIN LATERAL (
        SELECT array_agg(total ORDER BY n) AS totals, array_agg(retrying ORDER BY n) AS retrying_counts,
               array_agg(failed ORDER BY n) AS failed_counts, array_agg(disabled ORDER BY n) AS disabled_counts
        FROM (
          SELECT n,
                 (SELECT count(*)::int FROM (
                    SELECT FROM deliveries
                    WHERE endpoint_id = endpoint.id AND id >= first_id AND id < end_id LIMIT ${limit + 1}
                  ) AS counted) AS total,
                 (${countFailures("retrying", limit, ofInterval)}) AS retrying,
                 (${countFailures("failed", limit, ofInterval)}) AS failed,
                 (${countFailures("endpoint_disabled", limit, ofInterval)}) AS disabled
          FROM unnest(
            ${textArray(intervals.map(({ start }) => idBoundary("wd", start)))}::text[],
            ${textArray(intervals.map(({ end }) => idBoundary("wd", end)))}::text[]
          ) WITH ORDINALITY AS interval (first_id, end_id, n)
        ) AS counts
      ) AS bucket
      ORDER BY endpoint.id DESC
    `

    // The key of a cache: the window and the endpoints.
    const count = Effect.fnUntraced(function* (key: string, limit: number) {
      const [window, ...endpointIds] = key.split(" ") as [Statistics.Window, ...Array<string>]
      const at = yield* Clock.currentTimeMillis
      const intervals = intervalsOf(window, at)
      const hours = intervalsOf("24h", at)
      const day = { start: hours[0]!.start, end: hours.at(-1)!.end }
      const rows = yield* Effect.orDie(lateRead(select(endpointIds, intervals, day, limit)))
      return { at, counts: rows.map((row) => toCounts(row, intervals, limit)) }
    })

    const ofEndpoint = yield* Cache.makeWith((key: string) => count(key, limits.endpoint), keptCounts)
    const ofOrganization = yield* Cache.makeWith((key: string) => count(key, limits.overview), keptCounts)

    const selectEndpoints = (id: Ids.OrganizationId) => sql<{ readonly id: Ids.EndpointId }>`
      SELECT id FROM webhook_endpoints WHERE organization_id = ${id} AND deleted_at IS NULL ORDER BY id DESC
    `

    return {
      ofEndpoint: Effect.fn("DeliveryStats.ofEndpoint")(function* (id, window) {
        const { at, counts } = yield* Cache.get(ofEndpoint, `${window} ${id}`)
        return { at, counts: counts[0]! }
      }),
      ofOrganization: Effect.fn("DeliveryStats.ofOrganization")(function* (id, window) {
        const endpoints = yield* Effect.orDie(selectEndpoints(id))
        return yield* Cache.get(ofOrganization, [window, ...endpoints.map((endpoint) => endpoint.id)].join(" "))
      }),
      limitedSince: Effect.fn("DeliveryStats.limitedSince")(function* (id, limit) {
        const select = sql<{ readonly since: Date | null }>`${selectLimitedSince(sql, id, limit)}`
        return (yield* Effect.orDie(lateRead(select)))[0]?.since ?? null
      })
    }
  })
)
