/**
 * Re-encrypts stored values with the first key of the ring, so that older keys can be removed.
 *
 * Servers may run meanwhile if they have the same keys: a row is updated only while it has the value that was read.
 */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { KeyRing } from "../crypto/KeyRing.ts"
import { sealedColumns } from "./SealedColumns.ts"

const batch = 500

/** Re-encrypts every value of an older key, and returns how many those were. Values that change meanwhile are current. */
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
    for (const { column, place, table } of sealedColumns) {
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
