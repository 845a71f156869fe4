/**
 * The replica of `GOVOICE_DATABASE_REPLICA_URL`, which serves the lists and statistics of the control plane.
 *
 * Once a second the process compares how far the primary has written with how far the replica has replayed. A replica that is
 * more than ten seconds behind, or does not answer, is not used: the primary serves these reads, as it does without a replica.
 */
import { Context, Data, Effect, Fiber, Layer, type Scope } from "effect"
import { PgClient } from "@effect/sql-pg"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import * as MonotonicTime from "../observability/MonotonicTime.ts"
import * as ThrottledLog from "../observability/ThrottledLog.ts"
import { Settings } from "../settings/Settings.ts"
import { maxConnections } from "./Database.ts"
import * as PoolMetrics from "./PoolMetrics.ts"
import * as PostgresClient from "./PostgresClient.ts"
import { sessionParameters } from "./sessionParameters.ts"

/** How far behind the primary a replica may be, in milliseconds. */
export const maxLagMs = 10_000

/** How long a replica is waited for, in milliseconds. The primary serves a read that takes longer. */
const waitMs = 2000

const measureEvery = "1 second"

/** Runs a statement whose answer may be `maxLagMs` late: on the replica while it is usable, otherwise on the primary. */
export type LateRead = <A extends object>(
  statement: Statement.Statement<A>
) => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>

/** How statements that may be late run. Without a replica, on the primary. */
export const LateRead = Context.Reference<LateRead>("@govoice/server/database/LateRead", {
  defaultValue: () => (statement) => statement
})

/** The replica cannot be used. */
export class NotUsable extends Data.TaggedError("NotUsable")<{ readonly message: string }> {}

/** A place in the write-ahead log of a database. */
export interface Position {
  readonly isPrimary: boolean
  readonly bytes: number
  readonly database: string
}

/** How far a server has written, or replayed as a replica. */
export const position = (sql: SqlClient.SqlClient): Effect.Effect<Position, SqlError.SqlError> =>
  Effect.map(
    sql<Position>`
      SELECT NOT pg_is_in_recovery() AS "isPrimary",
             (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - '0/0')::float8 AS bytes,
             (SELECT system_identifier FROM pg_control_system()) || ' ' || current_database() AS database
    `,
    ([row]) => row!
  )

/** Fails unless the server is a replica of this primary. */
export const check = (primary: Position, replica: Position): Effect.Effect<void, NotUsable> => {
  if (replica.database !== primary.database) {
    return new NotUsable({ message: "It is the server of another database" })
  }
  return replica.isPrimary ? new NotUsable({ message: "It is no replica" }) : Effect.void
}

/** The client of the replica of these settings. */
export const layerClient = (settings: PostgresClient.PostgresSettings, url: string) =>
  PostgresClient.layer(
    // A pooler in front of the replica needs the same as one in front of the primary.
    { ...settings, url, pooler: settings.pooler === undefined ? undefined : { directUrl: undefined } },
    {
      applicationName: "govoice-replica",
      maxConnections: Math.ceil(maxConnections(settings) / 2),
      parameters: { ...sessionParameters, statement_timeout: `${waitMs}ms` },
      decidePlans: false,
      deadlineMs: waitMs
    }
  )

// A silent server would let an interruption wait. The statement and its connection end by themselves.
const withoutWaiting =
  (scope: Scope.Scope) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | NotUsable> =>
    Effect.flatMap(Effect.forkIn(effect, scope), (fiber) =>
      Effect.timeoutOrElse(Fiber.join(fiber), {
        duration: waitMs,
        orElse: () => new NotUsable({ message: `No answer within ${waitMs} ms` })
      })
    )

const make = Effect.fnUntraced(function* (settings: PostgresClient.PostgresSettings, url: string) {
  const primary = yield* SqlClient.SqlClient
  const client = Context.get(yield* Layer.build(layerClient(settings, url)), PgClient.PgClient)
  yield* PoolMetrics.observe("replica", client)
  const onReplica = withoutWaiting(yield* Effect.scope)
  const log = ThrottledLog.make({
    down: "Replica not used; the primary serves its reads",
    recovered: "Replica used again"
  })

  /** How far the primary had written, and when: the oldest first, for as long as a replica may be behind. */
  let written: ReadonlyArray<{ readonly atMs: number; readonly bytes: number }> = []
  /** When the primary had what the replica has. */
  let currentAtMs = -Infinity

  const measure = Effect.gen(function* () {
    const atMs = yield* MonotonicTime.now
    const ofPrimary = yield* position(primary)
    written = [...written.filter((one) => atMs - one.atMs <= maxLagMs), { atMs, bytes: ofPrimary.bytes }]
    const ofReplica = yield* onReplica(position(client))
    yield* check(ofPrimary, ofReplica)
    const replayed = written.findLast(({ bytes }) => bytes <= ofReplica.bytes)
    if (replayed === undefined) {
      return yield* new NotUsable({ message: `It is more than ${maxLagMs / 1000} s behind` })
    }
    currentAtMs = replayed.atMs
  }).pipe(
    Effect.matchEffect({
      onSuccess: () => log.success,
      onFailure: (error) => {
        currentAtMs = -Infinity
        return log.failure(error)
      }
    })
  )
  yield* measure.pipe(Effect.andThen(Effect.sleep(measureEvery)), Effect.forever, Effect.forkScoped)

  // Others do not wait for a replica that failed. The next measurement tells whether it can be used.
  const instead = <A>(onPrimary: A) => {
    currentAtMs = -Infinity
    return onPrimary
  }
  const read: LateRead = <A extends object>(statement: Statement.Statement<A>) =>
    Effect.flatMap(MonotonicTime.now, (now) =>
      now - currentAtMs > maxLagMs
        ? statement
        : onReplica(client<A>`${statement}`).pipe(Effect.catch(() => instead(statement)))
    )
  return read
})

/** Provides `LateRead` from the database, where the settings name a replica and the process serves the API. */
export const layer: Layer.Layer<never, SqlError.SqlError, Settings | SqlClient.SqlClient> = Layer.effect(
  LateRead,
  Effect.gen(function* () {
    const { database, role } = yield* Settings
    return database._tag === "Embedded" || database.replicaUrl === undefined || role === "worker"
      ? yield* LateRead
      : yield* make(database, database.replicaUrl)
  })
)
