/**
 * A migrated database of its own for each suite, on both kinds of Postgres.
 *
 * On the server of the run it is created before the suite and dropped after it, so suites run side by side. The embedded
 * one lives in memory.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Clock, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import * as Database from "../../src/database/Database.ts"
import { StatementTime } from "../../src/database/StatementTime.ts"
import * as Migrations from "../../src/database/Migrations.ts"

const admin = (url: string) => PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })

const withName = (url: string, name: string): string => {
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.href
}

/** Creates an empty database, drops it when the scope closes, and returns its URL. */
export const acquire = Effect.gen(function* () {
  const url = inject("databaseUrl")
  const name = `test_${Date.now()}_${randomBytes(4).toString("hex")}`
  const run = (make: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
    Effect.flatMap(SqlClient.SqlClient, make).pipe(Effect.provide(admin(url)), Effect.orDie)

  yield* Effect.acquireRelease(
    run((sql) => sql`CREATE DATABASE ${sql(name)}`),
    () => run((sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`)
  )
  return withName(url, name)
})

/** The same for tests that speak promises: an empty database, the means to change it, and to drop it. */
export const create = async () => {
  const scope = Scope.makeUnsafe()
  const url = await Effect.runPromise(Scope.provide(acquire, scope))
  return {
    url,
    run: (statement: string): Promise<ReadonlyArray<unknown>> =>
      Effect.runPromise(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(Effect.provide(admin(url)))
      ),
    drop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

// Statements take the time of `Clock`, so that tests can set it.
const layerClock = Layer.succeed(StatementTime)((sql) =>
  Effect.map(Clock.currentTimeMillis, (now): Statement.Fragment => sql`${PgTypes.timestamptz(now)}`)
)

const migrated = (settings: Parameters<typeof Database.layerClient>[0]) =>
  Migrations.layer.pipe(Layer.provideMerge(Database.layerClient(settings)))

const layerPostgresLive = Layer.unwrap(
  Effect.map(acquire, (url) => Layer.merge(migrated({ _tag: "Postgres", url }), Layer.succeed(Database.Shared)(true)))
)

const layerEmbeddedLive = Layer.merge(
  migrated({ _tag: "Embedded", dataDir: undefined }),
  Layer.succeed(Database.Shared)(false)
)

/** A database on the server of the run. */
export const layerPostgres = Layer.merge(layerPostgresLive, layerClock)

/** An embedded database in memory. */
export const layerEmbedded = Layer.merge(layerEmbeddedLive, layerClock)

/** Both, for suites that every database has to pass. */
export const databases = [
  { name: "Postgres", layer: layerPostgres },
  { name: "embedded", layer: layerEmbedded }
] as const

/** Both, with the clock of the database. */
export const liveDatabases = [
  { name: "Postgres", layer: layerPostgresLive },
  { name: "embedded", layer: layerEmbeddedLive }
] as const
