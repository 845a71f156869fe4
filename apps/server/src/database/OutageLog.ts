/**
 * Logs outages of the database once for the whole process, whichever part of it fails first.
 *
 * An outage ends with the next statement that succeeds. The probe makes one every second, so that an idle process logs the
 * end too.
 */
import { Cause, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as MonotonicTime from "../observability/MonotonicTime.ts"
import * as ThrottledLog from "../observability/ThrottledLog.ts"
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

/** Logs and counts an iteration of a loop that fails, whatever the reason, so that the loop goes on. The iteration has no result then. */
export const tolerate =
  (loop: EngineMetrics.Loop, message: string) =>
  <A, E, R>(iteration: Effect.Effect<A, E, R>): Effect.Effect<A | undefined, never, R> =>
    Effect.catchCause(iteration, (cause) =>
      report(cause, Effect.logWarning(message, cause)).pipe(
        Effect.andThen(EngineMetrics.countFailedIteration(loop)),
        Effect.as(undefined)
      )
    )

/** Records that a statement succeeded. */
export const success: Effect.Effect<void> = Effect.flatMap(OutageLog, (log) => log.success)

const probeEvery = "1 second"

// As long as others report failures, the outage goes on.
const quietForMs = 2000

// Reads succeed while the disk is full, and so do writes to pages that exist.
const writeToDisk = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.withTransaction(
    Effect.andThen(
      sql`CREATE TEMPORARY TABLE govoice_disk_probe (filler text) ON COMMIT DROP`,
      sql`INSERT INTO govoice_disk_probe SELECT repeat('x', 1000) FROM generate_series(1, 100)`
    )
  )
)

/** Why the process cannot work while an outage goes on, although the database accepts connections; otherwise `undefined`. */
export const problem: Effect.Effect<string | undefined> = Effect.map(OutageLog, ({ outage }) => {
  const error = outage()?.lastError
  if (SqlErrors.isDiskFull(error)) return "The disk of the database is full."
  return SqlErrors.isSilent(error) ? "The database does not answer." : undefined
})

const probe = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { failure, outage, success } = yield* OutageLog
  const current = outage()
  if (current === undefined) return
  const now = yield* MonotonicTime.now
  if (now - current.lastFailureMs < quietForMs) return
  const statement: Effect.Effect<unknown, SqlError.SqlError, SqlClient.SqlClient> = SqlErrors.isDiskFull(
    current.lastError
  )
    ? writeToDisk
    : sql`SELECT 1`
  yield* Effect.matchEffect(statement, { onFailure: failure, onSuccess: () => success })
})

/** Probes the database during an outage for as long as it lives. */
export const layerProbe: Layer.Layer<never, never, SqlClient.SqlClient> = Layer.effectDiscard(
  probe.pipe(Effect.andThen(Effect.sleep(probeEvery)), Effect.forever, Effect.forkScoped)
)
