/** The database of a deployment: the Postgres that the settings name, or the embedded one. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as MonotonicTime from "../observability/MonotonicTime.ts"
import * as StartProgress from "../observability/StartProgress.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import { definitions } from "../settings/definitions.ts"
import { DeploymentError } from "../settings/DeploymentError.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import { poolerRemedy } from "./explain.ts"
import * as HotStatements from "./HotStatements.ts"
import * as Migrations from "./Migrations.ts"
import * as OutageLog from "./OutageLog.ts"
import * as Partitions from "./Partitions.ts"
import * as PoolMetrics from "./PoolMetrics.ts"
import * as PostgresClient from "./PostgresClient.ts"
import * as SessionCheck from "./SessionCheck.ts"
import { applicationName, deadlineMs, sessionParameters } from "./sessionParameters.ts"
import * as SqlErrors from "./SqlErrors.ts"

/** Whether other processes can use the same database. The embedded one belongs to this process alone. */
export class Shared extends Context.Service<Shared, boolean>()("@govoice/server/database/Shared") {}

/** How many connections serve the requests of a process, at most. */
export const maxConnections = ({ connections }: PostgresClient.PostgresSettings): number =>
  connections ?? definitions.GOVOICE_DATABASE_CONNECTIONS.default

const layerPostgres = (settings: PostgresClient.PostgresSettings) =>
  PostgresClient.layer(settings, {
    applicationName,
    maxConnections: maxConnections(settings),
    parameters: sessionParameters,
    decidePlans: false,
    deadlineMs
  })

// PGlite is loaded where it is used.
const layerEmbedded = (dataDir: string | undefined) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("./EmbeddedDatabase.ts")),
      ({ layer }) => layer(dataDir)
    )
  )

/** The client of the database of these settings. Migrates nothing. */
export const layerClient = (settings: SettingsShape["database"]) =>
  settings._tag === "Postgres" ? layerPostgres(settings) : layerEmbedded(settings.dataDir)

// Statements of migrations, which may take hours, have no timeouts. Keep-alive ends their connections where the peer is gone.
const layerMigrating = (settings: PostgresClient.PostgresSettings) =>
  PostgresClient.layer(settings, {
    applicationName: "govoice-migrate",
    maxConnections: 1,
    parameters: { statement_timeout: "0" },
    decidePlans: false
  })

/**
 * Applies the migrations that are missing to a database that the server can work with, and makes the partitions of this week and the next.
 * Writes nothing to a database that has them.
 */
export const migrate = (
  settings: SettingsShape["database"]
): Effect.Effect<void, DeploymentError | SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const fault = yield* SessionCheck.fault
    if (fault !== undefined) return yield* fault
    if (settings._tag === "Embedded") yield* Migrations.run
    else if (!(yield* Migrations.isCurrent)) {
      yield* Effect.provide(Migrations.run, layerMigrating(settings), { local: true })
    }
    yield* Partitions.make(1)
  })

const connectEvery = "500 millis"

/** Waits until the database accepts a connection. Errors that only an operator can correct fail at once. */
const awaitConnection = (waitMs: number): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const startedAt = yield* MonotonicTime.now
    let failures = 0
    const connect = sql`SELECT 1`.pipe(
      Effect.tapError((error) =>
        SqlErrors.isUnreachable(error) && failures++ === 0 && waitMs > 0
          ? Effect.annotateLogs(Effect.logWarning(`Database unavailable; waiting up to ${waitMs} ms`), {
              reason: reasonOf(error)
            })
          : Effect.void
      )
    )
    yield* Effect.retry(connect, {
      schedule: Schedule.spaced(connectEvery),
      while: (error) =>
        Effect.map(MonotonicTime.now, (now) => SqlErrors.isUnreachable(error) && now - startedAt < waitMs)
    })
    if (failures > 0) yield* Effect.annotateLogs(Effect.logInfo("Database available"), { failures })
  })

// With `ignore_startup_parameters`, PgBouncer accepts the parameters and drops them.
const rejectUnnamedPooler = (settings: SettingsShape["database"]) =>
  Effect.gen(function* () {
    if (settings._tag === "Embedded" || settings.pooler !== undefined) return
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly timeout: string }>`SELECT current_setting('statement_timeout') AS timeout`
    if (row?.timeout === sessionParameters.statement_timeout) return
    return yield* new DeploymentError({
      message: `The database ignores parameters of sessions (statement_timeout is ${row?.timeout}, expected ${sessionParameters.statement_timeout}): DATABASE_URL is that of a pooler. ${poolerRemedy}`
    })
  })

/** Waits for the database, and migrates it, while it is built. */
const layerPrepared = Layer.effectDiscard(
  Effect.gen(function* () {
    const { database, databaseWaitMs } = yield* Settings
    const progress = yield* StartProgress.StartProgress
    progress.reason = "The server waits for the database."
    yield* awaitConnection(databaseWaitMs)
    progress.reason = StartProgress.starting
    yield* rejectUnnamedPooler(database)
    yield* migrate(database)
  })
)

const layerPoolMetrics = Layer.effectDiscard(
  Effect.flatMap(PgClient.PgClient, (client) => PoolMetrics.observe("requests", client))
)

/** The database of the deployment, migrated. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ database }) =>
    Layer.mergeAll(layerPrepared, layerPoolMetrics, OutageLog.layerProbe).pipe(
      Layer.provideMerge(layerClient(database)),
      Layer.merge(Layer.succeed(Shared)(database._tag === "Postgres")),
      Layer.merge(HotStatements.layer)
    )
  )
)
