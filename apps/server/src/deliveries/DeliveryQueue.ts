/**
 * The queue of deliveries, which is the `deliveries` table. The unit of claiming is the organization: a claim locks its row in
 * `organization_concurrency`, which counts what it has in flight over all workers.
 *
 * A claim leases a delivery and increases its fencing token. A completion is written only while the delivery is leased under that
 * token, so that a worker whose lease was lost writes nothing.
 *
 * The statements are in `claim.sql.ts` and `complete.sql.ts`.
 */
import type { Ids } from "@govoice/core"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { HotStatements } from "../database/HotStatements.ts"
import { StatementTime } from "../database/StatementTime.ts"
import * as MonotonicTime from "../observability/MonotonicTime.ts"
import { claim, type ClaimRow } from "./claim.sql.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import { ClaimRound } from "./ClaimRound.ts"
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

/** How much to claim; with a limit of 0, nothing. By default all may be for slow endpoints, and for any organization. */
export interface DeliveryClaimOptions {
  readonly limit: number
  /** How many slots the worker has free, and how many of them are for organizations that have fewer in flight than slots are free. */
  readonly free?: number
  readonly reserve?: number
  /** How many of them may be for slow endpoints. */
  readonly slow?: number
  readonly perOrganization: number
  readonly leaseMs: number
}

/** The completions that were written, and those that wait for a row that another session has locked. */
export interface Completed {
  readonly written: ReadonlyArray<Ids.DeliveryId>
  readonly locked: ReadonlyArray<Ids.DeliveryId>
}

/** Service that claims and completes deliveries. */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    readonly claim: (options: DeliveryClaimOptions) => Effect.Effect<DeliveryClaim, SqlError.SqlError>
    /** Writes completions, and returns those that were written: the lease of the others was lost. Fails if a row stays locked for a second. */
    readonly complete: (
      completions: ReadonlyArray<Completion>
    ) => Effect.Effect<ReadonlyArray<Ids.DeliveryId>, SqlError.SqlError>
    /** The same, without waiting for rows that are locked. */
    readonly completeUnlocked: (completions: ReadonlyArray<Completion>) => Effect.Effect<Completed, SqlError.SqlError>
  }
>()("@govoice/server/deliveries/DeliveryQueue") {}

/** Layer that provides `DeliveryQueue` from a migrated database. It keeps the place of its worker in the round. */
export const layer: Layer.Layer<DeliveryQueue, never, SqlClient.SqlClient> = Layer.effect(
  DeliveryQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)

    const round = new ClaimRound()

    const claimPage = Effect.fnUntraced(function* ({
      limit,
      slow = limit,
      free = limit,
      reserve = 0,
      ...options
    }: DeliveryClaimOptions) {
      const place = round.next(yield* MonotonicTime.now)
      const now = yield* statementTime
      const slots = { limit, free, reserve, slow: Math.max(0, slow) }
      const rows = yield* claim(sql, { ...options, ...slots, ...place, now })
      const deliveries = rows.filter((row): row is Extract<ClaimRow, ClaimedDelivery> => row.id !== null)
      return { ...rows[0]!, ...round.visited(slots, rows[0]!, deliveries), deliveries }
    })

    const queue = DeliveryQueue.of({
      claim: Effect.fn("DeliveryQueue.claim")(function* (options) {
        let isContended = false
        let left = false
        let wasAtBeginning = false
        while (true) {
          wasAtBeginning ||= round.isAtBeginning
          const { deliveries, is_contended, is_left, isEnd, isFull } = yield* claimPage(options)
          isContended ||= is_contended
          left ||= is_left
          const visitedAll = isEnd && wasAtBeginning
          if (deliveries.length === 0 && !visitedAll && options.limit > 0) continue
          return { deliveries, more: isContended || (deliveries.length > 0 && (isFull || !visitedAll)), left }
        }
      }),

      complete: Effect.fn("DeliveryQueue.complete")(function* (completions) {
        const rows = yield* complete(sql, completions, { waits: true })
        return rows.map(({ id }) => id)
      }),

      completeUnlocked: Effect.fn("DeliveryQueue.completeUnlocked")(function* (completions) {
        const rows = yield* complete(sql, completions, { waits: false })
        const of = (isWritten: boolean) => rows.filter((row) => row.is_written === isWritten).map(({ id }) => id)
        return { written: of(true), locked: of(false) }
      })
    })
    const hotStatements = yield* HotStatements
    hotStatements.add("claim", queue.claim({ limit: 0, perOrganization: 1, leaseMs: 1 }))
    hotStatements.add("completion", queue.complete([]))
    hotStatements.add("retried completion", queue.completeUnlocked([]))
    return queue
  })
)
