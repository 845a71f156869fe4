/** What a session is given, what it cannot be given, and a server that has no connection left. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { startSwallower, type Swallower } from "../../../../test/faults/swallower.ts"
import * as Database from "../../src/database/Database.ts"
import * as PostgresClient from "../../src/database/PostgresClient.ts"
import * as SessionCheck from "../../src/database/SessionCheck.ts"
import { checkDatabase } from "../../src/commands/doctor.ts"
import * as TestSettings from "../support/TestSettings.ts"
import { acquire } from "../support/TestDatabase.ts"

const on = <A, E>(
  settings: {
    readonly url: string
    readonly pooler?: { readonly directUrl: undefined }
    readonly connections?: number
  },
  effect: Effect.Effect<A, E, SqlClient.SqlClient>
) => Effect.provide(effect, Database.layerClient({ _tag: "Postgres", ...settings }), { local: true })

const exec = (statement: string) =>
  on(
    { url: inject("databaseUrl") },
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement))
  )

const nameOf = (url: string) => new URL(url).pathname.slice(1)

const findingOf = (
  name: string,
  database: { readonly url: string; readonly connections?: number; readonly pooler?: { readonly directUrl: string } }
) =>
  Effect.map(checkDatabase(TestSettings.settings({ database: { _tag: "Postgres", ...database } })), (findings) => {
    const found = findings.find((finding) => finding.check === name)
    assert.isDefined(found, JSON.stringify(findings))
    return found!
  })

describe("a session", () => {
  it.live("is refused by a database whose encoding has no Polish letters", () =>
    Effect.gen(function* () {
      const name = `latin_${Date.now()}`
      yield* exec(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
      yield* Effect.addFinalizer(() => Effect.ignore(exec(`DROP DATABASE ${name} WITH (FORCE)`)))
      const url = new URL(inject("databaseUrl"))
      url.pathname = `/${name}`
      const fault = yield* on({ url: url.href }, SessionCheck.fault)
      assert.match(fault!.message, /^The database latin_\d+ has the encoding LATIN1, expected UTF8: .*ENCODING 'UTF8'/)
      assert.strictEqual((yield* findingOf("encoding", { url: url.href })).level, "fault")
    })
  )

  it.live(
    "has the isolation of the server whatever the defaults of the database; behind a pooler they are refused",
    () =>
      Effect.gen(function* () {
        const url = yield* acquire
        yield* exec(`ALTER DATABASE ${nameOf(url)} SET default_transaction_isolation = 'serializable'`)
        yield* exec(`ALTER DATABASE ${nameOf(url)} SET client_encoding = 'LATIN1'`)
        const [row] = yield* on(
          { url },
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`SELECT current_setting('transaction_isolation') AS isolation, 'zażółć' AS text`
          )
        )
        assert.deepStrictEqual(row, { isolation: "read committed", text: "zażółć" })
        assert.isUndefined(yield* on({ url }, SessionCheck.fault))
        const fault = yield* on({ url, pooler: { directUrl: undefined } }, SessionCheck.fault)
        assert.match(fault!.message, /^Transactions are serializable by default, expected read committed/)
      })
  )

  it.live("compiles no plans, whatever the default of the database", () =>
    Effect.gen(function* () {
      const url = yield* acquire
      yield* exec(`ALTER DATABASE ${nameOf(url)} SET jit = on`)
      const [row] = yield* on(
        { url },
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT current_setting('jit') AS jit`)
      )
      assert.deepStrictEqual(row, { jit: "off" })
    })
  )

  it.live("ends within 20 s where its client has gone silent, so that its connection is free again", () =>
    Effect.gen(function* () {
      const url = yield* acquire
      const [row] = yield* on(
        { url },
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`
            SELECT current_setting('tcp_keepalives_idle') AS idle, current_setting('tcp_keepalives_interval') AS interval,
                   current_setting('tcp_keepalives_count') AS count
          `
        )
      )
      assert.deepStrictEqual(row, { idle: "10", interval: "1", count: "10" })
    })
  )
})

describe("a pool", () => {
  it.live("opens as many connections as the settings say", () =>
    Effect.gen(function* () {
      const pids = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.all(
          Array.from(
            { length: 30 },
            () => sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid, pg_sleep(0.02)`
          ),
          { concurrency: "unbounded" }
        )
      )
      const used = yield* on({ url: inject("databaseUrl"), connections: 3 }, pids)
      assert.strictEqual(new Set(used.map(([row]) => row!.pid)).size, 3)
    })
  )

  it.live(
    "cancels no statement whose caller gives up: as a commit that waits for a replica, it would be done and lost",
    () =>
      Effect.gen(function* () {
        const url = yield* acquire
        const left = yield* on(
          { url, connections: 2 },
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            yield* sql`CREATE TABLE one (number int)`
            yield* Effect.timeoutOption(sql`INSERT INTO one SELECT 1 FROM pg_sleep(0.5)`, "100 millis")
            return yield* sql`SELECT number FROM one`
          })
        )
        assert.deepStrictEqual(left, [{ number: 1 }])
      })
  )

  /** Runs a test with a pool of two connections that can go silent. */
  const withSilence = <E>(
    test: (sql: SqlClient.SqlClient, swallower: Swallower) => Effect.Effect<void, E, Scope.Scope>
  ) =>
    Effect.gen(function* () {
      const url = new URL(inject("databaseUrl"))
      const swallower = yield* Effect.acquireRelease(
        Effect.promise(() => startSwallower(Number(url.port))),
        (started) => Effect.promise(() => started.close())
      )
      url.port = String(swallower.port)
      const pool = { applicationName: "test", maxConnections: 2, parameters: {}, decidePlans: false, deadlineMs: 1000 }
      yield* Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => test(sql, swallower)),
        PostgresClient.layer({ _tag: "Postgres", url: url.href }, pool),
        { local: true }
      )
    })

  it.live("keeps no connection that has gone silent together with the one whose statement had no answer", () =>
    withSilence(
      Effect.fnUntraced(function* (sql, swallower) {
        const unanswered = yield* Effect.forkScoped(sql`SELECT pg_sleep(0.5)`)
        yield* Effect.sleep("100 millis")
        // Its connection has heard of the server since the statement of the other began.
        yield* sql`SELECT 1`
        swallower.swallow(() => "both", 1, false)
        assert.strictEqual((yield* Effect.flip(Fiber.join(unanswered))).reason._tag, "StatementTimeoutError")
        assert.lengthOf(yield* sql`SELECT 2`, 1)
      })
    )
  )

  it.live("keeps no silent connection when those who wait for its statement give up before its deadline", () =>
    withSilence(
      Effect.fnUntraced(function* (sql, swallower) {
        yield* Effect.all([sql`SELECT pg_sleep(0.1)`, sql`SELECT pg_sleep(0.1)`], { concurrency: 2 })
        swallower.swallow(() => "both", 1, false)
        assert.isTrue(Option.isNone(yield* Effect.timeoutOption(sql`SELECT 1`, "100 millis")))
        assert.lengthOf(yield* sql`SELECT 2`, 1)
      })
    )
  )
})

