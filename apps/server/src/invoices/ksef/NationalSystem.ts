/**
 * The national system (KSeF) of this deployment: one environment and its client, or `undefined` while live mode is off.
 */
import { type Environment, KsefClient } from "@govoice/ksef/client"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { DeploymentError } from "../../settings/DeploymentError.ts"
import { Settings } from "../../settings/Settings.ts"
import { version } from "../../version.ts"
import { awaited } from "../../database/awaited.ts"
import { StatementTime } from "../../database/StatementTime.ts"
import * as LaneQueue from "./LaneQueue.ts"

/** An environment and the client that calls it. */
export interface NationalSystemShape {
  readonly environment: Environment.Environment
  /** The environment in stored data: `test`, `demo`, `prod`, or the base URL of another. */
  readonly environmentId: string
  readonly client: KsefClient.KsefClient
}

/** The national system. Unless it is provided, there is none: live mode is off. */
export const NationalSystem: Context.Reference<NationalSystemShape | undefined> = Context.Reference(
  "@govoice/server/invoices/ksef/NationalSystem",
  { defaultValue: (): NationalSystemShape | undefined => undefined }
)

/** The settings that concern it. */
export interface NationalSystemOptions {
  readonly environment: Environment.Environment
  readonly environmentId: string
  readonly proxy: string | undefined
}

/** Makes a client of an environment. */
export const makeClient = ({ environment, proxy }: Pick<NationalSystemOptions, "environment" | "proxy">) =>
  KsefClient.make({ environment, proxy, userAgent: `Govoice/${version}` })

/**
 * Provides the national system of an environment, and remembers the environment in the database. Fails where the database
 * has unfinished live invoices of another one: a test invoice must never reach production.
 */
export const layerOf = (
  options: NationalSystemOptions
): Layer.Layer<never, DeploymentError | SqlError.SqlError, SqlClient.SqlClient> =>
  Layer.effect(
    NationalSystem,
    Effect.gen(function* () {
      const { environment, environmentId } = options
      yield* awaited(rememberEnvironment(environmentId))
      yield* awaited(adoptCredentials(environmentId))
      return { environment, environmentId, client: yield* makeClient(options) }
    })
  )

/** Provides the national system that the settings name, if live mode is on. */
export const layer: Layer.Layer<never, DeploymentError | SqlError.SqlError, Settings | SqlClient.SqlClient> =
  Layer.unwrap(
    Effect.map(Settings, ({ ksef: { environment, environmentId, proxy }, liveMode }) =>
      liveMode && environment !== undefined && environmentId !== undefined
        ? layerOf({ environment, environmentId, proxy })
        : Layer.empty
    )
  )

// Credentials that were stored while no environment was set are those of the first one that is.
const adoptCredentials = (environmentId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const wakeStatement = yield* LaneQueue.makeWakeStatement
    const now = yield* (yield* StatementTime)(sql)
    yield* sql`
      WITH adopted AS (
        UPDATE organizations SET credential_environment = ${environmentId}
        WHERE credential IS NOT NULL AND credential_environment IS NULL
        RETURNING credential_context
      )
      ${wakeStatement(sql`SELECT credential_context FROM adopted`, now)}
    `
  })

/**
 * Returns why a process with this national system may do no live work: another deployment has begun to use the database for
 * another environment, while nothing was unfinished. Without a national system there is no reason.
 */
export const problem: Effect.Effect<string | undefined, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const system = yield* NationalSystem
    if (system === undefined) return undefined
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly environment: string }>`SELECT environment FROM national_environment`
    return row === undefined || row.environment === system.environmentId
      ? undefined
      : `The database is of the KSeF environment ${row.environment} by now, and this process is of ${system.environmentId}. Stop the processes of one of them.`
  }
)

// One statement locks the row of the environment, so that two processes cannot remember different ones.
const rememberEnvironment = (environmentId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // As in the conditions of its indexes.
    const isDue = (states: string) => sql`
      EXISTS (SELECT 1 FROM national_submissions WHERE due_at IS NOT NULL AND ${sql.literal(states)})
    `
    const [row] = yield* sql<{ readonly environment: string }>`
      INSERT INTO national_environment (environment) VALUES (${environmentId})
      ON CONFLICT (is_only) DO UPDATE SET environment = CASE
        WHEN EXISTS (SELECT 1 FROM invoices WHERE mode = 'live' AND status IN ('queued', 'retrying'))
          OR ${isDue("state IN ('sending', 'sent')")} OR ${isDue("state = 'decided'")} OR ${isDue("state = 'refused'")}
        THEN national_environment.environment
        ELSE excluded.environment
      END
      RETURNING environment
    `
    const environmentOfDatabase = row?.environment
    if (environmentOfDatabase !== environmentId) {
      return yield* new DeploymentError({
        message: `The database has unfinished live invoices of the KSeF environment ${environmentOfDatabase}, and the settings name ${environmentId}. Set GOVOICE_KSEF_ENVIRONMENT or GOVOICE_KSEF_URL back, or use another database.`
      })
    }
  })
