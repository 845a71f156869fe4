/**
 * The schema, as an ordered list of migrations.
 *
 * A released migration is never edited: the next one corrects it. The database keeps the checksum of each that was applied,
 * and a process that knows another text under the same number is refused.
 */
import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { DeploymentError } from "../settings/DeploymentError.ts"
import { checksum, type Indexes, type Migration, type Statements } from "./Migration.ts"
import { schema } from "./migrations/0001_schema.ts"
import * as SqlErrors from "./SqlErrors.ts"

const table = "schema_migrations"

// Any number, as long as every process uses the same.
const lock = 7_064_823

// A statement that waits for a table holds up everything that comes after it, reads too.
const lockTimeout = "2s"
const lockAttempts = 30
const waitForTable = "3 seconds"
const waitForOther = "500 millis"

/** How the schema of a database relates to this version of the server. */
export interface Status {
  /** Whether every migration of this version is applied, and this version may use the schema. */
  readonly isCurrent: boolean
  /** Why this version can neither use nor migrate the schema: a sentence with the remedy. */
  readonly conflict: string | undefined
  /** Whether writes are refused, as on a standby. */
  readonly isReadOnly: boolean
}

interface Applied {
  readonly id: number
  readonly name: string
  readonly checksum: string
  readonly oldest: number
}

const readApplied: Effect.Effect<ReadonlyArray<Applied>, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const [found] = yield* sql<{ readonly exists: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS exists`
    if (found?.exists !== true) return []
    return yield* sql<Applied>`
      SELECT migration_id AS id, name, checksum, oldest_compatible AS oldest FROM ${sql(table)} ORDER BY migration_id
    `
  }
)

const beginning = (sum: string): string => sum.slice(0, 8)

const conflictOf = (migrations: ReadonlyArray<Migration>, applied: ReadonlyArray<Applied>): string | undefined => {
  for (const { checksum: found, id, name } of applied) {
    const known = migrations.find((migration) => migration.id === id)
    if (known === undefined || checksum(known) === found) continue
    return `The schema is not one of this version of Govoice: migration ${id} is ${name} with checksum ${beginning(found)}, expected ${known.name} with ${beginning(checksum(known))}. The schema of an unreleased version cannot be migrated: use an empty database, or another GOVOICE_DATA_DIR.`
  }
  const latest = Math.max(...migrations.map(({ id }) => id))
  const newer = applied.find(({ oldest }) => oldest > latest)
  return newer === undefined
    ? undefined
    : `The schema is too new for this version of Govoice: migration ${newer.id} (${newer.name}) needs processes that know migration ${newer.oldest}, and this one knows ${latest}. Start a newer version, or restore the backup from before the migration.`
}

interface Privileges {
  readonly user: string
  readonly database: string
  readonly schema: string
  readonly mayCreate: boolean
}

const insertApplied = (migration: Migration) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO ${sql(table)} (migration_id, name, checksum, oldest_compatible)
      VALUES (${migration.id}, ${migration.name}, ${checksum(migration)}, ${migration.oldestCompatible})
      ON CONFLICT DO NOTHING
    `
  )

type Attempt = "applied" | "other process" | "locked table"

// Each migration has a transaction of its own, so that locks are held no longer than it takes.
const applyStatements = (migration: Statements) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', ${lockTimeout}, true)`
    const [row] = yield* sql<{ readonly taken: boolean }>`SELECT pg_try_advisory_xact_lock(${lock}) AS taken`
    // Not waited for in the database: a waiting statement has a snapshot, and the other may wait for its end.
    if (row?.taken !== true) return "other process" as const
    yield* sql`
      CREATE TABLE IF NOT EXISTS ${sql(table)} (
        migration_id      integer PRIMARY KEY,
        created_at        timestamptz NOT NULL DEFAULT now(),
        name              text NOT NULL,
        checksum          text NOT NULL,
        oldest_compatible integer NOT NULL
      )
    `
    if (!(yield* readApplied).some(({ id }) => id === migration.id)) {
      for (const statement of migration.statements) yield* sql.unsafe(statement)
      yield* insertApplied(migration)
    }
    return "applied" as const
  }).pipe((attempt) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(attempt)))

