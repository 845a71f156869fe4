/**
 * Seals anew, under the first key of the ring, what is still sealed under older ones, so that those can be dropped.
 *
 * Servers may go on meanwhile, as long as they have the same keys: a row is written only while it is what was read.
 *
 * @since 0.1.0
 */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { KeyRing, type Place } from "../security/KeyRing.ts"

const batch = 500

/** Where sealed values are kept. */
const columns = [
  { table: "webhook_endpoints", column: "secret", place: "webhook_endpoints.secret" },
  { table: "webhook_endpoints", column: "next_secret", place: "webhook_endpoints.secret" },
  { table: "organizations", column: "credential", place: "organizations.credential" }
] as const satisfies ReadonlyArray<{ readonly table: string; readonly column: string; readonly place: Place["column"] }>

/**
 * Seals everything anew that the first key did not seal, and returns how many values that were. A value that changed in
 * between is left: whoever changed it sealed it with the first key.
 *
 * @category constructors
 * @since 0.1.0
 */
export const rotateEncryption: Effect.Effect<number, SqlError.SqlError, KeyRing | SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const { isCurrent, open, seal } = yield* KeyRing

    const selectAfter = (table: string, column: string, id: string) => sql<{
      readonly id: string
      readonly sealed: Uint8Array
    }>`
      SELECT id, ${sql(column)} AS sealed FROM ${sql(table)}
      WHERE id > ${id} AND ${sql(column)} IS NOT NULL ORDER BY id LIMIT ${batch}::int
    `

    const update = (table: string, column: string, id: string, before: Uint8Array, after: Uint8Array) => sql`
      UPDATE ${sql(table)} SET ${sql(column)} = ${after} WHERE id = ${id} AND ${sql(column)} = ${before} RETURNING id
    `

    let rotated = 0
    for (const { column, place, table } of columns) {
      let after = ""
      while (true) {
        const rows = yield* selectAfter(table, column, after)
        for (const { id, sealed } of rows.filter((row) => !isCurrent(row.sealed))) {
          const where = { column: place, row: id }
          rotated += (yield* update(table, column, id, sealed, seal(open(sealed, where), where))).length
        }
        if (rows.length < batch) break
        after = rows.at(-1)!.id
      }
    }
    return rotated
  }
)
