/**
 * Promotes retries that are due and rescues deliveries whose lease expired.
 *
 * An expired lease releases the delivery and its concurrency slot, and the completion of its worker is discarded. It counts
 * as an interruption, and the delivery is retried after a wait. Deliveries in quarantine are not promoted. No index
 * contains lease times: `organization_concurrency` has the time of the next lease check, and its counts bound the number
 * of leases to find. The statement is in `promote.sql.ts`.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Cte from "../database/Cte.ts"
import { StatementTime } from "../database/StatementTime.ts"
import { Settings } from "../settings/Settings.ts"
import { promote, type PromoteParameters, type PromoteRow } from "./promote.sql.ts"

/** Counts of promoted and rescued deliveries. Times are in milliseconds since the epoch. */
export interface Promoted {
  readonly retries: number
  readonly leases: number
  /** When the next retry is due or the next lease check is; absent when there is none. */
  readonly next: number | undefined
  /** Whether there is anything to claim. */
  readonly anyDue: boolean
}

/** Service that promotes due retries and rescues expired leases. */
export class DeliveryScheduler extends Context.Service<
  DeliveryScheduler,
  { readonly promoteDue: Effect.Effect<Promoted, SqlError.SqlError> }
>()("@govoice/server/webhooks/DeliveryScheduler") {}

/** The limits of the statement. */
export const limits = { maxRetries: 1000, maxOrganizations: 200, recheckMs: 1000 }

/** Layer that provides `DeliveryScheduler` from a migrated database. */
export const layer: Layer.Layer<DeliveryScheduler, never, SqlClient.SqlClient | Settings> = Layer.effect(
  DeliveryScheduler,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)
    const { retrySchedule } = (yield* Settings).webhooks

    const promoteDue = Effect.gen(function* () {
      const clock = yield* Clock.currentTimeMillis
      const parameters = { ...limits, retrySchedule, now: yield* statementTime }
      const [row] = yield* Cte.make<PromoteRow, PromoteParameters>(sql, promote, parameters)
      const { any_due: anyDue, full, leases, next, now, retries } = row!
      // In the time of `Clock`, which may differ from that of the database. After a full batch there may be more.
      const waitMs = full ? 0 : next === null ? undefined : next.getTime() - now.getTime()
      return { retries, leases, anyDue, next: waitMs === undefined ? undefined : clock + waitMs }
    }).pipe(Effect.withSpan("DeliveryScheduler.promoteDue"))

    return { promoteDue }
  })
)
