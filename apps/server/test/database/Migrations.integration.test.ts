import { assert, describe, it } from "@effect/vitest"
import { DeliveryState, InvoiceEvent, InvoiceState } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import * as Migrations from "../../src/database/Migrations.ts"
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

describe("Migrations", () => {
  it.live("refuses the schema of an unreleased version in one sentence, without changes", () =>
    onEmpty(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE schema_migrations (migration_id int PRIMARY KEY, created_at timestamptz, name text)`
        yield* sql`INSERT INTO schema_migrations (migration_id, name) VALUES (1, 'accounts'), (2, 'organizations')`
        assert.match(
          yield* messageOf(Migrations.run),
          /^The schema is of an unreleased version of Govoice, which cannot be migrated \(migration 1 is accounts, .*\)\. Use an empty database/
        )
        assert.isFalse(yield* Migrations.isCurrent)
        const tables = yield* sql`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`
        assert.lengthOf(tables, 1)
      })
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

  it.live("names in its constraints the statuses and event types of the state machines", () =>
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
        const unfinished = deliveries.filter((status) => !DeliveryState.isFinal(status))
        const expected = {
          invoices_status_known: invoices,
          invoices_completed_final: invoices.filter(InvoiceState.isFinal),
          invoices_unfinished_due: invoices.filter((status) => !InvoiceState.isFinal(status)),
          deliveries_status_known: deliveries,
          deliveries_due_unfinished: unfinished,
          deliveries_unended_is_due: unfinished.filter((status) => status !== "retrying"),
          events_type_known: InvoiceEvent.EventType.literals
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
        const created = yield* sql<{ readonly name: string }>`
          SELECT tablename AS name FROM pg_tables
          WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename <> 'schema_migrations'
        `
        assert.sameMembers(
          created.map(({ name }) => name),
          [...fixtures.tables]
        )
      })
    )
  )
})
