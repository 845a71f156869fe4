/** The statements that are executed before a process is ready. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import * as KeyRing from "../../src/crypto/KeyRing.ts"
import { HotStatements } from "../../src/database/HotStatements.ts"
import * as SqlErrors from "../../src/database/SqlErrors.ts"
import * as Stores from "../../src/runtime/Stores.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as TestSettings from "../support/TestSettings.ts"

describe("a statement that most requests or deliveries need", () => {
  it.live("is executed with the tables that it needs, and fails without them", () =>
    Effect.gen(function* () {
      const statements = new Map<string, Effect.Effect<unknown, unknown>>()
      const collected = Layer.succeed(HotStatements)({
        add: (name, statement) => void statements.set(name, statement),
        check: Effect.void
      })
      const keys = KeyRing.layer([{ id: "k1", bytes: new Uint8Array(randomBytes(32)) }])
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const withoutTables = <A, E>(statement: Effect.Effect<A, E>) =>
          sql.withTransaction(Effect.andThen(sql`SET LOCAL search_path = pg_temp`, statement))
        assert.sameMembers(
          [...statements.keys()],
          ["API key", "claim", "completion", "invoice", "retried completion", "submission"]
        )
        for (const [name, statement] of statements) {
          yield* statement
          const error = yield* Effect.flip(withoutTables(statement))
          assert.isTrue(SqlErrors.isPermanent(error), name)
        }
      }).pipe(
        Effect.provide(
          Layer.mergeAll(Stores.layer, DeliveryQueue.layer).pipe(
            Layer.provideMerge(Layer.mergeAll(keys, layerPostgres, TestSettings.layer({}), collected))
          )
        )
      )
    })
  )
})
