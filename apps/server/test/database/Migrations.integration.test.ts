import { assert, describe, it } from "@effect/vitest"
import { DeliveryState, InvoiceState } from "@govoice/core"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import { checksum } from "../../src/database/Migration.ts"
import * as Migrations from "../../src/database/Migrations.ts"
import { schema } from "../../src/database/migrations/0001_schema.ts"
import * as fixtures from "../support/fixtures.ts"
import { acquire } from "../support/TestDatabase.ts"

const messageOf = <R>(effect: Effect.Effect<unknown, unknown, R>) =>
  Effect.match(effect, { onFailure: (error) => (error as Error).message, onSuccess: () => "" })

const onEmpty = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.scoped(
    Effect.flatMap(acquire, (url) =>
      Effect.provide(effect, Database.layerClient({ _tag: "Postgres", url }), { local: true })
    )
  )

const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (holds) =>
    holds ? Effect.void : Effect.andThen(Effect.sleep("20 millis"), until(condition))
  )

/** Runs `effect` in a transaction that stays open until the scope closes or the returned effect has run. */
const inOpenTransaction = (effect: Effect.Effect<unknown, unknown, SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const begun = yield* Deferred.make<void>()
    const end = yield* Deferred.make<void>()
    const fiber = yield* Effect.forkScoped(
      sql.withTransaction(
        Effect.andThen(effect, Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end)))
      )
    )
    yield* Deferred.await(begun)
    return Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(fiber))
  })

/** Waits until so many sessions wait for a lock with a statement of this form. */
const untilWaiting = (form: string, sessions = 1) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    until(
      Effect.map(
        sql`
          SELECT pid FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ${`${form}%`}
        `,
        (rows) => rows.length >= sessions
      )
    )
  )

const later = { id: 2, name: "later", oldestCompatible: 1 }

const newAccount = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`INSERT INTO accounts (id, created_at, email, password_hash) VALUES (${id}, now(), ${`${id}@example.com`}, 'hash')`
  )

