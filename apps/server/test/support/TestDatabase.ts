/**
 * A migrated database for each suite, on both kinds of Postgres.
 *
 * On the server of the run it is created before the suite and dropped after it, so suites run in parallel. The embedded
 * one lives in memory. Both are copies of a template that the first suite of the run migrates.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Clock, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { inject } from "vitest"
import { onceInRun } from "../../../../test/support/onceInRun.ts"
import * as Database from "../../src/database/Database.ts"
import * as EmbeddedClient from "../../src/database/EmbeddedClient.ts"
import * as EmbeddedPostgres from "../../src/database/EmbeddedPostgres.ts"
import * as PreparedDatabase from "../../src/database/prepared/PreparedDatabase.ts"
import { StatementTime } from "../../src/database/StatementTime.ts"
import * as Migrations from "../../src/database/Migrations.ts"

const admin = (url: string) => PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })

const withName = (url: string, name: string): string => {
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.href
}

const administer = (make: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  Effect.flatMap(SqlClient.SqlClient, make).pipe(Effect.provide(admin(inject("databaseUrl"))), Effect.orDie)

const acquireFrom = Effect.fnUntraced(function* (template: string) {
  const name = `test_${Date.now()}_${randomBytes(4).toString("hex")}`
  yield* Effect.acquireRelease(
    administer((sql) => sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(template)}`),
    () => administer((sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`)
  )
  return withName(inject("databaseUrl"), name)
})

/** Creates an empty database, drops it when the scope closes, and returns its URL. */
export const acquire = acquireFrom("template1")

const createFrom = async (template: string) => {
  const scope = Scope.makeUnsafe()
  const url = await Effect.runPromise(Scope.provide(acquireFrom(template), scope))
  return {
    url,
    run: (statement: string): Promise<ReadonlyArray<unknown>> =>
      Effect.runPromise(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(Effect.provide(admin(url)))
      ),
    drop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** The same for tests with promises: an empty database, with functions that run statements and drop it. */
export const create = () => createFrom("template1")

// Statements take the time of `Clock`, so that tests can set it.
const layerClock = Layer.succeed(StatementTime)((sql) =>
  Effect.map(Clock.currentTimeMillis, (now): Statement.Fragment => sql`${PgTypes.timestamptz(now)}`)
)

const migrate = <A, E>(client: Layer.Layer<A | SqlClient.SqlClient, E>) =>
  Effect.runPromise(Effect.scoped(Layer.build(Migrations.layer.pipe(Layer.provide(client), Layer.fresh))))

const folderOf = (name: string): string => join(inject("runFolder"), name)

/** Creates the template on the server of the run, and returns its name. */
const templateDatabase = async (): Promise<string> => {
  const name = inject("templateDatabase")
  await onceInRun(folderOf("postgres"), async () => {
    await Effect.runPromise(administer((sql) => sql`CREATE DATABASE ${sql(name)}`))
    await migrate(Database.layerClient({ _tag: "Postgres", url: withName(inject("databaseUrl"), name) }))
  })
  return name
}

/** Creates a database that is migrated, with functions that run statements and drop it. */
export const createMigrated = async () => createFrom(await templateDatabase())

/** The files of a prepared database. The first suite of a run makes them unless an earlier run has. */
export const preparedFiles = Effect.gen(function* () {
  yield* Effect.promise(() => onceInRun(folderOf("embedded"), () => Effect.runPromise(PreparedDatabase.find)))
  return yield* PreparedDatabase.find
})

const layerPostgresLive = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* acquireFrom(yield* Effect.promise(templateDatabase))
    return Layer.merge(Database.layerClient({ _tag: "Postgres", url }), Layer.succeed(Database.Shared)(true))
  })
)

const layerEmbeddedLive = Layer.merge(
  Layer.unwrap(Effect.map(EmbeddedPostgres.open(undefined, preparedFiles), EmbeddedClient.layer)),
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
