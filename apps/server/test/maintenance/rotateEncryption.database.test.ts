import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { rotateEncryption } from "../../src/maintenance/rotateEncryption.ts"
import * as KeyRing from "../../src/crypto/KeyRing.ts"
import type { EncryptionKey } from "../../src/settings/Parsers.ts"
import { database } from "../support/TestDatabase.ts"

const key = (id: string): EncryptionKey => ({ id, bytes: new Uint8Array(randomBytes(32)) })

const [older, newer] = [key("k1"), key("k2")]

const before = KeyRing.make([older])
const during = KeyRing.make([newer, older])
const after = KeyRing.make([newer])

// Enough endpoints for more than one batch.
const endpoints = Array.from({ length: 501 }, (_, index) => `we_${String(index).padStart(26, "0")}`)
const organization = `org_${"0".repeat(26)}`

const insertAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = new Date()
  const account = `acct_${"0".repeat(26)}`
  yield* sql`INSERT INTO accounts (id, created_at, email, password_hash) VALUES (${account}, ${now}, 'a@example.com', 'x')`
  const credential = before.seal("credential", { column: "organizations.credential", row: organization })
  yield* sql`
    INSERT INTO organizations
      (id, account_id, name, created_at, credential, credential_kind, credential_context, credential_state, credential_updated_at)
    VALUES (${organization}, ${account}, 'Example', ${now}, ${credential}, 'ksef_token', '1111111111', 'unchecked', ${now})
  `
  const ofCertificate = { column: "offline_certificates.private_key", row: organization } as const
  yield* sql`
    INSERT INTO offline_certificates (id, updated_at, valid_from, valid_until, serial_number, subject, private_key)
    VALUES (${organization}, ${now}, ${now}, ${now}, '01', 'CN=Example', ${before.seal("private key", ofCertificate)})
  `
  for (const id of endpoints) {
    const place = { column: "webhook_endpoints.secret", row: id } as const
    // A few are encrypted with the new key already, as new ones are.
    const ring = id.endsWith("7") ? during : before
    yield* sql`
      INSERT INTO webhook_endpoints
        (id, organization_id, created_at, updated_at, enabled, pace, url, event_types, secret, next_secret, next_secret_at,
         header_names, headers)
      VALUES (
        ${id}, ${organization}, ${now}, ${now}, true, 'steady', 'https://example.com', ARRAY['*'],
        ${ring.seal(`secret of ${id}`, place)}, ${before.seal(`next of ${id}`, place)}, ${now},
        ARRAY['x-a'], ${before.seal(`headers of ${id}`, { column: "webhook_endpoints.headers", row: id })}
      )
    `
  }
})

const readAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    readonly id: string
    readonly secret: Uint8Array
    readonly next_secret: Uint8Array
    readonly headers: Uint8Array
  }>`
    SELECT id, secret, next_secret, headers FROM webhook_endpoints ORDER BY id
  `
  const [row] = yield* sql<{ readonly credential: Uint8Array; readonly private_key: Uint8Array }>`
    SELECT credential, private_key FROM organizations JOIN offline_certificates USING (id)
  `
  return { rows, credential: row!.credential, privateKey: row!.private_key }
})

const rotate = Effect.provide(rotateEncryption, KeyRing.layer([newer, older]))

layer(database.layer, { timeout: "120 seconds" })(`rotateEncryption (${database.name})`, (it) => {
  it.effect("re-encrypts all values with the new key, and finds none in a second run", () =>
    Effect.gen(function* () {
      yield* insertAll
      const alreadyNew = endpoints.filter((id) => id.endsWith("7")).length
      assert.strictEqual(yield* rotate, endpoints.length * 3 - alreadyNew + 2)

      const { credential, privateKey, rows } = yield* readAll
      assert.strictEqual(
        after.open(privateKey, { column: "offline_certificates.private_key", row: organization }),
        "private key"
      )
      assert.strictEqual(
        after.open(credential, { column: "organizations.credential", row: organization }),
        "credential"
      )
      for (const { headers, id, next_secret, secret } of rows) {
        const place = { column: "webhook_endpoints.secret", row: id } as const
        assert.strictEqual(after.open(secret, place), `secret of ${id}`)
        assert.strictEqual(after.open(next_secret, place), `next of ${id}`)
        const ofHeaders = { column: "webhook_endpoints.headers", row: id } as const
        assert.strictEqual(after.open(headers, ofHeaders), `headers of ${id}`)
      }
      assert.strictEqual(yield* rotate, 0)
    })
  )

  it.effect("stops at a value whose key is missing, and names the key", () =>
    Effect.gen(function* () {
      const lost = Effect.provide(rotateEncryption, KeyRing.layer([key("k3")]))
      const exit = yield* Effect.exit(lost)
      assert.strictEqual(exit._tag, "Failure")
      assert.include(String(exit), 'lacks the key "k2"')
      assert.strictEqual(yield* rotate, 0)
    })
  )
})
