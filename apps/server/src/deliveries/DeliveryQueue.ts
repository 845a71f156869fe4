/**
 * The queue of deliveries, which is the `deliveries` table. The unit of claiming is the organization: a claim locks its row in
 * `organization_concurrency`, which counts what it has in flight over all workers.
 *
 * Claims serve endpoints in turn: each begins behind the endpoint of the claim before, and wraps around at the end. Slow endpoints
 * share fewer slots, so that the turn often passes them while none is free: they have a turn of their own. A claim leases
 * a delivery and increases its fencing token. A completion is written only while the delivery is leased under that token, so that a
 * worker whose lease was lost writes nothing.
 *
 * The statements are in `claim.sql.ts` and `complete.sql.ts`.
 */
import type { Ids } from "@govoice/core"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { HotStatements } from "../database/HotStatements.ts"
import { StatementTime } from "../database/StatementTime.ts"
import { claim, type ClaimRow } from "./claim.sql.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import { complete } from "./complete.sql.ts"
import type { Completion } from "./Completion.ts"

/** The result of a claim. */
export interface DeliveryClaim {
  readonly deliveries: ReadonlyArray<ClaimedDelivery>
  /** Whether another claim may find more at once. */
  readonly more: boolean
  /** Whether something available was left that a completion makes room for. */
  readonly left: boolean
}

/** How much to claim; with a limit of 0, nothing. By default all may be for slow endpoints. */
export interface DeliveryClaimOptions {
  readonly limit: number
  /** How many of them may be for slow endpoints. */
  readonly slow?: number
  readonly perOrganization: number
  readonly leaseMs: number
}

/** Service that claims and completes deliveries. */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    readonly claim: (options: DeliveryClaimOptions) => Effect.Effect<DeliveryClaim, SqlError.SqlError>
    /** Writes completions, and returns those that were written: the lease of the others was lost. */
    readonly complete: (
      completions: ReadonlyArray<Completion>
    ) => Effect.Effect<ReadonlyArray<Ids.DeliveryId>, SqlError.SqlError>
  }
>()("@govoice/server/deliveries/DeliveryQueue") {}

// A claim visits as many endpoints as the one before would have needed to fill its slots. A visit takes some microseconds.
const minEndpoints = 16
const maxEndpoints = 250

// Completed deliveries leave entries at the front of the index until vacuum, or for as long as a snapshot is held. A claim begins
// at the oldest due time that the round before has seen; one round in a second begins a minute earlier, because a delivery
// becomes visible some time after it was due; and one in a minute at the very beginning. What is due since a few seconds is always read.
const beginning = new Date(0)
const recentMs = 5000
const marginMs = 60_000
const marginEveryMs = 1000
const beginningEveryMs = 60_000

const deliveriesOf = (rows: ReadonlyArray<ClaimRow>): ReadonlyArray<ClaimedDelivery> =>
  rows.filter((row): row is Extract<ClaimRow, ClaimedDelivery> => row.id !== null)

const lastEndpoint = (deliveries: ReadonlyArray<ClaimedDelivery>): string =>
  deliveries.reduce((max, { endpoint_id: id }) => (id > max ? id : max), "")

/** Layer that provides `DeliveryQueue` from a migrated database. It keeps the place of its worker in the round. */
export const layer: Layer.Layer<DeliveryQueue, never, SqlClient.SqlClient> = Layer.effect(
  DeliveryQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)

    let after = ""
    let afterSlow = ""
    // Whether this round has found no slow endpoint behind `afterSlow`, with slots for one all the time.
    let isEndOfSlow = true
    let endpoints = minEndpoints
    let since = beginning
    // The oldest due time that this round has seen.
    let oldest = Infinity
    let marginAt = -Infinity
    let beginningAt = -Infinity

    const beginRound = (now: number): void => {
      if (now - beginningAt >= beginningEveryMs) {
        beginningAt = marginAt = now
        since = beginning
      } else if (now - marginAt >= marginEveryMs) {
        marginAt = now
        since = new Date(Math.max(0, since.getTime() - marginMs))
      }
      oldest = Infinity
      isEndOfSlow = true
    }

    const claimPage = Effect.fnUntraced(function* (options: DeliveryClaimOptions) {
      const { limit, slow = limit } = options
      const clock = yield* Clock.currentTimeMillis
      if (after === "") beginRound(clock)
      const now = yield* statementTime
      const rows = yield* claim(sql, { ...options, slow: Math.max(0, slow), now, after, afterSlow, since, endpoints })
      const { candidates, is_contended, is_left, last, oldest: oldestOfPage, scanned } = rows[0]!
      const deliveries = deliveriesOf(rows)
      const isFull = deliveries.length >= limit
      // A full claim has served the first of those it visited.
      const served = isFull ? lastEndpoint(deliveries) : last
      const isEnd = scanned < endpoints && !isFull
      if (oldestOfPage !== null) oldest = Math.min(oldest, oldestOfPage.getTime())
      if (isEnd) since = new Date(Math.max(0, Math.min(oldest, rows[0]!.now.getTime() - recentMs)))
      after = isEnd ? "" : (served ?? "")
      const servedSlow = lastEndpoint(deliveries.filter((one) => one.endpoint_slow))
      isEndOfSlow &&= slow > 0 && servedSlow === ""
      const isSlowWrapped = isEnd && isEndOfSlow && afterSlow !== ""
      if (isSlowWrapped) afterSlow = ""
      else if (servedSlow !== "") afterSlow = servedSlow
      const enough = Math.ceil((limit * scanned) / Math.max(1, candidates))
      // The turn of slow endpoints passes none of those that the visit contains.
      endpoints =
        afterSlow === "" ? Math.min(maxEndpoints, Math.max(1, enough, Math.min(minEndpoints, 2 * limit))) : maxEndpoints
      return { deliveries, isContended: is_contended, isEnd: isEnd && !isSlowWrapped, isFull, isLeft: is_left }
    })

    const queue = DeliveryQueue.of({
      claim: Effect.fn("DeliveryQueue.claim")(function* (options) {
        let isContended = false
        let left = false
        let wasAtBeginning = false
        while (true) {
          wasAtBeginning ||= after === ""
          const { deliveries, isEnd, isFull, ...page } = yield* claimPage(options)
          isContended ||= page.isContended
          left ||= page.isLeft
          const visitedAll = isEnd && wasAtBeginning
          if (deliveries.length === 0 && !visitedAll && options.limit > 0) continue
          return { deliveries, more: isContended || (deliveries.length > 0 && (isFull || !visitedAll)), left }
        }
      }),

      complete: Effect.fn("DeliveryQueue.complete")(function* (completions) {
        const rows = yield* complete(sql, completions)
        return rows.map(({ id }) => id)
      })
    })
    const hotStatements = yield* HotStatements
    hotStatements.add("claim", queue.claim({ limit: 0, perOrganization: 1, leaseMs: 1 }))
    hotStatements.add("completion", queue.complete([]))
    return queue
  })
)
