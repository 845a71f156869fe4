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

const migrate = Migrator.make({})({
  table: "schema_migrations",
  loader: Migrator.fromRecord({
    "0001_accounts": accounts,
    "0002_organizations": organizations,
    "0003_invoices": invoices,
    "0004_deliveries": deliveries
  })
})

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
    yield* sql.withTransaction(Effect.andThen(sql`SELECT pg_advisory_xact_lock(${lock})`, migrate))
  }
)

/**
 * Layer that brings the database up to date while it is built, and provides nothing.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =
  Layer.effectDiscard(run)
