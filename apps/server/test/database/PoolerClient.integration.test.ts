/** The client of a pooler, on Postgres itself with one connection: what it leaves in the session would be seen by the next. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import * as PostgresClient from "../../src/database/PostgresClient.ts"

const client = (options: { readonly decidePlans: boolean }) =>
  PostgresClient.layer(
    { _tag: "Postgres", url: inject("databaseUrl"), pooler: { directUrl: undefined } },
    { applicationName: "test", maxConnections: 1, parameters: { statement_timeout: "7s", jit: "off" }, ...options }
  )

interface Session {
  readonly timeout: string
  readonly jit: string
  readonly backend: number
  readonly prepared: number
}

const session = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Session>`
    SELECT current_setting('statement_timeout') AS timeout, current_setting('jit') AS jit, pg_backend_pid() AS backend,
           (SELECT count(*)::int FROM pg_prepared_statements) AS prepared
  `
  return row!
})

// A transaction sees its parameters, and the statement after it those of the session.
const bare = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const connection = yield* sql.reserve
  return (yield* connection.execute(
    "SELECT current_setting('statement_timeout') AS timeout, current_setting('jit') AS jit",
    [],
    undefined
  ))[0] as Pick<Session, "timeout" | "jit">
}).pipe(Effect.scoped)

describe("the client of a pooler", () => {
  it.effect("sets parameters for one statement, and names no statement", () =>
    Effect.gen(function* () {
      const first = yield* session
      assert.include(first, { timeout: "7s", jit: "off", prepared: 0 })
      assert.deepStrictEqual(yield* session, first)
      assert.deepStrictEqual(yield* bare, { timeout: "0", jit: "on" })
    }).pipe(Effect.provide(client({ decidePlans: true })))
  )

  it.effect("sets parameters for transactions alone when they decide no plans", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.include(yield* session, { timeout: "0", jit: "on", prepared: 0 })
      assert.include(yield* sql.withTransaction(session), { timeout: "7s", jit: "off" })
      assert.include(yield* session, { timeout: "0", jit: "on" })
    }).pipe(Effect.provide(client({ decidePlans: false })))
  )

  it.effect.each([true, false])("keeps what a transaction sets over a savepoint (statements too: %s)", (decidePlans) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const inner = sql.withTransaction(session)
      const outer = sql.withTransaction(Effect.andThen(sql`SET LOCAL statement_timeout = '9s'`, inner))
      assert.include(yield* outer, { timeout: "9s", jit: "off" })
    }).pipe(Effect.provide(client({ decidePlans })))
  )

  it.effect("rolls a failed statement back, and answers with its error", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const exit = yield* Effect.exit(sql`SELECT 1 / 0`)
      assert.isTrue(Exit.isFailure(exit))
      assert.match(String(exit), /SqlError/)
      assert.include(yield* session, { timeout: "7s" })
      assert.deepStrictEqual(yield* bare, { timeout: "0", jit: "on" })
    }).pipe(Effect.provide(client({ decidePlans: true })))
  )

  it.effect("answers with an error, not with a defect, when the connection is lost", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const error = yield* Effect.flip(sql`SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)`)
      assert.strictEqual(error._tag, "SqlError")
      assert.include(yield* session, { timeout: "7s" })
    }).pipe(Effect.provide(client({ decidePlans: true })))
  )
})
