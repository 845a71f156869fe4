/**
 * A migrated database for each suite, on the server of the run or embedded.
 *
 * On the server of the run it is created before the suite and dropped after it, so suites run in parallel. The embedded
 * one lives in memory. Both are copies of a template that the first suite of the run migrates.
 */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Effect, Layer } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { join } from "node:path"
import { inject } from "vitest"
import { createFrom, templateDatabase } from "../../../../test/support/databases.ts"
import { onceInRun } from "../../../../test/support/onceInRun.ts"
import * as Database from "../../src/database/Database.ts"
import * as EmbeddedClient from "../../src/database/EmbeddedClient.ts"
import * as EmbeddedPostgres from "../../src/database/EmbeddedPostgres.ts"
import * as PreparedDatabase from "../../src/database/prepared/PreparedDatabase.ts"
import { EvaluationTime, StatementTime } from "../../src/database/StatementTime.ts"
import * as Migrations from "../../src/database/Migrations.ts"
import * as Partitions from "../../src/database/Partitions.ts"
import * as PostgresClient from "../../src/database/PostgresClient.ts"
import { applicationName, sessionParameters } from "../../src/database/sessionParameters.ts"
import { definitions } from "../../src/settings/definitions.ts"

const acquireFrom = (template: Effect.Effect<string>) =>
  Effect.acquireRelease(
    Effect.flatMap(template, (name) => Effect.promise(() => createFrom(name))),
    ({ drop }) => Effect.promise(drop)
  ).pipe(Effect.map(({ url }) => url))

/** A client without time limits: on a busy machine, storing many rows takes longer than a statement of the server may. */
export const layerClient = (url: string) =>
  PostgresClient.layer(
    { _tag: "Postgres", url },
    {
      applicationName,
      maxConnections: definitions.GOVOICE_DATABASE_CONNECTIONS.default,
      parameters: { ...sessionParameters, statement_timeout: "0" },
      decidePlans: false
    }
  )

/** Creates an empty database, drops it when the scope closes, and returns its URL. */
export const acquire = acquireFrom(Effect.succeed("template1"))

// Statements take the time of `Clock`, so that tests can set it.
const timeOfClock = (sql: SqlClient.SqlClient) =>
  Effect.map(Clock.currentTimeMillis, (now): Statement.Fragment => sql`${PgTypes.timestamptz(now)}`)
const layerClock = Layer.merge(Layer.succeed(StatementTime)(timeOfClock), Layer.succeed(EvaluationTime)(timeOfClock))

/** Migrates a database on the server of the run. */
export const migrate = (url: string): Promise<unknown> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.provide(
        Effect.andThen(Migrations.run, Partitions.make(Partitions.weeksAhead)),
        Layer.fresh(layerClient(url))
      )
    )
  )

/** The files of a prepared database. The first suite of a run makes them unless an earlier run has. */
export const preparedFiles = Effect.gen(function* () {
  yield* Effect.promise(() =>
    onceInRun(join(inject("runFolder"), "embedded"), () => Effect.runPromise(PreparedDatabase.find))
  )
  return yield* PreparedDatabase.find
})

export const layerPostgresLive = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* acquireFrom(Effect.promise(templateDatabase))
    return Layer.merge(layerClient(url), Layer.succeed(Database.Shared)(true))
  })
)

export const layerEmbeddedLive = Layer.merge(
  Layer.effectDiscard(Partitions.make(Partitions.weeksAhead)).pipe(
    Layer.provideMerge(Layer.unwrap(Effect.map(EmbeddedPostgres.open(undefined, preparedFiles), EmbeddedClient.layer)))
  ),
  Layer.succeed(Database.Shared)(false)
)

/** A database on the server of the run. */
export const layerPostgres = Layer.merge(layerPostgresLive, layerClock)

/** An embedded database in memory. */
export const layerEmbedded = Layer.merge(layerEmbeddedLive, layerClock)

// The suite has the server; the long tests have the embedded one, which takes several times as long (`vitest.long.config.ts`).
const onServer = process.env["DATABASE"] !== "embedded"

/** The database of the run, for suites that every database has to pass. */
export const database = onServer
  ? { name: "Postgres", layer: layerPostgres }
  : { name: "embedded", layer: layerEmbedded }

/** The same, with the clock of the database. */
export const liveDatabase = onServer
  ? { name: "Postgres", layer: layerPostgresLive }
  : { name: "embedded", layer: layerEmbeddedLive }
