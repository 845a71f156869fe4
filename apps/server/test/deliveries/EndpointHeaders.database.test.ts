/** The headers of endpoints: sealed in their row, claimed with every delivery, and shown by name only. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Organizations from "../../src/accounts/Organizations.ts"
import { KeyRing } from "../../src/crypto/KeyRing.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as EndpointHeaders from "../../src/deliveries/EndpointHeaders.ts"
import * as WebhookEndpoints from "../../src/deliveries/WebhookEndpoints.ts"
import * as fixtures from "../support/fixtures.ts"
import { database } from "../support/TestDatabase.ts"
import * as TestSettings from "../support/TestSettings.ts"

const endpoints = WebhookEndpoints.layer.pipe(
  Layer.provide(Organizations.layer),
  Layer.provide([Layer.succeed(KeyRing)(fixtures.keyRing), TestSettings.layer()])
)

const input = {
  url: "https://example.com",
  description: null,
  eventTypes: ["*"],
  enabled: true,
  standardWebhooks: false,
  modes: ["test", "live"],
  maxInFlight: null
} as const

layer(database.layer, { timeout: "120 seconds" })(`headers of endpoints (${database.name})`, (it) => {
  it.effect("are stored sealed, returned by name, and part of a claimed delivery", () =>
    Effect.gen(function* () {
      yield* Effect.andThen(fixtures.clear, TestClock.setTime(10_000))
      const sql = yield* SqlClient.SqlClient
      const organizationId = yield* fixtures.organization
      const [account] = yield* sql<{ readonly id: Ids.AccountId }>`SELECT id FROM accounts`
      const { create, find, update } = yield* Effect.provide(WebhookEndpoints.WebhookEndpoints, endpoints)

      const headers = { "X-Api-Key": "key-of-the-gateway", Authorization: "Bearer other" }
      const { id, ...created } = yield* create(account!.id, organizationId, { ...input, headers })
      assert.deepStrictEqual(created.headers, ["X-Api-Key", "Authorization"])
      assert.deepStrictEqual(created.modes, ["test", "live"])
      const stored = sql<{ readonly row: string }>`
          SELECT row_to_json(webhook_endpoints)::text || encode(headers, 'escape') AS row FROM webhook_endpoints WHERE id = ${id}
        `
      assert.notInclude((yield* stored)[0]!.row, "key-of-the-gateway")

      yield* fixtures.deliveries(organizationId, id, 2, { dueAt: 0 })
      const queue = yield* Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
      const { deliveries } = yield* queue.claim({ limit: 1, perOrganization: 10, leaseMs: 30_000 })
      assert.deepStrictEqual(EndpointHeaders.open(fixtures.keyRing, id, deliveries[0]!.headers!), headers)

      // What is left out is unchanged, and a new object replaces all.
      assert.deepInclude(yield* update(account!.id, id, { enabled: true }), {
        headers: ["X-Api-Key", "Authorization"]
      })
      assert.deepInclude(yield* update(account!.id, id, { headers: { "x-b": "1" }, modes: ["live"] }), {
        headers: ["x-b"],
        modes: ["live"]
      })
      yield* update(account!.id, id, { headers: {} })
      assert.deepInclude(yield* find(account!.id, id), { headers: [], modes: ["live"] })
      const [row] = yield* sql`SELECT headers FROM webhook_endpoints WHERE id = ${id}`
      assert.deepStrictEqual(row, { headers: null })
    })
  )
})
