/**
 * The schema, as an ordered list of migrations.
 *
 * A migration that has been released is never edited: correct it with the next one. Several processes may start at
 * once: the first takes the lock and migrates, the others wait and find nothing to do.
 *
 * @since 0.1.0
 */
import { Effect, Layer } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import accounts from "./migrations/0001_accounts.ts"
import organizations from "./migrations/0002_organizations.ts"
import invoices from "./migrations/0003_invoices.ts"
import deliveries from "./migrations/0004_deliveries.ts"

const migrations = {
  "0001_accounts": accounts,
  "0002_organizations": organizations,
  "0003_invoices": invoices,
  "0004_deliveries": deliveries
}

const table = "schema_migrations"

const migrate = Migrator.make({})({ table, loader: Migrator.fromRecord(migrations) })

const latest = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))

// Any number will do, as long as every process takes the same.
const lock = 7_064_823

/**
 * Brings the database up to date.
 *
 * @category constructors
 * @since 0.1.0
 */
export const run: Effect.Effect<void, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    // Building an index of a large table takes as long as it takes, and so does waiting for the process that does it.
    const patience = sql`SET LOCAL statement_timeout = 0`
    yield* sql.withTransaction(
      Effect.all([patience, sql`SELECT pg_advisory_xact_lock(${lock})`, migrate], { discard: true })
    )
  }
)

/**
 * Tells whether the database has every migration that this process knows. One that has newer ones, too, is current.
 *
 * @category getters
 * @since 0.1.0
 */
export const isCurrent: Effect.Effect<boolean, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly latest: number | null }>`
    SELECT max(migration_id) AS latest FROM ${sql(table)}
  `
  return (row?.latest ?? 0) >= latest
})

/**
 * Layer that brings the database up to date while it is built, and provides nothing.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =
  Layer.effectDiscard(run)
