/** The client of the Postgres that the settings name: of Postgres itself, or of a pooler in front of it. */
import { PgClient } from "@effect/sql-pg"
import { Duration, type Layer, Schedule } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { SettingsShape } from "../settings/Settings.ts"
import { connectionOptions } from "./connectionOptions.ts"
import * as PoolerClient from "./PoolerClient.ts"
import { deadlineMs } from "./sessionParameters.ts"
import * as SqlErrors from "./SqlErrors.ts"

/** The part of the settings that names a Postgres. */
export type PostgresSettings = Extract<SettingsShape["database"], { readonly _tag: "Postgres" }>

export interface Options {
  readonly applicationName: string
  readonly maxConnections: number
  /** Parameters of Postgres: of each session, or of each transaction behind a pooler. */
  readonly parameters: Readonly<Record<string, string>>
  /** Whether they decide the plans of statements, and not only the end of stuck ones. */
  readonly decidePlans: boolean
  /** How long a statement may take, in milliseconds. Without a limit for migrations. */
  readonly deadlineMs?: number | undefined
}

// Probes of a connection that is idle are sent every second after these, and end it after ten without an answer. Node has no
// setting for either.
const timeouts = { connectTimeout: "5 seconds", keepAlive: "10 seconds" } as const

// Postgres asks its client too whether it is there: it would keep the sessions of one that has gone silent for two hours otherwise,
// and with them its connections. Sockets of Unix ignore this.
const keepAlives = { tcp_keepalives_idle: "10", tcp_keepalives_interval: "1", tcp_keepalives_count: "10" }

// A pooler keeps them for its client.
const session = { timezone: "UTC" }

// A connection too many for the server or the role is tried again for as long as a statement may take: others may close theirs,
// and a statement that waits takes whichever connection is free first.
const retryConnect = {
  schedule: Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: Duration.millis(deadlineMs) })),
  while: (error: SqlError.SqlError) => SqlErrors.sqlState(error) === "53300"
}

/** Layer that provides a client with a pool of connections. */
export const layer = (
  { pooler, url }: PostgresSettings,
  { applicationName, deadlineMs: deadline, decidePlans, maxConnections, parameters }: Options
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> => {
  const pool = { ...timeouts, ...connectionOptions(url), applicationName, maxConnections, deadline, retryConnect }
  if (pooler === undefined) {
    const isolation = { default_transaction_isolation: "read committed" }
    return PgClient.layer({ ...pool, startupParameters: { ...session, ...keepAlives, ...isolation, ...parameters } })
  }
  const { directUrl } = pooler
  return PgClient.layerFrom(
    PoolerClient.make({
      pool: { ...pool, startupParameters: session },
      direct:
        directUrl === undefined
          ? undefined
          : { ...timeouts, ...connectionOptions(directUrl), applicationName, deadline },
      parameters,
      wrapStatements: decidePlans
    })
  )
}
