/** The readiness probe, and the statements that it costs. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Layer, Tracer } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import * as KeyRing from "../../../src/crypto/KeyRing.ts"
import * as HotStatements from "../../../src/database/HotStatements.ts"
import * as OutageLog from "../../../src/database/OutageLog.ts"
import * as Operational from "../../../src/http/handlers/Operational.ts"
import * as RequestLifecycle from "../../../src/http/middleware/RequestLifecycle.ts"
import * as ThrottledLog from "../../../src/observability/ThrottledLog.ts"
import * as Stores from "../../../src/runtime/Stores.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"
import * as TestSettings from "../../support/TestSettings.ts"
import { patienceMs } from "../../../../../test/support/patienceMs.ts"

// Counts the spans of statements.
const makeCounter = () => {
  const counter = { statements: 0 }
  const tracer = Tracer.make({
    span: (options) => {
      if (options.kind === "client") counter.statements += 1
      return new Tracer.NativeSpan(options)
    }
  })
  return { counter, layer: Layer.succeed(Tracer.Tracer)(tracer) }
}

describe("/readyz", () => {
  it.live("runs one check for all probes of a second", () =>
    Effect.gen(function* () {
      const { counter, layer } = makeCounter()
      const keys = KeyRing.layer([{ id: "k1", bytes: new Uint8Array(randomBytes(32)) }])
      const { dispose, handler } = HttpRouter.toWebHandler(
        Operational.layer.pipe(
          Layer.provide(RequestLifecycle.layer),
          Layer.provide([keys, layerPostgres, TestSettings.layer({})]),
          Layer.provideMerge(layer)
        ),
        { disableLogger: true }
      )
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const probe = async () =>
        (await handler(new Request("http://localhost/readyz", { headers: { host: "x" } }))).status
      const costOf = async (probes: number): Promise<number> => {
        const before = counter.statements
        const statuses = await Promise.all(Array.from({ length: probes }, probe))
        assert.deepStrictEqual([...new Set(statuses)], [200])
        return counter.statements - before
      }
      const cost = yield* Effect.promise(async () => {
        // The first also migrates the database, which can take longer than a probe waits.
        for (const deadline = Date.now() + patienceMs; (await probe()) !== 200 && Date.now() < deadline;)
          await sleep(200)
        await sleep(1100)
        const ofOne = await costOf(1)
        assert.isAbove(ofOne, 0)
        await sleep(1100)
        return { ofOne, ofMany: await costOf(100) }
      })
      // On a busy machine, the probes take several seconds.
      assert.isAtMost(cost.ofMany, 20 * cost.ofOne)
    })
  )

  /** A process with the stores, and the statements of `prepare` before it. */
  const process = Effect.fnUntraced(function* (prepare: ReadonlyArray<string>) {
    const keys = KeyRing.layer([{ id: "k1", bytes: new Uint8Array(randomBytes(32)) }])
    const outage = Layer.succeed(OutageLog.OutageLog)(ThrottledLog.make({ down: "down", recovered: "recovered" }))
    const database = Layer.tap(layerPostgres, (context) =>
      Effect.forEach(prepare, (statement) => Context.get(context, SqlClient.SqlClient).unsafe(statement))
    )
    const context = yield* Layer.build(
      Layer.mergeAll(OutageLog.layerProbe, Stores.layer).pipe(
        Layer.provideMerge(Layer.mergeAll(keys, database, TestSettings.layer({}), outage, HotStatements.layer))
      )
    )
    const { dispose, handler } = HttpRouter.toWebHandler(
      Operational.layer.pipe(Layer.provide(RequestLifecycle.layer), Layer.provide(Layer.succeedContext(context))),
      { disableLogger: true }
    )
    yield* Effect.addFinalizer(() => Effect.promise(dispose))
    const probe = Effect.promise(async () => {
      const answer = await handler(new Request("http://localhost/readyz", { headers: { host: "x" } }))
      return { status: answer.status, text: await answer.text() }
    })
    const until = (expected: RegExp): Effect.Effect<void> =>
      Effect.flatMap(probe, ({ status, text }) =>
        expected.test(`${status} ${text}`) ? Effect.void : Effect.andThen(Effect.sleep("100 millis"), until(expected))
      )
    const sql = Context.get(context, SqlClient.SqlClient)
    return { context, sql, until }
  })

  it.live("is 503 while a statement that most requests need cannot be executed", () =>
    Effect.gen(function* () {
      const { sql, until } = yield* process(["ALTER TABLE invoices RENAME COLUMN traceparent TO renamed"])
      yield* until(/^503 .*schema does not match/)
      yield* sql`ALTER TABLE invoices RENAME COLUMN renamed TO traceparent`
      yield* until(/^200 /)
    })
  )

  it.live("is 503 from a write that fails on a full disk until writes succeed", () =>
    Effect.gen(function* () {
      const { context, sql, until } = yield* process([
        `CREATE FUNCTION full_disk() RETURNS event_trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`
      ])
      yield* until(/^200 /)
      // Every table that is created fails, and so does the probe of the disk.
      yield* sql`CREATE EVENT TRIGGER full_disk ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION full_disk()`
      const error = yield* Effect.flip(sql`CREATE TABLE one (id int)`)
      yield* Effect.provide(OutageLog.report(Cause.fail(error), Effect.void), context)
      yield* until(/^503 .*disk of the database is full/)
      // Longer than an outage lasts after which statements succeed.
      yield* Effect.sleep("5 seconds")
      yield* until(/^503 .*disk of the database is full/)
      yield* sql`DROP EVENT TRIGGER full_disk`
      yield* until(/^200 /)
    })
  )
})
