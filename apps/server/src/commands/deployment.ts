/**
 * The deployment that a command works on: its settings and its database.
 *
 * @since 0.1.0
 */
import { Effect, Layer } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import * as Database from "../database/Database.ts"
import { DataDirInUse } from "../database/DataDirLock.ts"
import * as Migrations from "../database/Migrations.ts"
import { reasonOf } from "../process/StartFailure.ts"
import { InvalidSettings, read, type SettingsShape } from "../settings/Settings.ts"
import { Failure } from "./Failure.ts"

/**
 * The environment variables of the process.
 *
 * @category models
 * @since 0.1.0
 */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the settings.
 *
 * @category constructors
 * @since 0.1.0
 */
export const settings = (environment: Environment): Effect.Effect<SettingsShape, Failure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read(environment))
    } catch (error) {
      if (!(error instanceof InvalidSettings)) throw error
      return Effect.fail(new Failure({ message: `${error.message}\nSee every setting with: govoice settings` }))
    }
  })

const unreachable = (database: SettingsShape["database"], cause: unknown): Failure => {
  if (cause instanceof DataDirInUse) {
    return new Failure({
      holder: cause.holder,
      message: `${cause.dataDir} is in use by ${cause.holder}. The embedded database belongs to one process at a time: stop the server first, or use its API.`
    })
  }
  const remedy = database._tag === "Postgres" ? "Check DATABASE_URL, and that Postgres runs" : "Check GOVOICE_DATA_DIR"
  return new Failure({
    message: `The database did not do what it was asked: ${reasonOf(cause)}\n${remedy}. More says: govoice doctor`
  })
}

const isFailure = (error: unknown): boolean => error instanceof SqlError.SqlError

/**
 * Runs `effect` on the database, as it is. What the database cannot do is a failure for whoever asked, wherever it happens:
 * connections are made when they are needed, and stores call it a defect.
 *
 * @category running
 * @since 0.1.0
 */
export const onDatabase = <A, E, R>(
  { database }: SettingsShape,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Failure, Exclude<R, SqlClient.SqlClient>> =>
  Layer.build(Database.layerClient(database)).pipe(
    Effect.mapError((cause) => unreachable(database, cause)),
    Effect.flatMap((client) => Effect.provide(effect, client)),
    Effect.scoped,
    Effect.mapError((error) => (isFailure(error) ? unreachable(database, error) : error)),
    Effect.catchDefect((defect) =>
      isFailure(defect) ? Effect.fail(unreachable(database, defect)) : Effect.die(defect)
    )
  ) as Effect.Effect<A, Exclude<E, SqlError.SqlError> | Failure, Exclude<R, SqlClient.SqlClient>>

/**
 * Runs `effect` on the database, brought up to date first.
 *
 * @category running
 * @since 0.1.0
 */
export const onMigrated = <A, E, R>(
  settings: SettingsShape,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Failure, Exclude<R, SqlClient.SqlClient>> =>
  onDatabase(
    settings,
    Effect.andThen(
      Effect.mapError(Migrations.run, (cause) => unreachable(settings.database, cause)),
      effect
    )
  ) as Effect.Effect<A, Exclude<E, SqlError.SqlError> | Failure, Exclude<R, SqlClient.SqlClient>>
