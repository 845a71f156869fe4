/** When live mode is open, and that it and test mode are apart. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Ids, Mode } from "@govoice/core"
import { randomUUID } from "node:crypto"
import { Environment, type KsefClient } from "@govoice/ksef/client"
import { NationalSystem, type NationalSystemShape } from "../../../src/invoices/ksef/NationalSystem.ts"
import * as KeyRing from "../../../src/crypto/KeyRing.ts"
import { Accounts } from "../../../src/accounts/Accounts.ts"
import { Invoices } from "../../../src/invoices/Invoices.ts"
import { SubmitInvoice } from "../../../src/invoices/SubmitInvoice.ts"
import * as Email from "../../../src/accounts/Email.ts"
import { type CheckedCredential, GatewayCredentials } from "../../../src/invoices/ksef/GatewayCredentials.ts"
import { Organizations } from "../../../src/accounts/Organizations.ts"
import * as Store from "../../../src/runtime/Stores.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as TestSettings from "../../support/TestSettings.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const national: NationalSystemShape = {
  environment: Environment.environments.test,
  environmentId: "test",
  client: {} as KsefClient.KsefClient
}

const deployment = (system: NationalSystemShape | undefined) =>
  Store.layer.pipe(
    Layer.provide([
      Layer.succeed(NationalSystem)(system),
      Layer.succeed(KeyRing.KeyRing)(fixtures.keyRing),
      TestSettings.layer()
    ])
  )

const organization = Effect.gen(function* () {
  const account = yield* (yield* Accounts).create(Email.normalize(`${randomUUID()}@example.com`), "hash")
  const { id } = yield* (yield* Organizations).create(account.id, "Company")
  return { accountId: account.id, organizationId: id }
})

const credential: CheckedCredential = {
  credential: { type: "ksef_token", token: Redacted.make("a token of the national system") },
  context: { type: "Nip", value: "5265877635" },
  expiresAt: undefined
}

const submit = (organizationId: Ids.OrganizationId, mode: Mode.Mode) =>
  Effect.flatMap(SubmitInvoice, (submitInvoice) =>
    submitInvoice.submit(fixtures.submission({ organizationId, mode, idempotencyKey: "one" }))
  )

layer(TestDatabase.layerPostgres, { timeout: "120 seconds" })("live mode", (it) => {
  it.effect("is open to an organization while its credential is stored", () =>
    Effect.gen(function* () {
      const credentials = yield* GatewayCredentials
      const one = yield* organization
      const other = yield* organization
      assert.isFalse(yield* credentials.isLiveModeAvailable(one.organizationId))
      yield* credentials.put(one.accountId, one.organizationId, credential)
      assert.isTrue(yield* credentials.isLiveModeAvailable(one.organizationId))
      assert.isFalse(yield* credentials.isLiveModeAvailable(other.organizationId))
      yield* credentials.remove(one.accountId, one.organizationId)
      assert.isFalse(yield* credentials.isLiveModeAvailable(one.organizationId))
    }).pipe(Effect.provide(deployment(national)))
  )

  it.effect("is closed while the deployment has no national system, also with a stored credential", () =>
    Effect.gen(function* () {
      const { accountId, organizationId } = yield* organization
      yield* (yield* GatewayCredentials).put(accountId, organizationId, credential)
      assert.isFalse(yield* (yield* GatewayCredentials).isLiveModeAvailable(organizationId))
      const refused = yield* Effect.flip(submit(organizationId, "live"))
      assert.strictEqual(refused._tag, "GatewayNotConfigured")
    }).pipe(Effect.provide(deployment(undefined)))
  )

  it.effect("makes the lane of the taxpayer due, and keeps its invoices and keys apart from test mode", () =>
    Effect.gen(function* () {
      const invoices = yield* Invoices
      const sql = yield* SqlClient.SqlClient
      const { accountId, organizationId } = yield* organization
      yield* (yield* GatewayCredentials).put(accountId, organizationId, credential)
      const live = yield* submit(organizationId, "live")
      const test = yield* submit(organizationId, "test")
      assert.isFalse(test.replayed, "the same key belongs to the other mode as well")
      assert.notStrictEqual(test.invoiceId, live.invoiceId)

      const shown = yield* invoices.find({ organizationId, mode: "live" }, live.invoiceId)
      assert.deepInclude(shown, { mode: "live", scenario: null, status: "queued" })
      for (const [mode, id] of [
        ["test", live.invoiceId],
        ["live", test.invoiceId]
      ] as const) {
        const hidden = yield* Effect.flip(invoices.find({ organizationId, mode }, id))
        assert.strictEqual(hidden._tag, "InvoiceNotFound")
        const receipt = yield* Effect.flip(invoices.receipt({ organizationId, mode }, id))
        assert.strictEqual(receipt._tag, "InvoiceNotFound")
      }
      const lanes = yield* sql<{ readonly context: string }>`
        SELECT context FROM national_lanes WHERE due_at IS NOT NULL AND NOT is_leased
      `
      assert.deepStrictEqual(lanes, [{ context: credential.context.value }])
    }).pipe(Effect.provide(deployment(national)))
  )
})
