/** The database of a deployment: the Postgres that the settings name, or the embedded one. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as StartProgress from "../observability/StartProgress.ts"
import { definitions } from "../settings/definitions.ts"
import { DeploymentError } from "../settings/DeploymentError.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import { awaited } from "./awaited.ts"
import { poolerRemedy } from "./explain.ts"
import * as HotStatements from "./HotStatements.ts"
import * as Migrations from "./Migrations.ts"
import * as OutageLog from "./OutageLog.ts"
import * as Partitions from "./Partitions.ts"
import * as PoolMetrics from "./PoolMetrics.ts"
import * as PostgresClient from "./PostgresClient.ts"
import * as SessionCheck from "./SessionCheck.ts"
import { applicationName, deadlineMs, sessionParameters } from "./sessionParameters.ts"

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
    const { database } = yield* Settings
    const sql = yield* SqlClient.SqlClient
    const progress = yield* StartProgress.StartProgress
    progress.reason = StartProgress.database
    yield* awaited(sql`SELECT 1`)
    yield* awaited(Effect.andThen(rejectUnnamedPooler(database), migrate(database)))
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
