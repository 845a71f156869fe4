import { assert, layer } from "@effect/vitest"
import { Environment } from "@govoice/ksef/client"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { wakeLane } from "../../../src/invoices/ksef/LaneQueue.ts"
import * as NationalSystem from "../../../src/invoices/ksef/NationalSystem.ts"
import * as KeyRing from "../../../src/crypto/KeyRing.ts"
import * as GatewayCredentials from "../../../src/invoices/ksef/GatewayCredentials.ts"
import * as TestSettings from "../../support/TestSettings.ts"
import * as fixtures from "../../support/fixtures.ts"
import { database } from "../../support/TestDatabase.ts"

const layerOf = (environment: "test" | "prod") =>
  Layer.fresh(
    NationalSystem.layerOf({
      environment: Environment.environments[environment],
      environmentId: environment,
      proxy: undefined
    })
  )

// What credentials need beside the database.
const services = Layer.merge(
  Layer.succeed(KeyRing.KeyRing)(fixtures.keyRing),
  TestSettings.layer({ ksef: { ...TestSettings.settings().ksef, environmentId: "test" } })
)

const start = (environment: "test" | "prod") =>
  Effect.scoped(
    Effect.flatMap(NationalSystem.NationalSystem, (system) => Effect.succeed(system?.environmentId)).pipe(
      Effect.provide(layerOf(environment))
    )
  )

const insertLiveInvoice = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const organizationId = yield* fixtures.organization
  const invoiceId = yield* fixtures.invoice(organizationId)
  yield* sql`
    UPDATE invoices SET mode = 'live', scenario = NULL, status = 'queued', official_number = NULL, completed_at = NULL,
           due_at = created_at
    WHERE id = ${invoiceId}
  `
  return invoiceId
})

layer(database.layer, { timeout: "120 seconds" })(`NationalSystem (${database.name})`, (it) => {
  it.effect("starts on another environment while no live invoice is unfinished", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      assert.strictEqual(yield* start("test"), "test")
      assert.strictEqual(yield* start("prod"), "prod")
      assert.strictEqual(yield* start("prod"), "prod")
    })
  )

  it.effect("tells a process of the environment before, which accepts nothing more", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const sql = yield* SqlClient.SqlClient
      const organizationId = yield* fixtures.organization
      yield* sql`
        UPDATE organizations SET credential = '\\x010000', credential_kind = 'ksef_token', credential_context = '5265877635',
          credential_environment = 'test', credential_state = 'accepted', credential_updated_at = now()
      `
      const [problem, isAvailable] = yield* Effect.gen(function* () {
        const { isLiveModeAvailable } = yield* GatewayCredentials.GatewayCredentials
        assert.isUndefined(yield* NationalSystem.problem)
        assert.isTrue(yield* isLiveModeAvailable(organizationId))
        yield* start("prod")
        return [yield* NationalSystem.problem, yield* isLiveModeAvailable(organizationId)]
      }).pipe(
        Effect.provide(GatewayCredentials.layer.pipe(Layer.provideMerge(layerOf("test")), Layer.provide(services)))
      )
      assert.include(problem, "of the KSeF environment prod by now, and this process is of test")
      assert.isFalse(isAvailable)
    })
  )

  it.effect("refuses another environment while a live invoice is unfinished", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      yield* start("test")
      const invoiceId = yield* insertLiveInvoice
      const error = yield* Effect.flip(start("prod"))
      assert.match((error as Error).message, /KSeF environment test, and the settings name prod\. Set GOVOICE_KSEF/)
      assert.strictEqual(yield* start("test"), "test")

      const sql = yield* SqlClient.SqlClient
      yield* sql`
          UPDATE invoices SET status = 'failed', completed_at = updated_at, due_at = NULL WHERE id = ${invoiceId}
        `
      assert.strictEqual(yield* start("prod"), "prod")
    })
  )

  it.effect("wakes a lane that is new or idle, and leaves a leased one alone", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const sql = yield* SqlClient.SqlClient
      const readLane = Effect.map(
        sql<{ readonly due: number | null }>`SELECT extract(epoch FROM due_at)::int AS due FROM national_lanes`,
        (rows) => rows.map(({ due }) => due)
      )
      yield* TestClock.setTime(1_000_000)
      yield* wakeLane("5265877635")
      assert.deepStrictEqual(yield* readLane, [1000])
      yield* sql`UPDATE national_lanes SET due_at = NULL`
      yield* wakeLane("5265877635")
      assert.deepStrictEqual(yield* readLane, [1000])
      yield* sql`UPDATE national_lanes SET is_leased = true, due_at = to_timestamp(2000)`
      yield* wakeLane("5265877635")
      assert.deepStrictEqual(yield* readLane, [2000])
    })
  )
})