// Processes that build the same index wait for each other at its table. Nothing but such statements waits for a build, and it
// waits for older transactions, of which another build can be one: Postgres ends one of the two. It has no timeout. A build that
// was interrupted leaves an invalid index.
const applyIndexes = (migration: Indexes) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const [name, definition] of Object.entries(migration.indexes)) {
      yield* sql.unsafe(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ${definition}`)
      const invalid = yield* sql`SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(${name}) AND NOT indisvalid`
      if (invalid.length > 0) yield* sql.unsafe(`REINDEX INDEX CONCURRENTLY ${name}`)
    }
  }).pipe(Effect.andThen(insertApplied(migration)), Effect.as("applied" as const))

const attempt = (migration: Migration): Effect.Effect<Attempt, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.catchIf(
    "statements" in migration ? applyStatements(migration) : applyIndexes(migration),
    (error): error is SqlError.SqlError => SqlErrors.isLockTimeout(error) || SqlErrors.isDeadlock(error),
    () => Effect.succeed("locked table" as const)
  )

/** Applies a migration. Waits while another process migrates, and tries again where a table is locked. */
const apply = (migration: Migration) =>
  Effect.gen(function* () {
    for (let locked = 0; ;) {
      const result = yield* attempt(migration)
      if (result === "applied") return
      if (result === "other process") {
        yield* Effect.sleep(waitForOther)
        continue
      }
      locked++
      if (locked === lockAttempts) {
        return yield* new DeploymentError({
          message: `Migration ${migration.id} (${migration.name}) got no lock on a table in ${lockAttempts} attempts of ${lockTimeout}. End the transactions that hold it, such as a dump, and run 'govoice migrate' again.`
        })
      }
      yield* Effect.annotateLogs(Effect.logWarning("A table is locked; the migration is tried again"), {
        migration: migration.name,
        attempt: locked
      })
      yield* Effect.sleep(waitForTable)
    }
  })

/** Makes the effects of a list of migrations, which is ordered by their ids. */
export const make = (migrations: ReadonlyArray<Migration>) => {
  const status: Effect.Effect<Status, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const applied = yield* readApplied
    const [session] = yield* sql<{ readonly isReadOnly: boolean }>`
      SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly"
    `
    const conflict = conflictOf(migrations, applied)
    const ids = new Set(applied.map(({ id }) => id))
    return {
      isCurrent: conflict === undefined && migrations.every(({ id }) => ids.has(id)),
      conflict,
      isReadOnly: session?.isReadOnly === true
    }
  })

  const obstacle: Effect.Effect<DeploymentError | undefined, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
    function* () {
      const sql = yield* SqlClient.SqlClient
      const { conflict, isReadOnly } = yield* status
      if (conflict !== undefined) return new DeploymentError({ message: conflict })
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

  const run: Effect.Effect<void, DeploymentError | SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
    if ((yield* status).isCurrent) return
    const found = yield* obstacle
    if (found !== undefined) return yield* found
    const applied = new Set((yield* readApplied).map(({ id }) => id))
    for (const migration of migrations) if (!applied.has(migration.id)) yield* apply(migration)
  })

  return { status, obstacle, run }
}

const own = make([schema])

/** Reads the status of the schema. An empty database is not current. */
export const status = own.status

/** Tells whether every migration of this version is applied. */
export const isCurrent: Effect.Effect<boolean, SqlError.SqlError, SqlClient.SqlClient> = Effect.map(
  status,
  ({ isCurrent }) => isCurrent
)

/** Why this version or this user cannot migrate this database, or `undefined`. */
export const obstacle = own.obstacle

/** Applies the migrations that are missing. Writes nothing to a database that is current. */
export const run = own.run

/** Applies the migrations that are missing while it is built. Provides nothing. */
export const layer: Layer.Layer<never, DeploymentError | SqlError.SqlError, SqlClient.SqlClient> =
  Layer.effectDiscard(run)