describe("Migrations", () => {
  it.live("refuses the schema of an unreleased version in one sentence, without changes", () =>
    onEmpty(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE schema_migrations (migration_id int, name text, checksum text, oldest_compatible int)`
        yield* sql`INSERT INTO schema_migrations VALUES (1, 'accounts', 'other', 1), (2, 'organizations', 'other', 2)`
        assert.match(
          yield* messageOf(Migrations.run),
          /^The schema is not one of this version of Govoice: migration 1 is accounts with checksum other, expected schema with [0-9a-f]{8}\. .* use an empty database/
        )
        assert.isFalse(yield* Migrations.isCurrent)
        const tables = yield* sql`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`
        assert.lengthOf(tables, 1)
      })
    )
  )

  it.live("refuses a schema whose migration was edited after it was applied, and one that is too new", () =>
    onEmpty(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Migrations.run
        assert.isTrue(yield* Migrations.isCurrent)

        const edited = { ...schema, statements: [...schema.statements, "SELECT 1"] }
        assert.notStrictEqual(checksum(edited), checksum(schema))
        const { run, status } = Migrations.make([edited])
        assert.isFalse((yield* status).isCurrent)
        assert.match(yield* messageOf(run), /migration 1 is schema with checksum [0-9a-f]{8}, expected schema with /)

        const newer = { ...later, statements: ["CREATE TABLE later (id int)"] }
        yield* Migrations.make([schema, newer]).run
        assert.isTrue(yield* Migrations.isCurrent)
        yield* Migrations.make([
          schema,
          newer,
          { ...newer, id: 3, oldestCompatible: 2, statements: ["DROP TABLE later"] }
        ]).run
        assert.isFalse(yield* Migrations.isCurrent)
        assert.match(
          yield* messageOf(Migrations.run),
          /too new .*: migration 3 \(later\) needs processes that know migration 2, and this one knows 1\. Start a newer/
        )
        assert.lengthOf(yield* sql`SELECT 1 FROM schema_migrations`, 3)
      })
    )
  )

  it.live("applies each migration once when several processes start at once", () =>
    onEmpty(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { run } = Migrations.make([
          schema,
          { ...later, statements: ["CREATE TABLE later (id int)", "INSERT INTO later VALUES (1)"] }
        ])
        yield* Effect.all([run, run, run, run], { concurrency: "unbounded" })
        assert.lengthOf(yield* sql`SELECT 1 FROM later`, 1)
      })
    )
  )

  it.live("lets reads of a table pass while another transaction keeps the migration from it", () =>
    onEmpty(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Migrations.run
        const end = yield* inOpenTransaction(sql`SELECT 1 FROM accounts`)
        const { run } = Migrations.make([
          schema,
          { ...later, statements: ["ALTER TABLE accounts ADD COLUMN later int"] }
        ])
        const migrating = yield* Effect.forkScoped(run)
        yield* untilWaiting("ALTER TABLE")
        // Without a timeout of its lock, the statement would hold this up until the transaction ends.
        yield* sql`SELECT 1 FROM accounts`
        yield* end
        yield* Fiber.join(migrating)
        yield* sql`SELECT later FROM accounts`
      }).pipe(Effect.scoped)
    )
  )

  it.live("builds indexes while rows are written, and again after a build that was killed", () =>
    onEmpty(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Migrations.run
        const end = yield* inOpenTransaction(newAccount("acc_1"))
        const { run, status } = Migrations.make([
          schema,
          { ...later, indexes: { accounts_later_idx: "ON accounts (created_at)" } }
        ])
        const killed = yield* Effect.forkScoped(Effect.exit(run))
        yield* untilWaiting("CREATE INDEX")
        yield* newAccount("acc_2")
        // The build still waits: that of a transaction would have ended before the row is written.
        const ended = yield* sql`
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'CREATE INDEX%'
        `
        assert.lengthOf(ended, 1)
        assert.isTrue((yield* Fiber.join(killed))._tag === "Failure")
        assert.isFalse((yield* status).isCurrent)

        const again = yield* Effect.forkScoped(Effect.all([run, run], { concurrency: "unbounded" }))
        // Postgres ends one of the two if each waits for the other.
        yield* untilWaiting("%INDEX CONCURRENTLY", 2)
        yield* end
        yield* Fiber.join(again)
        assert.isTrue((yield* status).isCurrent)
        const indexes = yield* sql`
          SELECT indisvalid FROM pg_index WHERE indexrelid = 'accounts_later_idx'::regclass AND indisvalid
        `
        assert.lengthOf(indexes, 1)
      }).pipe(Effect.scoped)
    )
  )

  it.live("writes nothing to a current database, so that a process starts on a standby", () =>
    onEmpty(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Migrations.run
        const readOnly = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
          sql.withTransaction(Effect.andThen(sql`SET TRANSACTION READ ONLY`, effect))
        yield* readOnly(Migrations.run)
        assert.isTrue((yield* readOnly(Migrations.status)).isReadOnly)
        assert.isFalse((yield* Migrations.status).isReadOnly)
      })
    )
  )

  it.live("names the remedy for an outdated read-only database", () =>
    onEmpty(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const message = yield* messageOf(
          sql.withTransaction(Effect.andThen(sql`SET TRANSACTION READ ONLY`, Migrations.run))
        )
        assert.match(message, /read-only\. Point DATABASE_URL at the primary\.$/)
      })
    )
  )

  it.live("names in its constraints the statuses of the state machines", () =>
    onEmpty(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Migrations.run
        const constraints = yield* sql<{ readonly name: string; readonly definition: string }>`
          SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE contype = 'c'
        `
        const textsOf = (name: string) => {
          const { definition } = constraints.find((constraint) => constraint.name === name)!
          return Array.from(definition.matchAll(/'([^']*)'::text/g), ([, text]) => text)
        }
        const invoices = InvoiceState.Status.literals
        const deliveries = DeliveryState.Status.literals
        const expected = {
          invoices_status_known: invoices,
          invoices_completed_final: invoices.filter(InvoiceState.isFinal),
          invoices_unfinished_due: invoices.filter((status) => !InvoiceState.isFinal(status)),
          deliveries_status: deliveries
        }
        for (const [name, texts] of Object.entries(expected)) assert.sameMembers(textsOf(name), [...texts], name)
      })
    )
  )

  it.live("creates the tables that the tests clear", () =>
    onEmpty(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Migrations.run
        // Without the two whose rows migrations write.
        const created = yield* sql<{ readonly name: string }>`
          SELECT tablename AS name FROM pg_tables
          WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
            AND tablename NOT IN ('schema_migrations', 'queue_gauges')
        `
        assert.sameMembers(
          created.map(({ name }) => name),
          [...fixtures.tables]
        )
      })
    )
  )
})
