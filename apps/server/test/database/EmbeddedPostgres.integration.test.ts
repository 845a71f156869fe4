import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { getHeapStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as EmbeddedClient from "../../src/database/EmbeddedClient.ts"
import * as EmbeddedPostgres from "../../src/database/EmbeddedPostgres.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

const mebibyte = 1024 * 1024

/** Returns the size of what is in use. */
const heap = Effect.map(Effect.yieldNow, () => {
  collect()
  return getHeapStatistics().used_heap_size / mebibyte
})

describe("the embedded Postgres", () => {
  it.effect(
    "keeps no row that it has answered",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const connect = yield* EmbeddedPostgres.open(undefined, Effect.succeed(undefined))
          const program = Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const read = sql`SELECT repeat('ż', ${mebibyte / 2}::int) AS text`
            yield* read
            const before = yield* heap
            for (let time = 0; time < 50; time++) yield* read
            assert.isBelow((yield* heap) - before, 10)
          })
          yield* Effect.provide(program, EmbeddedClient.layer(connect))
        })
      ),
    60_000
  )
})
