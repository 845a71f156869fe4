/** Limits of one organization and of its endpoints, as an operator and an owner set them. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Organizations from "../../src/accounts/Organizations.ts"
import { KeyRing } from "../../src/crypto/KeyRing.ts"
import * as ConcurrencyLimits from "../../src/deliveries/ConcurrencyLimits.ts"
import * as WebhookEndpoints from "../../src/deliveries/WebhookEndpoints.ts"
import * as fixtures from "../support/fixtures.ts"
import { database } from "../support/TestDatabase.ts"
import * as TestSettings from "../support/TestSettings.ts"

const endpoints = WebhookEndpoints.layer.pipe(
  Layer.provide(Organizations.layer),
  Layer.provide([Layer.succeed(KeyRing)(fixtures.keyRing), TestSettings.layer({ organizationConcurrency: 10 })])
)

const input = {
  url: "https://example.com",
  description: null,
  eventTypes: ["*"],
  enabled: true,
  standardWebhooks: false,
  modes: ["test", "live"],
  headers: {},
  maxInFlight: 10
} as const

layer(database.layer, { timeout: "120 seconds" })(`concurrency limits (${database.name})`, (it) => {
  it.effect("of an endpoint are at most that of its organization, which an operator changes", () =>
    Effect.gen(function* () {
      yield* Effect.andThen(fixtures.clear, TestClock.setTime(10_000))
      const sql = yield* SqlClient.SqlClient
      const organizationId = yield* fixtures.organization
      const [account] = yield* sql<{ readonly id: Ids.AccountId }>`SELECT id FROM accounts`
      const { create, find, update } = yield* Effect.provide(WebhookEndpoints.WebhookEndpoints, endpoints)

      const { id, max_in_flight } = yield* create(account!.id, organizationId, input)
      assert.strictEqual(max_in_flight, 10)
      const refused = yield* Effect.flip(create(account!.id, organizationId, { ...input, maxInFlight: 11 }))
      assert.deepInclude(refused, { _tag: "MaxInFlightTooHigh", limit: 10 })
      const raise = update(account!.id, id, { maxInFlight: 50 })
      assert.deepInclude(yield* Effect.flip(raise), { _tag: "MaxInFlightTooHigh", limit: 10 })

      yield* ConcurrencyLimits.set(organizationId, 50)
      assert.strictEqual(yield* ConcurrencyLimits.read(organizationId, 10), 50)
      assert.deepInclude(yield* raise, { max_in_flight: 50 })
      assert.deepInclude(yield* update(account!.id, id, { enabled: false }), { max_in_flight: 50 })
      yield* update(account!.id, id, { maxInFlight: null })
      assert.deepInclude(yield* find(account!.id, id), { max_in_flight: null })

      assert.isTrue(yield* ConcurrencyLimits.set(organizationId, null))
      assert.strictEqual(yield* ConcurrencyLimits.read(organizationId, 10), 10)
    })
  )

  it.effect("of an organization that moves to another cell is zero until it has moved", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const sql = yield* SqlClient.SqlClient
      const organizationId = yield* fixtures.organization
      yield* sql`UPDATE organization_concurrency SET max_in_flight = 0 WHERE organization_id = ${organizationId}`
      assert.isFalse(yield* ConcurrencyLimits.set(organizationId, 50))
      assert.isFalse(yield* ConcurrencyLimits.set(organizationId, null))
      assert.deepStrictEqual(
        yield* sql`SELECT max_in_flight FROM organization_concurrency WHERE organization_id = ${organizationId}`,
        [{ max_in_flight: 0 }]
      )
      assert.strictEqual(yield* ConcurrencyLimits.read(organizationId, 10), 10)
    })
  )
})
