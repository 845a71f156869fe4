/** Several hosts in `DATABASE_URL`: a primary and its replica, of which new sessions find the one that accepts writes. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Queue, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { afterEach, beforeEach } from "vitest"
import { Cluster, embeddedPrograms } from "../../../../test/support/cluster.ts"
import { isInstalled, startPgBouncer } from "../../../../test/support/pgbouncer.ts"
import { startStandby } from "../../../../test/support/standby.ts"
import { checkDatabase } from "../../src/commands/doctor.ts"
import * as Database from "../../src/database/Database.ts"
import { explain } from "../../src/database/explain.ts"
import * as TestSettings from "../support/TestSettings.ts"

describe("several hosts", () => {
  let primary: Cluster
  let standby: Cluster

  const portOf = (url: string) => new URL(url).port

  beforeEach(async () => {
    primary = await Cluster.create(embeddedPrograms(), { hot_standby: "on" })
    standby = await startStandby(primary, portOf(primary.url))
    await primary.query("CREATE TABLE written (at timestamptz DEFAULT now())")
    const replayed = async () => (await standby.query("SELECT FROM pg_class WHERE relname = 'written'")).rowCount === 1
    while (!(await replayed())) await new Promise((resolve) => setTimeout(resolve, 50))
  })
  afterEach(async () => {
    await standby.remove()
    await primary.remove()
  })

  const urlOf = (ports: ReadonlyArray<string>, attributes = "read-write") =>
    `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/postgres?target_session_attrs=${attributes}`

  const hosts = (attributes?: string) => urlOf([portOf(standby.url), portOf(primary.url)], attributes)

  const on = <A, E>(url: string, effect: Effect.Effect<A, E, SqlClient.SqlClient | PgClient.PgClient>) =>
    Effect.provide(effect, Database.layerClient({ _tag: "Postgres", url }), { local: true })

  /** Writes, and returns the port and the process of the server that did. */
  const write = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ readonly port: number; readonly pid: number }>`
        INSERT INTO written DEFAULT VALUES RETURNING inet_server_port() AS port, pg_backend_pid() AS pid
      `,
      ([row]) => row!
    )
  )

  const portWritten = Effect.map(write, ({ port }) => String(port))

  it.live.each(["read-write", "primary"])("lead sessions to the primary with target_session_attrs=%s", (attributes) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* on(hosts(attributes), portWritten), portOf(primary.url))
      const refused = yield* Effect.flip(on(urlOf([portOf(standby.url)], attributes), portWritten))
      assert.strictEqual(
        explain({ _tag: "Postgres", url: urlOf([portOf(standby.url)], attributes) }, refused),
        `Postgres at 127.0.0.1:${portOf(standby.url)} cannot be reached: 127.0.0.1:${portOf(standby.url)}: The server is read-only. ` +
          "Check DATABASE_URL, and that Postgres is running and lets this machine in."
      )
    })
  )

  it.live("accept any of them with target_session_attrs=any", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(on(hosts("any"), portWritten))
      assert.match(
        explain({ _tag: "Postgres", url: hosts("any") }, refused)!,
        /point DATABASE_URL at the primary, or at all servers/
      )
    })
  )

  it.live("lead the same client to the promoted replica after the primary was killed, also its notifications", () =>
    on(
      hosts(),
      Effect.gen(function* () {
        const pg = yield* PgClient.PgClient
        assert.strictEqual(yield* portWritten, portOf(primary.url))
        const before = yield* Effect.scoped(
          Effect.gen(function* () {
            const queue = yield* pg.listen("channel")
            yield* Effect.promise(() => primary.end("SIGKILL"))
            return yield* Effect.exit(Queue.take(queue))
          })
        )
        assert.strictEqual(before._tag, "Failure")
        assert.strictEqual((yield* Effect.exit(write))._tag, "Failure")

        yield* Effect.promise(() => standby.query("SELECT pg_promote()"))
        const promotedAt = Date.now()
        const port = yield* Effect.retry(portWritten, { schedule: Schedule.spaced("20 millis") })
        assert.strictEqual(port, portOf(standby.url))
        assert.isBelow(Date.now() - promotedAt, 2000)

        const queue = yield* pg.listen("channel")
        yield* pg.notify("channel", "after")
        assert.strictEqual((yield* Queue.take(queue)).payload, "after")
      }).pipe(Effect.scoped)
    )
  )

  it.live("replace each session of a primary that became read-only after one statement at most", () =>
    on(
      hosts(),
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const opened = yield* Effect.all(
          Array.from({ length: 5 }, () => Effect.andThen(sql`SELECT pg_sleep(0.2)`, portWritten)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(new Set(opened), new Set([portOf(primary.url)]))
        yield* Effect.promise(() => standby.query("SELECT pg_promote()"))
        yield* Effect.promise(() => primary.query("ALTER SYSTEM SET default_transaction_read_only = on"))
        yield* Effect.promise(() => primary.query("SELECT pg_reload_conf()"))
        yield* Effect.sleep("500 millis")
        // Postgres reports the change with the answer to a statement.
        yield* Effect.repeat(sql`SELECT`, { times: 4 })
        assert.strictEqual(yield* portWritten, portOf(standby.url))
        const { rowCount } = yield* Effect.promise(() =>
          primary.query("SELECT FROM pg_stat_activity WHERE application_name = 'govoice'")
        )
        assert.strictEqual(rowCount, 0)
      })
    )
  )

  it.live("replace a session whose write was refused as read-only", () =>
    on(
      hosts(),
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const first = yield* write
        assert.strictEqual((yield* write).pid, first.pid)
        const refused = sql.withTransaction(Effect.andThen(sql`SET TRANSACTION READ ONLY`, write))
        assert.strictEqual((yield* Effect.exit(refused))._tag, "Failure")
        assert.notStrictEqual((yield* write).pid, first.pid)
      })
    )
  )

  it.live.skipIf(!isInstalled)("may be poolers, which do not tell whether their server is a replica", () =>
    Effect.gen(function* () {
      const poolers = yield* Effect.forEach([standby, primary], ({ url }) =>
        Effect.acquireRelease(
          Effect.promise(() => startPgBouncer(url)),
          (started) => Effect.promise(() => started.remove())
        )
      )
      const url = urlOf(poolers.map(({ urlOf }) => portOf(urlOf(primary.url))))
      const settings = { _tag: "Postgres", url, pooler: { directUrl: hosts() } } as const
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* portWritten, portOf(primary.url))
        const pg = yield* PgClient.PgClient
        const queue = yield* pg.listen("channel")
        yield* pg.notify("channel", "sent")
        assert.strictEqual((yield* Queue.take(queue)).payload, "sent")
      }).pipe(Effect.provide(Database.layerClient(settings)))
    })
  )

  it.live("are named by the doctor when none accepts writes, which waits like an unreachable one", () =>
    Effect.gen(function* () {
      const finding = (url: string) =>
        Effect.map(checkDatabase(TestSettings.settings({ database: { _tag: "Postgres", url } })), (all) =>
          all.find(({ check }) => check === "database")
        )
      assert.strictEqual((yield* finding(hosts()))?.level, "ok")
      yield* Effect.promise(() => primary.end("SIGKILL"))
      const found = yield* finding(hosts())
      assert.strictEqual(found?.level, "fault")
      assert.include(
        found?.message,
        `Postgres at 127.0.0.1:${portOf(standby.url)}, 127.0.0.1:${portOf(primary.url)} cannot be reached: ` +
          `127.0.0.1:${portOf(standby.url)}: The server is read-only; 127.0.0.1:${portOf(primary.url)}: connect ECONNREFUSED`
      )
    })
  )
})
