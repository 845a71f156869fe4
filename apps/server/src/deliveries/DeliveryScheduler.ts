/**
 * Promotes retries that are due, and releases leases that have expired.
 *
 * An expired lease frees the slot of its delivery, and the completion of its worker is discarded. It counts as an interruption
 * (see `Interruptions`). The statement is in `promote.sql.ts`.
 */
import { Clock, Context, Effect, Layer, Metric } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { StatementTime } from "../database/StatementTime.ts"
import * as Interruptions from "./Interruptions.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import { Settings } from "../settings/Settings.ts"
import { promote } from "./promote.sql.ts"

/** Counts of promoted and released deliveries. Times are in milliseconds since the epoch. */
export interface Promoted {
  readonly retries: number
  readonly leases: number
  /** When the next retry is due or the next lease check is; absent when there is none. */
  readonly next: number | undefined
  /** Whether there is anything to claim. */
  readonly anyDue: boolean
}

/** Service that promotes due retries and releases expired leases. */
export class DeliveryScheduler extends Context.Service<
  DeliveryScheduler,
  { readonly promoteDue: Effect.Effect<Promoted, SqlError.SqlError> }
>()("@govoice/server/deliveries/DeliveryScheduler") {}

/** The limits of the statement. */
export const limits = { maxRetries: 1000, maxOrganizations: 200, recheckMs: 1000 }

const reportStopped = Effect.fnUntraced(function* (deliveryId: string) {
  yield* Metric.update(EngineMetrics.attempts("stopped"), 1)
  yield* EngineMetrics.countCompletion("failed", true)
  yield* Effect.annotateLogs(
    Effect.logError(`Delivery stopped: it interrupted its sender ${Interruptions.endsAfter} times`),
    { deliveryId }
  )
})

/** Layer that provides `DeliveryScheduler` from a migrated database. */
export const layer: Layer.Layer<DeliveryScheduler, never, SqlClient.SqlClient | Settings> = Layer.effect(
  DeliveryScheduler,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)
    const { retrySchedule } = (yield* Settings).webhooks

    const promoteDue = Effect.gen(function* () {
      const clock = yield* Clock.currentTimeMillis
      const [row] = yield* promote(sql, { ...limits, retrySchedule, now: yield* statementTime })
      const { any_due: anyDue, full, leases, next, now, retries, stopped } = row!
      yield* Metric.update(EngineMetrics.leasesExpired, leases)
      yield* Effect.forEach(stopped, reportStopped, { discard: true })
      // In the time of `Clock`, which may differ from that of the database. After a full batch there may be more.
      const waitMs = full ? 0 : next === null ? undefined : next.getTime() - now.getTime()
      return { retries, leases, anyDue, next: waitMs === undefined ? undefined : clock + waitMs }
    }).pipe(Effect.withSpan("DeliveryScheduler.promoteDue"))

    return { promoteDue }
  })
)
