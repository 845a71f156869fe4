import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { makePair, type Options } from "../../../../../packages/ksef/test/support/certificates.ts"
import * as Accounts from "../../../src/accounts/Accounts.ts"
import * as Email from "../../../src/accounts/Email.ts"
import * as Organizations from "../../../src/accounts/Organizations.ts"
import * as KeyRing from "../../../src/crypto/KeyRing.ts"
import * as GatewayCredentials from "../../../src/invoices/ksef/GatewayCredentials.ts"
import * as OfflineCertificates from "../../../src/invoices/ksef/OfflineCertificates.ts"
import { keyRing } from "../../support/fixtures.ts"
import { liveDatabase as database } from "../../support/TestDatabase.ts"
import * as TestSettings from "../../support/TestSettings.ts"

const day = 86_400_000

const checked = (options: Options = {}, members: { readonly private_key?: string } = {}) =>
  Effect.suspend(() => {
    const { certificate, privateKey } = makePair({ key: "P-256", keyUsage: ["nonRepudiation"], ...options })
    const request = { certificate, private_key: privateKey, ...members }
    return OfflineCertificates.check(request, { account: "acct_1", network: "" }, Date.now())
  })

const inEnvironment = (environmentId: string | undefined, ring = keyRing) =>
  Layer.fresh(Layer.mergeAll(OfflineCertificates.layer, GatewayCredentials.layer, Organizations.layer)).pipe(
    Layer.provide([
      Layer.succeed(KeyRing.KeyRing)(ring),
      TestSettings.layer({ ksef: { ...TestSettings.settings().ksef, environmentId } })
    ])
  )

const setUp = Effect.gen(function* () {
  const accounts = yield* Accounts.Accounts
  const owner = yield* accounts.create(Email.normalize(`${randomUUID()}@example.com`), "hash")
  const other = yield* accounts.create(Email.normalize(`${randomUUID()}@example.com`), "hash")
  const organizations = yield* Organizations.Organizations
  const { id } = yield* organizations.create(owner.id, "Company")
  return { owner: owner.id, other: other.id, id, certificates: yield* OfflineCertificates.OfflineCertificates }
}).pipe(Effect.orDie)

const putCredential = Effect.fnUntraced(function* (
  owner: Parameters<typeof Organizations.Organizations.Service.create>[0],
  id: string
) {
  yield* (yield* GatewayCredentials.GatewayCredentials).put(owner, id, {
    credential: { type: "ksef_token", token: Redacted.make("a token") },
    context: { type: "Nip", value: "5265877635" },
    expiresAt: undefined
  })
})

