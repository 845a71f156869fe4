/** Rows that a statement takes from arrays. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Arrays from "../../src/database/Arrays.ts"
import { database } from "../support/TestDatabase.ts"

interface Row {
  readonly name: string
  readonly note: string | null
  readonly at: Date
  readonly hash: Uint8Array
  readonly isOpen: boolean
}

const columns: Arrays.Columns<Row> = {
  name: ["text", ({ name }) => name],
  note: ["text", ({ note }) => note],
  at: ["timestamptz", ({ at }) => at.getTime()],
  hash: ["bytea", ({ hash }) => hash],
  '"isOpen"': ["bool", ({ isOpen }) => isOpen]
}

const rows = Array.from({ length: 40 }, (_, index): Row => ({
  name: `row ${index} "quoted", {braced}, NULL, \\ ż 😀`.repeat(index),
  note: index % 3 === 0 ? null : `note ${index}`,
  at: new Date(Date.UTC(2026, 10, 20) + index),
  hash: Uint8Array.from({ length: index }, (_, byte) => byte),
  isOpen: index % 2 === 0
}))

layer(database.layer, { timeout: "120 seconds" })(`Arrays (${database.name})`, (it) => {
  it.effect("selectBySubscript: returns the fields of each row together, in the order of the rows", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const select = Arrays.selectBySubscript(sql, columns)
      const selected = yield* sql<Row>`${select(rows)}`
      assert.deepStrictEqual(
        selected.map(({ hash, ...row }) => ({ ...row, hash: Uint8Array.from(hash) })),
        rows.map(({ hash, ...row }) => ({ ...row, hash }))
      )
    })
  )

  it.effect("selectBySubscript: returns nothing for no rows", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual([...(yield* sql`${Arrays.selectBySubscript(sql, columns)([])}`)], [])
    })
  )
})
