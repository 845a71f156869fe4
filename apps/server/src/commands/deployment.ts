/** The deployment that a command works on: its settings, secrets and database. */
import { Effect, Layer } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Database from "../database/Database.ts"
import { DataDirInUse } from "../database/DataDirLock.ts"
import { explain } from "../database/explain.ts"
import { DeploymentError } from "../settings/DeploymentError.ts"
import * as DeploymentSecrets from "../settings/DeploymentSecrets.ts"
import { InvalidSettings, read, type SettingsShape } from "../settings/Settings.ts"
import type { EncryptionKey } from "../settings/Parsers.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { CommandFailure } from "./CommandFailure.ts"

/** Reads the settings. */
export const settings = (env: EnvironmentVariables): Effect.Effect<SettingsShape, CommandFailure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read(env))
    } catch (error) {
      if (!(error instanceof InvalidSettings)) throw error
      return Effect.fail(new CommandFailure({ message: `${error.message}\nRun 'govoice settings' for every setting.` }))
    }
  })

const orFail = <A>(find: () => A): Effect.Effect<A, CommandFailure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(find())
    } catch (error) {
      if (!(error instanceof DeploymentError)) throw error
      return Effect.fail(new CommandFailure({ message: error.message }))
    }
  })

/** Finds the secrets, and generates those that a data directory lacks. */
export const secrets = (settings: SettingsShape): Effect.Effect<DeploymentSecrets.DeploymentSecrets, CommandFailure> =>
  orFail(() => DeploymentSecrets.find(settings))

/** Finds the encryption keys, and generates none. */
export const encryptionKeys = (
  settings: SettingsShape
): Effect.Effect<ReadonlyArray<EncryptionKey> | undefined, CommandFailure> =>
  orFail(() => DeploymentSecrets.findKeys(settings))

const toFailure = (database: SettingsShape["database"], error: unknown): CommandFailure | undefined => {
  if (error instanceof DataDirInUse) {
    return new CommandFailure({
      holder: error.holder,
      message: `${error.dataDir} is in use by ${error.holder}. One process at a time can use the embedded database: stop the server, or use its API.`
    })
  }
  const message = explain(database, error)
  return message === undefined ? undefined : new CommandFailure({ message })
}

type Handled = SqlError.SqlError | DataDirInUse | DeploymentError

/**
 * Runs `effect` on the database as it is.
 *
 * Errors of the database become failures wherever they occur: connections are opened on demand, and stores treat such
 * errors as defects.
 */
export const onDatabase = <A, E, R>(
  { database }: SettingsShape,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, Handled> | CommandFailure, Exclude<R, SqlClient.SqlClient>> =>
  Layer.build(Database.layerClient(database)).pipe(
    Effect.flatMap((client) => Effect.provide(effect, client)),
    Effect.scoped,
    Effect.mapError((error) => toFailure(database, error) ?? error),
    Effect.catchDefect((defect) => {
      const failure = toFailure(database, defect)
      return failure === undefined ? Effect.die(defect) : Effect.fail(failure)
    })
  ) as Effect.Effect<A, Exclude<E, Handled> | CommandFailure, Exclude<R, SqlClient.SqlClient>>

/** Runs `effect` on the database, migrated first. */
export const onMigrated = <A, E, R>(
  settings: SettingsShape,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, Handled> | CommandFailure, Exclude<R, SqlClient.SqlClient>> =>
  onDatabase(settings, Effect.andThen(Database.migrate(settings.database), effect)) as Effect.Effect<
    A,
    Exclude<E, Handled> | CommandFailure,
    Exclude<R, SqlClient.SqlClient>
  >
