/**
 * The schema, as an ordered list of migrations.
 *
 * A released migration is never edited: the next one corrects it. When several processes start at once, the first takes a
 * lock and migrates, and the others wait for it.
 */
import { Effect, Layer } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import { DeploymentError } from "../settings/DeploymentError.ts"
import accountsAndSessions from "./migrations/0001_accounts_and_sessions.ts"
import organizations from "./migrations/0002_organizations.ts"
import invoices from "./migrations/0003_invoices.ts"
import deliveries from "./migrations/0004_deliveries.ts"
import nationalSystem from "./migrations/0005_national_system.ts"

const migrations = {
  "0001_accounts_and_sessions": accountsAndSessions,
  "0002_organizations": organizations,
  "0003_invoices": invoices,
  "0004_deliveries": deliveries,
  "0005_national_system": nationalSystem
}

const known: ReadonlyMap<number, string> = new Map(
  Object.keys(migrations).map((key) => [Number.parseInt(key, 10), key.slice(key.indexOf("_") + 1)])
)

const latest = Math.max(...known.keys())

const table = "schema_migrations"

const migrate = Migrator.make({})({ table, loader: Migrator.fromRecord(migrations) })

// Any number, as long as every process uses the same.
const lock = 7_064_823

/** How the schema of a database relates to this version of the server. */
export interface Status {
  /** Whether every migration of this version is applied. A database with newer ones is current too. */
  readonly isCurrent: boolean
  /** A migration that was applied under a number that has another name here. */
  readonly conflict: { readonly id: number; readonly found: string; readonly expected: string } | undefined
  /** Whether writes are refused, as on a standby. */
  readonly isReadOnly: boolean
}

interface Row {
  readonly ids: ReadonlyArray<number>
  readonly names: ReadonlyArray<string>
}

/** Reads the status of the schema. An empty database is not current. */
export const status: Effect.Effect<Status, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [session] = yield* sql<{ readonly is_migrated: boolean; readonly is_read_only: boolean }>`
    SELECT to_regclass(${table}) IS NOT NULL AS is_migrated,
           current_setting('transaction_read_only') = 'on' AS is_read_only
  `
  const [applied] =
    session?.is_migrated === true
      ? yield* sql<Row>`
          SELECT coalesce(array_agg(migration_id ORDER BY migration_id), '{}') AS ids,
                 coalesce(array_agg(name ORDER BY migration_id), '{}') AS names
          FROM ${sql(table)}
        `
      : []
  const names = new Map(applied?.ids.map((id, index) => [id, applied.names[index] ?? ""]))
  const conflicting = [...names].find(([id, name]) => known.has(id) && known.get(id) !== name)
  return {
    isCurrent: conflicting === undefined && Math.max(0, ...names.keys()) >= latest,
    conflict: conflicting && { id: conflicting[0], found: conflicting[1], expected: known.get(conflicting[0])! },
    isReadOnly: session?.is_read_only === true
  }
})

/** Tells whether every migration of this version is applied. */
export const isCurrent: Effect.Effect<boolean, SqlError.SqlError, SqlClient.SqlClient> = Effect.map(
  status,
  ({ isCurrent }) => isCurrent
)

const conflictOf = ({ expected, found, id }: NonNullable<Status["conflict"]>): DeploymentError =>
  new DeploymentError({
    message: `The schema is of an unreleased version of Govoice, which cannot be migrated (migration ${id} is ${found}, expected ${expected}). Use an empty database, or another GOVOICE_DATA_DIR.`
  })

/** Why this user cannot migrate this database, or `undefined`. */
export const obstacle: Effect.Effect<DeploymentError | undefined, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const { conflict, isReadOnly } = yield* status
    if (conflict !== undefined) return conflictOf(conflict)
    if (isReadOnly) {
      return new DeploymentError({
        message: "The schema is not current, and the database is read-only. Point DATABASE_URL at the primary."
      })
    }
    const [row] = yield* sql<Privileges>`
      SELECT current_user AS "user", current_database() AS "database", coalesce(current_schema(), 'public') AS "schema",
             coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate"
    `
    if (row === undefined || row.mayCreate) return undefined
    const { database, schema, user } = row
    return new DeploymentError({
      message: `The schema is not current, and the user ${user} may not create tables in schema ${schema} of database ${database}. Let the owner of the database run: GRANT USAGE, CREATE ON SCHEMA ${schema} TO "${user}". Or run 'govoice migrate' as a user with that right.`
    })
  }
)

interface Privileges {
  readonly user: string
  readonly database: string
  readonly schema: string
  readonly mayCreate: boolean
}

/** Applies the migrations that are missing. Writes nothing to a database that is current. */
export const run: Effect.Effect<
  void,
  DeploymentError | Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (yield* isCurrent) return
  const found = yield* obstacle
  if (found !== undefined) return yield* found
  // Building an index on a large table can take hours, and so can waiting for the process that builds it.
  const disableStatementTimeout = sql`SET LOCAL statement_timeout = 0`
  yield* sql.withTransaction(
    Effect.all([disableStatementTimeout, sql`SELECT pg_advisory_xact_lock(${lock})`, migrate], { discard: true })
  )
})

/** Applies the migrations that are missing while it is built. Provides nothing. */
export const layer: Layer.Layer<
  never,
  DeploymentError | Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = Layer.effectDiscard(run)
