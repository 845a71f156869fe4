/**
 * Logs outages of the database once for the whole process, whichever part of it fails first.
 *
 * An outage ends with the next statement that succeeds. The probe makes one every second, so that an idle process logs the
 * end too.
 */
import { Cause, Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as ThrottledLog from "../observability/ThrottledLog.ts"
import * as QueryTimeout from "./QueryTimeout.ts"
import * as SqlErrors from "./SqlErrors.ts"

/** The log of the process. A reference, so that the parts that report to it need not be given one. */
export const OutageLog = Context.Reference<ThrottledLog.ThrottledLog>("@govoice/server/database/OutageLog", {
  defaultValue: () => ThrottledLog.make({ down: "Database unavailable", recovered: "Database available again" })
})

/** Counts a transient SQL error towards the outage. Runs `otherwise` for everything else. */
export const report = <R>(cause: Cause.Cause<unknown>, otherwise: Effect.Effect<void, never, R>) =>
  Effect.flatMap(OutageLog, ({ failure }): Effect.Effect<void, never, R> => {
    const error = Cause.squash(cause)
    return SqlErrors.isTransient(error) ? failure(error) : otherwise
  })

/** Records that a statement succeeded. */
export const success: Effect.Effect<void> = Effect.flatMap(OutageLog, (log) => log.success)

const probeEvery = "1 second"

// Reads can succeed while writes fail, as on a full disk: as long as others report failures, the outage goes on.
const quietForMs = 2000

const probe = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { failure, outage, success } = yield* OutageLog
  const current = outage()
  if (current === undefined) return
  const now = yield* Clock.currentTimeMillis
  if (now - current.lastFailureMs < quietForMs) return
  yield* sql`SELECT 1`.pipe(
    QueryTimeout.withTimeout(QueryTimeout.requestMs),
    Effect.matchEffect({ onFailure: failure, onSuccess: () => success })
  )
})

/** Probes the database during an outage for as long as it lives. */
export const layerProbe: Layer.Layer<never, never, SqlClient.SqlClient> = Layer.effectDiscard(
  probe.pipe(Effect.andThen(Effect.sleep(probeEvery)), Effect.forever, Effect.forkScoped)
)
