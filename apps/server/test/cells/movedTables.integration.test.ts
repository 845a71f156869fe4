/** Every table has its place in the list of what moves, and every row of an organization the bucket by which it is found. */
import { assert, layer } from "@effect/vitest"
import { Ids } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as movedTables from "../../src/cells/movedTables.ts"
import { layerPostgres } from "../support/TestDatabase.ts"

layer(layerPostgres, { timeout: "120 seconds" })("movedTables", (it) => {
  it.effect("every table moves, is written by the move, or stays", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly name: string }>`
        SELECT relname AS name FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      `
      const { kept, replicated, written } = movedTables
      assert.sameMembers(
        rows.map(({ name }) => name),
        [...Object.keys(replicated), ...written, ...kept]
      )
    })
  )

  it.effect("every column of a credential is written by the move", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly name: string }>`
        SELECT attname AS name FROM pg_attribute
        WHERE attrelid = 'organizations'::regclass AND attnum > 0 AND NOT attisdropped
      `
      // The control cell publishes these.
      const published = ["id", "account_id", "created_at", "name"]
      assert.sameMembers(
        rows.map(({ name }) => name),
        [...published, ...movedTables.credentialColumns]
      )
    })
  )

  it.effect("every table of organizations moves", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly name: string }>`
        SELECT DISTINCT relname AS name FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND attname = 'organization_id'
      `
      assert.isAbove(rows.length, 0)
      const moved: ReadonlyArray<string> = [...Object.keys(movedTables.replicated), ...movedTables.written]
      for (const { name } of rows) assert.include(moved, name)
    })
  )

  it.effect("the expressions find the bucket, and need no column outside of the replica identity", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const organization = Ids.make("org", 1, new Uint8Array(Ids.randomLength).fill(7))
      for (const [table, expression] of Object.entries(movedTables.replicated)) {
        const [, column] = /^substr\((\w+), \d+, 2\)$/.exec(expression)!
        const [row] = yield* sql<{ readonly identity: string; readonly is_key: boolean }>`
          SELECT relreplident AS identity, EXISTS (
            SELECT FROM pg_index JOIN pg_attribute ON pg_attribute.attrelid = indrelid AND attnum = ANY (indkey)
            WHERE indrelid = pg_class.oid AND indisprimary AND attname = ${column!}
          ) AS is_key
          FROM pg_class WHERE oid = ${table}::regclass
        `
        assert.isTrue(row!.identity === "f" || row!.is_key, table)
        const prefix = (
          { api_keys: "key", webhook_endpoints: "we", events: "evt", deliveries: "wd", invoices: "inv" } as const
        )[table]
        const of = prefix ?? (column === "invoice_id" ? "inv" : "org")
        const id = Ids.make(of, 2, new Uint8Array(Ids.randomLength), Ids.bucket(organization))
        const [found] = yield* sql<{ readonly bucket: string }>`
          SELECT ${sql.literal(expression)} AS bucket FROM (SELECT ${id}::text AS ${sql(column!)}) AS one
        `
        assert.strictEqual(found!.bucket, Ids.bucket(organization), table)
      }
    })
  )
})
