/** Counts of deliveries are cached; the endpoints that they are for are not. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as DeliveryStats from "../../src/deliveries/DeliveryStats.ts"
import * as fixtures from "../support/fixtures.ts"
import { layerPostgres } from "../support/TestDatabase.ts"

layer(Layer.provideMerge(DeliveryStats.layer, layerPostgres), { timeout: "120 seconds" })("DeliveryStats", (it) => {
  it.effect("lists an endpoint as soon as it is created, and none that is deleted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { ofOrganization } = yield* DeliveryStats.DeliveryStats
      const organizationId = yield* fixtures.organization
      const listed = Effect.map(ofOrganization(organizationId, "24h"), ({ counts }) =>
        counts.map((one) => one.endpoint_id)
      )
      assert.deepStrictEqual(yield* listed, [])
      const first = yield* fixtures.endpoint(organizationId)
      assert.deepStrictEqual(yield* listed, [first])
      const second = yield* fixtures.endpoint(organizationId)
      assert.sameMembers([...(yield* listed)], [first, second])
      yield* sql`UPDATE webhook_endpoints SET deleted_at = now() WHERE id = ${first}`
      assert.deepStrictEqual(yield* listed, [second])
      yield* sql`UPDATE webhook_endpoints SET deleted_at = now() WHERE id = ${second}`
      assert.deepStrictEqual(yield* listed, [])
    })
  )
})
