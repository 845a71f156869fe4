/**
 * The queue of deliveries, which is the `deliveries` table.
 *
 * A claim serves organizations in turn. It scans the endpoints that have available deliveries, beginning behind the
 * endpoint of the claim before, takes a few of each, and wraps around. Its cost depends on how much it takes, not on
 * how much is available. Concurrency limits hold over all workers: the counts of deliveries in flight are in
 * `organization_concurrency`, and every change of them locks the row. A claim skips rows that are locked.
 *
 * An endpoint may have as many deliveries in flight as its organization has free slots, so that endpoints that hang
 * always leave a slot for another. The only endpoint of an organization may use all slots.
 *
 * In the same way, organizations leave slots for each other: of the slots that a claim may fill, only some are general. The
 * others are for organizations without a delivery in flight, one for each.
 *
 * Leases and fencing tokens are as in `InvoiceQueue`. The statements are in `claim.sql.ts` and `complete.sql.ts`.
 */
import type { Ids } from "@govoice/core"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Cte from "../database/Cte.ts"
import { StatementTime } from "../database/StatementTime.ts"
import { claim, type ClaimRow, type ScanSummary } from "./claim.sql.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import { complete } from "./complete.sql.ts"
import type { Completion } from "./Completion.ts"
import * as EndpointScan from "./EndpointScan.ts"

/** The result of a claim. */
export interface DeliveryClaim {
  readonly deliveries: ReadonlyArray<ClaimedDelivery>
  /** Whether another claim may find more at once. */
  readonly more: boolean
  /** Organizations with available deliveries beyond their concurrency limit. A completion of theirs frees a slot. */
  readonly atConcurrencyLimit: ReadonlyArray<Ids.OrganizationId>
  /** The completions that were written; the lease of the others was lost. */
  readonly completed: ReadonlyArray<Ids.DeliveryId>
}

/**
 * How much to claim. By default all slots are general, there are no `completions`, and `resume` is false.
 *
 * With `resume`, a claim begins at the resume cursors of the claim before, so that a backlog drains as fast at its end as
 * at its beginning. It does not see deliveries that became available since with an earlier due time, such as retries.
 */
export interface DeliveryClaimOptions {
  readonly limit: number
  /** How many of them may be of organizations that have deliveries in flight. */
  readonly general?: number
  readonly perOrganization: number
  readonly leaseMs: number
  readonly resume?: boolean
  readonly completions?: ReadonlyArray<Completion>
  /** The partitions of the organizations to claim for; all by default. */
  readonly partitions?: ReadonlyArray<string> | undefined
}

/** Service that claims and completes deliveries. */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /** Writes completions and then claims, in one transaction. The slots of the completions are free for the claim. */
    readonly claim: (options: DeliveryClaimOptions) => Effect.Effect<DeliveryClaim, SqlError.SqlError>
    /** Writes completions, and returns those that were written: the lease of the others was lost. */
    readonly complete: (
      completions: ReadonlyArray<Completion>
    ) => Effect.Effect<ReadonlyArray<Ids.DeliveryId>, SqlError.SqlError>
  }
>()("@govoice/server/webhooks/DeliveryQueue") {}

const nothingScanned: ScanSummary = {
  ended: true,
  last: null,
  skippedLocked: false,
  limitHit: false,
  atConcurrencyLimit: [],
  resumeCursors: [],
  completed: []
}

const readRows = (rows: ReadonlyArray<ClaimRow>) => {
  const deliveries: Array<ClaimedDelivery> = []
  let summary = nothingScanned
  for (const row of rows) {
    if (row.scan_summary === null) deliveries.push(row)
    else summary = row.scan_summary
  }
  return { deliveries, summary }
}

/** Layer that provides `DeliveryQueue` from a migrated database. It keeps the scan cursor of its worker. */
export const layer: Layer.Layer<DeliveryQueue, never, SqlClient.SqlClient> = Layer.effect(
  DeliveryQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)
    let scan = EndpointScan.initial

    const claimPage = Effect.fnUntraced(function* (
      from: EndpointScan.EndpointScan,
      { general, leaseMs, limit, partitions, perOrganization }: DeliveryClaimOptions,
      completions: ReadonlyArray<Completion>
    ) {
      const { after } = from
      const resumeCursors = EndpointScan.resumeCursorsAhead(from)
      const now = yield* statementTime
      const parameters = {
        completions,
        after,
        resumeCursors,
        partitions,
        limit,
        general: Math.min(limit, general ?? limit),
        perOrganization,
        leaseMs,
        now
      }
      const page = readRows(yield* Cte.make<ClaimRow, typeof parameters>(sql, claim, parameters))
      return { ...page, ...EndpointScan.advance(from, page.summary, partitions) }
    })

    return {
      claim: Effect.fn("DeliveryQueue.claim")(function* (options) {
        let round = EndpointScan.beginRound(scan, options.resume === true, options.partitions)
        let skippedLocked = false
        let completed: ReadonlyArray<Ids.DeliveryId> | undefined
        const atConcurrencyLimit = new Set<Ids.OrganizationId>()
        while (true) {
          const completions = completed === undefined ? (options.completions ?? []) : []
          const page = yield* claimPage(round, options, completions)
          const { deliveries, reachedEnd, summary, visitedAll } = page
          scan = round = page.scan
          completed ??= summary.completed
          skippedLocked ||= summary.skippedLocked
          for (const id of summary.atConcurrencyLimit) atConcurrencyLimit.add(id)
          if (deliveries.length > 0 || visitedAll) {
            const more = skippedLocked || (deliveries.length > 0 && (summary.limitHit || !reachedEnd))
            return { deliveries, more, atConcurrencyLimit: [...atConcurrencyLimit], completed }
          }
        }
      }),

      complete: Effect.fn("DeliveryQueue.complete")(function* (completions) {
        const parameters = { completions, now: yield* statementTime }
        const rows = yield* Cte.make<{ readonly id: Ids.DeliveryId }, typeof parameters>(sql, complete, parameters)
        return rows.map(({ id }) => id)
      })
    }
  })
)