layer(Accounts.layer.pipe(Layer.provideMerge(database.layer)), { timeout: "120 seconds", excludeTestServices: true })(
  `OfflineCertificates (${database.name})`,
  (it) => {
    it.effect("describes a certificate without its key, replaces and removes it", () =>
      Effect.gen(function* () {
        const { certificates, id, owner } = yield* setUp
        assert.deepInclude(yield* certificates.describe(owner, id), { present: false, state: null })

        const from = Math.floor(Date.now() / 1000) * 1000 - day
        yield* certificates.put(owner, id, yield* checked({ serial: "01f20a5d352ae590", from, until: from + 30 * day }))
        const described = yield* certificates.describe(owner, id)
        assert.deepInclude(described, {
          object: "offline_certificate",
          present: true,
          environment: "test",
          serial_number: "01F20A5D352AE590",
          valid_from: new Date(from).toISOString(),
          valid_until: new Date(from + 30 * day).toISOString(),
          state: "valid"
        })
        assert.match(described.subject ?? "", /^CN=Example,.*O=Example,C=PL$/)

        yield* certificates.put(owner, id, yield* checked({ key: "rsa", serial: "02" }))
        assert.strictEqual((yield* certificates.describe(owner, id)).serial_number, "02")

        for (let time = 0; time < 2; time++) yield* certificates.remove(owner, id)
        assert.isFalse((yield* certificates.describe(owner, id)).present)
      }).pipe(Effect.provide(inEnvironment("test")))
    )

    it.effect("signs with a certificate that is valid, for the taxpayer of the credential", () =>
      Effect.gen(function* () {
        const { certificates, id, owner } = yield* setUp
        const pair = yield* checked({ serial: "0a" })
        yield* certificates.put(owner, id, pair)
        assert.isUndefined(yield* certificates.signer(id), "no taxpayer is known")
        yield* putCredential(owner, id)
        const signer = yield* certificates.signer(id)
        assert.deepInclude(signer, { context: { type: "Nip", value: "5265877635" }, serialNumber: "0A" })
        assert.isTrue(signer!.key.equals(pair.key()))

        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE offline_certificates SET valid_until = now() - interval '1 second' WHERE id = ${id}`
        assert.isUndefined(yield* certificates.signer(id))
        assert.strictEqual((yield* certificates.describe(owner, id)).state, "expired")
      }).pipe(Effect.provide(inEnvironment("test")))
    )

    it.effect("does not exist in another environment, nor for another account", () =>
      Effect.gen(function* () {
        const { certificates, id, other, owner } = yield* setUp
        yield* certificates.put(owner, id, yield* checked())
        yield* putCredential(owner, id)
        const elsewhere = yield* Effect.gen(function* () {
          const there = yield* OfflineCertificates.OfflineCertificates
          return [(yield* there.describe(owner, id)).present, yield* there.signer(id)]
        }).pipe(Effect.provide(inEnvironment("prod")))
        assert.deepStrictEqual(elsewhere, [false, undefined])

        for (const attempt of [
          certificates.put(other, id, yield* checked()),
          certificates.describe(other, id),
          certificates.remove(other, id),
          certificates.describe(owner, "org_nothing")
        ]) {
          const result = yield* Effect.result(attempt as Effect.Effect<unknown, unknown>)
          assert.strictEqual(
            Result.isFailure(result) && (result.failure as { readonly _tag: string })._tag,
            "OrganizationNotFound"
          )
        }
        assert.isTrue((yield* certificates.describe(owner, id)).present)
      }).pipe(Effect.provide(inEnvironment("test")))
    )

    it.effect("stores no key as plain text, and names the key of the deployment that is missing", () =>
      Effect.gen(function* () {
        const { certificates, id, owner } = yield* setUp
        yield* putCredential(owner, id)
        const pair = yield* checked()
        yield* certificates.put(owner, id, pair)
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql`SELECT c::text AS row, private_key FROM offline_certificates AS c WHERE id = ${id}`
        const pem = pair.key().export({ type: "pkcs8", format: "pem" }).toString()
        const stored = Buffer.from(row?.["private_key"] as Uint8Array).toString("latin1")
        assert.notInclude(stored, pem.slice(40, 80))
        assert.notInclude(String(row?.["row"]), Buffer.from(pem.slice(40, 80)).toString("hex"))

        const lost = KeyRing.make([{ id: "lost", bytes: new Uint8Array(32) }])
        const result = yield* Effect.flatMap(OfflineCertificates.OfflineCertificates, ({ signer }) => signer(id)).pipe(
          Effect.result,
          Effect.provide(inEnvironment("test", lost))
        )
        assert.strictEqual(Result.isFailure(result) && result.failure._tag, "KeyUnavailable")
      }).pipe(Effect.provide(inEnvironment("test")))
    )

    it.effect("counts those that expire within 30 days", () =>
      Effect.gen(function* () {
        const { certificates, id, owner } = yield* setUp
        const environment = "http://127.0.0.1:1/v2"
        const counted = OfflineCertificates.count(environment)
        yield* certificates.put(owner, id, yield* checked({ until: Date.now() + 40 * day }))
        assert.deepStrictEqual(yield* counted, { expiring: 0, expiring_example: null })
        yield* certificates.put(owner, id, yield* checked({ until: Date.now() + 20 * day }))
        assert.deepStrictEqual(yield* counted, { expiring: 1, expiring_example: id })
      }).pipe(Effect.provide(inEnvironment("http://127.0.0.1:1/v2")))
    )
  }
)
