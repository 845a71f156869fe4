/** Explains errors of the database to an operator: what failed, and what to do, in one line without credentials. */
import { SqlError } from "effect/sql"
import { reasonOf } from "../observability/reasonOf.ts"
import { DeploymentError } from "../settings/DeploymentError.ts"
import { describeHosts, type PostgresTarget, targetOf } from "../settings/postgresUrl.ts"
import type { SettingsShape } from "../settings/Settings.ts"
import { DataDirInUse } from "./DataDirLock.ts"
import * as SqlErrors from "./SqlErrors.ts"

/** Finds the SQL error in an error that wraps it, as those of migrations do. */
const sqlErrorIn = (error: unknown): SqlError.SqlError | undefined =>
  SqlError.isSqlError(error)
    ? error
    : error instanceof Error && error.cause !== undefined
      ? sqlErrorIn(error.cause)
      : undefined

const tlsErrors = /certificate|TLS|SSL|self.signed|ERR_TLS|unable to verify|altnames|wrong version number/i

/** The causes of a refused connection or statement that have a remedy of their own, by SQLSTATE. */
const remedies: Readonly<Record<string, (target: PostgresTarget) => string>> = {
  "3D000": ({ database }) =>
    `Create it (CREATE DATABASE ${JSON.stringify(database)}), or correct the name in DATABASE_URL.`,
  "28P01": () => "Correct the user and password in DATABASE_URL.",
  "28000": () => "Correct the user in DATABASE_URL, or let it connect from here in pg_hba.conf.",
  "42501": ({ user }) => `Grant ${user} the privilege, or run 'govoice migrate' as the owner of the tables.`,
  "25006": () =>
    "The database is read-only: point DATABASE_URL at the primary, or at all servers with target_session_attrs=read-write.",
  "53100": () => "Free space on the disk of Postgres, or give it more.",
  "53300": () => "Raise max_connections, or start fewer processes.",
  "55000": ({ database }) => `Allow connections: ALTER DATABASE ${JSON.stringify(database)} ALLOW_CONNECTIONS true.`
}

const isConnection = ({ reason }: SqlError.SqlError): boolean =>
  reason.operation === "connect" || reason._tag === "ConnectionError"

/** The remedy for a `DATABASE_URL` that is that of a pooler. */
export const poolerRemedy =
  "Set GOVOICE_DATABASE_POOLED=true, and GOVOICE_DATABASE_DIRECT_URL to the URL of Postgres itself."

// PgBouncer refuses the parameters of sessions.
const isPooler = (error: SqlError.SqlError): boolean => /unsupported startup parameter/.test(reasonOf(error))

const explainPostgres = (target: PostgresTarget, error: SqlError.SqlError): string => {
  const { database } = target
  const where = `Postgres at ${describeHosts(target)}`
  const reason = reasonOf(error)
  const state = SqlErrors.sqlState(error)
  const remedy = remedies[state]?.(target)
  if (remedy !== undefined) return `${where}, database ${database}: ${reason}. ${remedy}`
  if (isPooler(error)) {
    return `${where} is a pooler, which refuses parameters of sessions: ${reason}. ${poolerRemedy}`
  }
  if (!isConnection(error))
    return `Database error: ${reason}${state && ` (${state})`}. Run 'govoice doctor' for details.`
  if (state === "" && tlsErrors.test(reason)) {
    return `${where}: ${reason}. Trust its certificate authority with sslrootcert in DATABASE_URL, or set sslmode=disable if the network is trusted.`
  }
  return `${where} cannot be reached: ${reason}. Check DATABASE_URL, and that Postgres is running and lets this machine in.`
}

/** Returns the explanation of an error, or `undefined` for one that is not the database's. */
export const explain = (database: SettingsShape["database"], error: unknown): string | undefined => {
  if (error instanceof DataDirInUse || error instanceof DeploymentError) return error.message
  const found = sqlErrorIn(error)
  if (found === undefined) return undefined
  return database._tag === "Postgres"
    ? explainPostgres(targetOf(database.url), found)
    : `Database error: ${reasonOf(found)}. Check the data directory, and the space on its disk.`
}
