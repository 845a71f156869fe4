/** Live mode with a gateway installed, which no deployment has yet: what an adapter for a national system will meet. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Ids, Mode } from "@govoice/core"
import { randomUUID } from "node:crypto"
import { InvoiceGateways, type InvoiceGateway } from "../../../src/invoices/gateway/InvoiceGateway.ts"
import * as LiveMode from "../../../src/invoices/gateway/LiveMode.ts"
import * as SandboxGateway from "../../../src/invoices/gateway/sandbox/SandboxGateway.ts"
import * as KeyRing from "../../../src/crypto/KeyRing.ts"
import { Accounts } from "../../../src/accounts/Accounts.ts"
import { Invoices } from "../../../src/invoices/Invoices.ts"
import { SubmitInvoice } from "../../../src/invoices/SubmitInvoice.ts"
import * as Email from "../../../src/accounts/Email.ts"
import { type CheckedCredential, GatewayCredentials } from "../../../src/accounts/GatewayCredentials.ts"
import { Organizations } from "../../../src/accounts/Organizations.ts"
import * as Store from "../../../src/runtime/Stores.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as TestSettings from "../../support/TestSettings.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const waitMs = 4_000_000

const national: InvoiceGateway = {
  submitAfterMs: () => waitMs,
  submit: () => Effect.die("No worker runs in this suite"),
  poll: () => Effect.die("No worker runs in this suite"),
  receipt: () => Effect.die("No worker runs in this suite")
}

const deployment = (options: { readonly liveMode: boolean; readonly live: InvoiceGateway | undefined }) =>
  Layer.merge(Store.layer, LiveMode.layer.pipe(Layer.provide(Store.layer))).pipe(
    Layer.provide([
      Layer.succeed(InvoiceGateways)({ test: SandboxGateway.make(1000), live: options.live }),
      Layer.succeed(KeyRing.KeyRing)(fixtures.keyRing),
      TestSettings.layer({ liveMode: options.liveMode })
    ])
  )

const organization = Effect.gen(function* () {
  const account = yield* (yield* Accounts).create(Email.normalize(`${randomUUID()}@example.com`), "hash")
  const { id } = yield* (yield* Organizations).create(account.id, "Company")
  return { accountId: account.id, organizationId: id }
})

const credential: CheckedCredential = {
  credential: { type: "ksef_token", token: Redacted.make("a token of the national system") },
  contextNip: "5265877635",
  expiresAt: undefined
}

const submit = (organizationId: Ids.OrganizationId, mode: Mode.Mode) =>
  Effect.flatMap(SubmitInvoice, (submitInvoice) =>
    submitInvoice.submit(fixtures.submission({ organizationId, mode, idempotencyKey: "one" }))
  )

layer(TestDatabase.layerPostgres, { timeout: "60 seconds" })("live mode", (it) => {
  it.effect("is open to an organization while its credential is stored", () =>
    Effect.gen(function* () {
      const liveMode = yield* LiveMode.LiveMode
      const credentials = yield* GatewayCredentials
      const one = yield* organization
      const other = yield* organization
      assert.isFalse(yield* liveMode.isAvailableTo(one.organizationId))
      yield* credentials.put(one.accountId, one.organizationId, credential)
      assert.isTrue(yield* liveMode.isAvailableTo(one.organizationId))
      assert.isFalse(yield* liveMode.isAvailableTo(other.organizationId))
      yield* credentials.remove(one.accountId, one.organizationId)
      assert.isFalse(yield* liveMode.isAvailableTo(one.organizationId))
    }).pipe(Effect.provide(deployment({ liveMode: true, live: national })))
  )

  for (const [name, options] of [
    ["the deployment has it off", { liveMode: false, live: national }],
    ["no gateway is installed", { liveMode: true, live: undefined }]
  ] as const) {
    it.effect(`is closed while ${name}, also with a stored credential`, () =>
      Effect.gen(function* () {
        const { accountId, organizationId } = yield* organization
        yield* (yield* GatewayCredentials).put(accountId, organizationId, credential)
        assert.isFalse(yield* (yield* LiveMode.LiveMode).isAvailableTo(organizationId))
      }).pipe(Effect.provide(deployment(options)))
    )
  }

  it.effect("calls the live gateway and never the sandbox, and separates invoices and keys by mode", () =>
    Effect.gen(function* () {
      const invoices = yield* Invoices
      const sql = yield* SqlClient.SqlClient
      const { organizationId } = yield* organization
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
      const [row] = yield* sql<{ readonly wait: number }>`
          SELECT (extract(epoch FROM due_at - created_at) * 1000)::float8 AS wait FROM invoices WHERE id = ${live.invoiceId}
        `
      assert.strictEqual(row?.wait, waitMs, "the gateway of its mode was asked when to begin")
    }).pipe(Effect.provide(deployment({ liveMode: true, live: national })))
  )
})
