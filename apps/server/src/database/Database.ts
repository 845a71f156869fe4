/**
 * The database of a deployment: the Postgres that the settings name, or the embedded one.
 *
 * @since 0.1.0
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { join } from "node:path"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
import * as DataDirLock from "./DataDirLock.ts"
import * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
import * as Migrations from "./Migrations.ts"

/**
 * Whether other processes can be on the same database. The embedded one belongs to this process alone.
 *
 * @category references
 * @since 0.1.0
 */
export class Shared extends Context.Service<Shared, boolean>()("@govoice/server/database/Shared") {}

const applicationName = "govoice"

// A statement that is stuck, or a transaction that its process has forgotten, gives up and lets others go on. A request
// waits a little longer than a statement, and says that the service is not available.
const startupParameters = {
  timezone: "UTC",
  statement_timeout: "10s",
  idle_in_transaction_session_timeout: "30s"
}

const layerPostgres = (url: string) =>
  PgClient.layer({
    url: Redacted.make(url),
    applicationName,
    maxConnections: 20,
    connectTimeout: "5 seconds",
    keepAlive: "10 seconds",
    startupParameters
  })

const openEmbedded = Effect.fnUntraced(function* (dataDir: string | undefined) {
  if (dataDir === undefined) return yield* EmbeddedPostgres.open(undefined)
  yield* DataDirLock.acquire(dataDir)
  return yield* EmbeddedPostgres.open(join(dataDir, "postgres"))
})

const layerEmbedded = (dataDir: string | undefined) =>
  Layer.unwrap(
    Effect.map(openEmbedded(dataDir), (stream) =>
      PgClient.layer({
        stream,
        username: "postgres",
        database: "postgres",
        applicationName,
        maxConnections: 1,
        minConnections: 1,
        idleTimeout: "365 days",
        keepAlive: "10 seconds",
        startupParameters
      })
    )
  )

/**
 * The client of the database that these settings name, not yet migrated.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerClient = (settings: SettingsShape["database"]) =>
  settings._tag === "Postgres" ? layerPostgres(settings.url) : layerEmbedded(settings.dataDir)

/**
 * The database of the deployment, brought up to date.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ database }) =>
    Migrations.layer.pipe(
      Layer.provideMerge(layerClient(database)),
      Layer.merge(Layer.succeed(Shared)(database._tag === "Postgres"))
    )
  )
)