it.live("the doctor asks Postgres itself behind a pooler, which brings notifications", () =>
  Effect.gen(function* () {
    const url = yield* acquire
    const nobody = new URL(url)
    nobody.port = "1"
    const levelOf = (directUrl: string) =>
      Effect.map(findingOf("direct", { url, pooler: { directUrl } }), ({ level }) => level)
    assert.deepStrictEqual([yield* levelOf(url), yield* levelOf(nobody.href)], ["ok", "warning"])
  })
)

describe("a role whose connections are limited", () => {
  const limited = Effect.gen(function* () {
    const url = new URL(yield* acquire)
    const role = `limited_${Date.now()}`
    yield* exec(`CREATE ROLE ${role} LOGIN PASSWORD 'limited' CONNECTION LIMIT 2`)
    yield* Effect.addFinalizer(() => Effect.ignore(exec(`DROP ROLE ${role}`)))
    url.username = role
    url.password = "limited"
    return url.href
  })

  it.live("serves more statements at once than it has connections", () =>
    Effect.gen(function* () {
      const url = yield* limited
      const statements = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.all(
          Array.from({ length: 30 }, () => sql`SELECT pg_sleep(0.05)`),
          { concurrency: "unbounded" }
        )
      )
      assert.lengthOf(yield* on({ url, connections: 10 }, statements), 30)
    })
  )

  it.live("waits while others have them all", () =>
    Effect.gen(function* () {
      const url = yield* limited
      const busy = yield* Effect.forkScoped(
        on(
          { url, connections: 2 },
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            Effect.all([sql`SELECT pg_sleep(2)`, sql`SELECT pg_sleep(2)`], { concurrency: 2 })
          )
        )
      )
      const open = exec(
        `SELECT 1 FROM pg_stat_activity WHERE usename = '${new URL(url).username}' AND query LIKE '%pg_sleep%'`
      )
      while ((yield* open).length < 2) yield* Effect.sleep("20 millis")
      yield* on(
        { url, connections: 2 },
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`)
      )
      yield* Fiber.join(busy)
    })
  )

  it.live("is compared with the settings by the doctor", () =>
    Effect.gen(function* () {
      const url = yield* limited
      const { level, message } = yield* findingOf("connections", { url, connections: 3 })
      assert.strictEqual(level, "fault")
      assert.match(message, /^a process opens up to 9; 2 are allowed, and \d+ are open\.$/)
      assert.strictEqual((yield* findingOf("connections", { url: inject("databaseUrl"), connections: 3 })).level, "ok")
    })
  )
})
