/** Switching Standard Webhooks on: the secret that signs decides whether an endpoint can. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import * as Organizations from "../../src/accounts/Organizations.ts"
import { KeyRing } from "../../src/crypto/KeyRing.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as AloneWorker from "../../src/deliveries/AloneWorker.ts"
import * as WebhookEndpoints from "../../src/deliveries/WebhookEndpoints.ts"
import { database } from "../support/TestDatabase.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"

const endpoints = WebhookEndpoints.layer.pipe(
  Layer.provide(Organizations.layer),
  Layer.provide([Layer.succeed(KeyRing)(fixtures.keyRing), TestSettings.layer()])
)

const begin = Effect.gen(function* () {
  yield* Effect.andThen(fixtures.clear, TestClock.setTime(10_000))
  const sql = yield* SqlClient.SqlClient
  const organizationId = yield* fixtures.organization
  const [account] = yield* sql<{ readonly id: Ids.AccountId }>`SELECT id FROM accounts`
  const id = yield* fixtures.endpoint(organizationId)
  // The first format: base64url of 32 bytes.
  const old = fixtures.keyRing.seal(`whsec_${randomBytes(32).toString("base64url")}`, {
    column: "webhook_endpoints.secret",
    row: id
  })
  yield* sql`UPDATE webhook_endpoints SET secret = ${old} WHERE id = ${id}`
  return { sql, organizationId, accountId: account!.id, id }
})

layer(database.layer, { timeout: "120 seconds" })(`Standard Webhooks (${database.name})`, (it) => {
  it.effect("are refused while a secret of the first format signs, and allowed after its rotation", () =>
    Effect.gen(function* () {
      const { accountId, id, sql } = yield* begin
      const { find, rotateSecret, update } = yield* Effect.provide(WebhookEndpoints.WebhookEndpoints, endpoints)
      const switchOn = update(accountId, id, { standardWebhooks: true, description: "changed" })

      assert.strictEqual((yield* Effect.flip(switchOn))._tag, "SecretNotStandard")
      assert.deepInclude(yield* find(accountId, id), { standard_webhooks: false, description: null })
      assert.deepInclude(yield* update(accountId, id, { standardWebhooks: false }), { standard_webhooks: false })

      yield* rotateSecret(accountId, id, 3600)
      const setActive = (at: string) =>
        sql`UPDATE webhook_endpoints SET next_secret_at = clock_timestamp() + ${at}::interval WHERE id = ${id}`
      yield* setActive("1 hour")
      assert.strictEqual((yield* Effect.flip(switchOn))._tag, "SecretNotStandard", "the old secret still signs")

      yield* setActive("0")
      assert.deepInclude(yield* switchOn, { standard_webhooks: true, description: "changed" })
      assert.deepInclude(yield* update(accountId, id, { enabled: false }), { standard_webhooks: true })

      const unknown = update(accountId, "we_unknown", { standardWebhooks: true })
      assert.strictEqual((yield* Effect.flip(unknown))._tag, "WebhookEndpointNotFound")
      const others = update("acct_01kakd3zz0e5ksv2c8f4n6q9rt" as Ids.AccountId, id, { standardWebhooks: true })
      assert.strictEqual((yield* Effect.flip(others))._tag, "WebhookEndpointNotFound")
    })
  )

  it.effect("are part of a claimed delivery, of one that is attempted alone too", () =>
    Effect.gen(function* () {
      const { id, organizationId, sql } = yield* begin
      yield* sql`UPDATE webhook_endpoints SET standard_webhooks = true WHERE id = ${id}`
      yield* fixtures.deliveries(organizationId, id, 2, { dueAt: 0 })
      const limits = { perOrganization: 10, leaseMs: 30_000 }
      const queue = yield* Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
      const { deliveries } = yield* queue.claim({ limit: 1, ...limits })
      assert.deepStrictEqual(
        deliveries.map((delivery) => delivery.standard_webhooks),
        [true]
      )
      yield* sql`
          UPDATE deliveries SET is_due = false, interruption_count = 2, status = 'retrying', failure_status = 'retrying', next_retry_at = due_at
          WHERE status <> 'delivering'
        `
      const claimAlone = yield* AloneWorker.makeClaim
      assert.strictEqual((yield* claimAlone(limits))?.standard_webhooks, true)
    })
  )
})
