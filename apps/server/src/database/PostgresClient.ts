/** The client of the Postgres that the settings name: of Postgres itself, or of a pooler in front of it. */
import { PgClient } from "@effect/sql-pg"
import type { Layer } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { SettingsShape } from "../settings/Settings.ts"
import { connectionOptions } from "./connectionOptions.ts"
import * as PoolerClient from "./PoolerClient.ts"

/** The part of the settings that names a Postgres. */
export type PostgresSettings = Extract<SettingsShape["database"], { readonly _tag: "Postgres" }>

export interface Options {
  readonly applicationName: string
  readonly maxConnections: number
  /** Parameters of Postgres: of each session, or of each transaction behind a pooler. */
  readonly parameters: Readonly<Record<string, string>>
  /** Whether they decide the plans of statements, and not only the end of stuck ones. */
  readonly decidePlans: boolean
}

const timeouts = { connectTimeout: "5 seconds", keepAlive: "10 seconds" } as const

// A pooler keeps it for its client.
const timezone = "UTC"

/** Layer that provides a client with a pool of connections. */
export const layer = (
  { pooler, url }: PostgresSettings,
  { applicationName, decidePlans, maxConnections, parameters }: Options
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> => {
  const pool = { ...timeouts, ...connectionOptions(url), applicationName, maxConnections }
  if (pooler === undefined) return PgClient.layer({ ...pool, startupParameters: { timezone, ...parameters } })
  const { directUrl } = pooler
  return PgClient.layerFrom(
    PoolerClient.make({
      pool: { ...pool, startupParameters: { timezone } },
      direct: directUrl === undefined ? undefined : { ...timeouts, ...connectionOptions(directUrl), applicationName },
      parameters,
      wrapStatements: decidePlans
    })
  )
}
