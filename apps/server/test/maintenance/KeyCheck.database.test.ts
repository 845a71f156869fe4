import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import * as KeyRing from "../../src/crypto/KeyRing.ts"
import * as KeyCheck from "../../src/maintenance/KeyCheck.ts"
import { sealedColumns } from "../../src/maintenance/SealedColumns.ts"
import type { EncryptionKey } from "../../src/settings/Parsers.ts"
import * as Explained from "../support/Explained.ts"
import { database, layerPostgres } from "../support/TestDatabase.ts"

const key = (id: string): EncryptionKey => ({ id, bytes: new Uint8Array(randomBytes(32)) })

const [k1, k2, k3] = [key("k1"), key("key-two"), key("k3")]
const organization = `org_${"0".repeat(26)}`
const endpointId = (index: number) => `we_${String(index).padStart(26, "0")}`

const insertOwner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = new Date()
  const account = `acct_${"0".repeat(26)}`
  yield* sql`INSERT INTO accounts (id, created_at, email, password_hash) VALUES (${account}, ${now}, 'a@example.com', 'x')`
  yield* sql`
    INSERT INTO organizations (id, account_id, name, created_at) VALUES (${organization}, ${account}, 'Example', ${now})
  `
})

const insertEndpoint = Effect.fnUntraced(function* (index: number, sealWith: EncryptionKey) {
  const sql = yield* SqlClient.SqlClient
  const now = new Date()
  const id = endpointId(index)
  const sealed = KeyRing.make([sealWith]).seal("whsec_secret", { column: "webhook_endpoints.secret", row: id })
  yield* sql`
    INSERT INTO webhook_endpoints (id, organization_id, created_at, updated_at, enabled, pace, url, event_types, secret)
    VALUES (${id}, ${organization}, ${now}, ${now}, true, 'steady', 'https://example.com', ARRAY['*'], ${sealed})
  `
})

const storeCredential = Effect.fnUntraced(function* (sealWith: EncryptionKey) {
  const sql = yield* SqlClient.SqlClient
  const sealed = KeyRing.make([sealWith]).seal("token", { column: "organizations.credential", row: organization })
  yield* sql`
    UPDATE organizations
    SET credential = ${sealed}, credential_kind = 'ksef_token', credential_context = '1111111111',
        credential_state = 'unchecked', credential_updated_at = ${new Date()}
  `
})

const check = (...keys: ReadonlyArray<EncryptionKey>) =>
  Effect.map(Effect.provide(KeyCheck.check, KeyRing.layer(keys)), (report) => ({
    inUse: [...report.inUse].sort(),
    problems: report.problems.map(({ keyId, reason }) => `${keyId} ${reason}`).sort()
  }))

layer(database.layer, { timeout: "120 seconds" })(`KeyCheck (${database.name})`, (it) => {
  it.effect("finds every key in use, the missing ones, and wrong ones of the same id", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* check(k1), { inUse: [], problems: [] })
      yield* insertOwner
      for (let index = 0; index < 5; index++) yield* insertEndpoint(index, k1)
      yield* insertEndpoint(5, k2)
      yield* insertEndpoint(6, k1)
      yield* storeCredential(k3)
      const inUse = ["k1", "k3", "key-two"]
      assert.deepStrictEqual(yield* check(k1, k2, k3), { inUse, problems: [] })
      assert.deepStrictEqual(yield* check(k1, k2), { inUse, problems: ["k3 missing"] })
      assert.deepStrictEqual(yield* check(k3), { inUse, problems: ["k1 missing", "key-two missing"] })
      assert.deepStrictEqual(yield* check(key("k1"), k2, key("k3")), { inUse, problems: ["k1 wrong", "k3 wrong"] })
    })
  )

  it.effect("finds values that were encrypted later with a wrong key of the right id", () =>
    Effect.gen(function* () {
      yield* insertEndpoint(7, key("k1"))
      assert.deepStrictEqual((yield* check(k1, k2, k3)).problems, ["k1 wrong"])
    })
  )

  it.effect("fails the start of a process with a missing key", () =>
    Effect.gen(function* () {
      const start = (keys: ReadonlyArray<EncryptionKey>) =>
        Effect.exit(Effect.scoped(Layer.build(Layer.provide(KeyCheck.layer, KeyRing.layer(keys)))))
      const exit = yield* start([k2, k3])
      assert.isTrue(Exit.isFailure(exit))
      assert.include(String(exit), 'GOVOICE_ENCRYPTION_KEYS lacks the key "k1"')
    })
  )
})

layer(layerPostgres, { timeout: "120 seconds" })("KeyCheck among 50,000 endpoints", (it) => {
  it.effect("reads the index, key by key", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* insertOwner
      yield* insertEndpoint(0, k1)
      yield* insertEndpoint(1, k2)
      yield* sql`
        INSERT INTO webhook_endpoints (id, organization_id, created_at, updated_at, enabled, pace, url, event_types, secret)
        SELECT 'we_' || lpad(n::text, 26, '0'), organization_id, created_at, updated_at, enabled, pace, url, event_types, secret
        FROM webhook_endpoints CROSS JOIN generate_series(2, 50000) AS n WHERE id = ${endpointId(0)}
      `
      yield* sql`ANALYZE webhook_endpoints`
      const { explained } = yield* Explained.explain(Effect.provide(KeyCheck.check, KeyRing.layer([k1, k2])))
      assert.lengthOf(explained, sealedColumns.length)
      for (const plan of explained) assert.isBelow(plan.blocks, 60, plan.text)
    })
  )
})
