/**
 * Vacuums the embedded database and writes checkpoints, as the background processes of a Postgres server do. Without them
 * tables and write-ahead log grow without bound.
 *
 * The database has one session, so each step is a statement of its own that others can run between.
 */
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Shared } from "../database/Database.ts"
import * as OutageLog from "../database/OutageLog.ts"
import * as MonotonicTime from "../observability/MonotonicTime.ts"

const every = Schedule.spaced("1 minute")

// As the defaults of autovacuum.
const deadRows = 50
const deadShare = 0.2
const changedShare = 0.1

const checkpointEveryMs = 5 * 60_000
const walBytes = 32 * 1024 * 1024

interface WalStatus {
  readonly written: number
}

/** Vacuums and analyzes the tables that changed much, and returns their names. */
export const vacuum = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The statistics of the session are written once a second otherwise, by a timer that WebAssembly does not have.
  yield* sql`SELECT pg_stat_force_next_flush()`
  const tables = yield* sql<{ readonly name: string }>`
    SELECT relname AS name FROM pg_stat_user_tables
    WHERE n_dead_tup > ${deadRows} + ${deadShare} * n_live_tup
       OR n_mod_since_analyze > ${deadRows} + ${changedShare} * n_live_tup
    ORDER BY relname
  `
  for (const { name } of tables) yield* sql`VACUUM (ANALYZE) ${sql(name)}`
  return tables.map(({ name }) => name)
})

/** Returns how many bytes the write-ahead log has since the last checkpoint. */
const bytesSinceCheckpoint = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<WalStatus>`
    SELECT (pg_current_wal_lsn() - redo_lsn)::float8 AS written FROM pg_control_checkpoint()
  `
  return row?.written ?? 0
})

/** Makes the step that writes a checkpoint when one is due, and tells whether it did. */
export const makeCheckpoint = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  let lastMs = yield* MonotonicTime.now
  return Effect.gen(function* () {
    const now = yield* MonotonicTime.now
    const written = yield* bytesSinceCheckpoint
    if (written < walBytes && (written === 0 || now - lastMs < checkpointEveryMs)) return false
    yield* sql`CHECKPOINT`
    lastMs = now
    return true
  }).pipe(Effect.provideService(SqlClient.SqlClient, sql))
})

/** Maintains the embedded database for as long as it lives. Does nothing for another Postgres. */
export const layer: Layer.Layer<never, never, Shared | SqlClient.SqlClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    if (yield* Shared) return
    const checkpoint = yield* makeCheckpoint
    const maintain = Effect.andThen(vacuum, checkpoint).pipe(
      OutageLog.tolerate("maintenance", "Database maintenance failed")
    )
    yield* Effect.forkScoped(Effect.repeat(maintain, every))
  })
)
