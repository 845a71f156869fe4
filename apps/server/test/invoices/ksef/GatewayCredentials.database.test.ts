import { assert, layer } from "@effect/vitest"
import { Environment, KsefClient } from "@govoice/ksef/client"
import { Effect, Exit, Layer, Option, Redacted, Result } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { inspect } from "node:util"
import { startSimulator } from "../../../../../packages/ksef-simulator/src/index.ts"
import * as Accounts from "../../../src/accounts/Accounts.ts"
import * as Email from "../../../src/accounts/Email.ts"
import * as GatewayCredentials from "../../../src/invoices/ksef/GatewayCredentials.ts"
import * as Organizations from "../../../src/accounts/Organizations.ts"
import { logIn } from "../../../src/commands/ksef.ts"
import { NationalSystem } from "../../../src/invoices/ksef/NationalSystem.ts"
import * as KeyRing from "../../../src/crypto/KeyRing.ts"
import { keyRing } from "../../support/fixtures.ts"
import { database } from "../../support/TestDatabase.ts"
import * as TestSettings from "../../support/TestSettings.ts"

const nip = "5265877635"

const token = (text = "a token"): GatewayCredentials.CheckedCredential => ({
  credential: { type: "ksef_token", token: Redacted.make(text) },
  context: { type: "Nip", value: nip },
  expiresAt: undefined
})

const certificate: GatewayCredentials.CheckedCredential = {
  credential: { type: "certificate", certificate: "a certificate", privateKey: Redacted.make("a private key") },
  context: { type: "Nip", value: nip },
  expiresAt: new Date("2027-11-20T10:00:00.000Z")
}

const ksef = (environmentId: string | undefined) => ({ ...TestSettings.settings().ksef, environmentId })

// A server with a configured environment, on the database of the others.
const inEnvironment = (environmentId: string | undefined, ring = keyRing) =>
  Layer.merge(GatewayCredentials.layer, Organizations.layer).pipe(
    Layer.provide([Layer.succeed(KeyRing.KeyRing)(ring), TestSettings.layer({ ksef: ksef(environmentId) })])
  )

const setUp = Effect.gen(function* () {
  const accounts = yield* Accounts.Accounts
  const owner = yield* accounts.create(Email.normalize(`${randomUUID()}@example.com`), "hash")
  const other = yield* accounts.create(Email.normalize(`${randomUUID()}@example.com`), "hash")
  const { id } = yield* Effect.flatMap(Organizations.Organizations, (organizations) =>
    organizations.create(owner.id, "Company")
  ).pipe(Effect.provide(inEnvironment("test")))
  return { owner: owner.id, other: other.id, id }
})

const tested = Accounts.layer.pipe(Layer.provideMerge(database.layer))

layer(tested, { timeout: "120 seconds" })(`GatewayCredentials (${database.name})`, (it) => {
  it.effect("describes a credential without its secrets, and opens it for a login", () =>
    Effect.gen(function* () {
      const credentials = yield* GatewayCredentials.GatewayCredentials
      const { id, owner } = yield* setUp
      assert.isFalse((yield* credentials.describe(owner, id)).present)
      assert.isTrue(Option.isNone(yield* credentials.read(id)))

      yield* credentials.put(owner, id, certificate)
      assert.deepInclude(yield* credentials.describe(owner, id), {
        object: "gateway_credential",
        present: true,
        type: "certificate",
        context: { type: "Nip", value: nip },
        environment: "test",
        expires_at: "2027-11-20T10:00:00.000Z",
        state: "unchecked",
        checked_at: null,
        refusal: null
      })
      const stored = Option.getOrThrow(yield* credentials.read(id))
      assert.deepStrictEqual(stored.credential, certificate.credential)
      assert.deepInclude(stored, { context: { type: "Nip", value: nip }, environment: "test" })
      assert.notInclude(inspect(stored, { depth: null }), "a private key")

      yield* credentials.put(owner, id, token("another|nip-5265877635|token"))
      const { credential } = Option.getOrThrow(yield* credentials.read(id))
      assert.strictEqual(credential.type, "ksef_token")
      assert.strictEqual(
        credential.type === "ksef_token" ? Redacted.value(credential.token) : undefined,
        "another|nip-5265877635|token"
      )
      assert.deepInclude(yield* credentials.describe(owner, id), { type: "ksef_token", expires_at: null })

      yield* credentials.remove(owner, id)
      assert.isFalse((yield* credentials.describe(owner, id)).present)
      assert.isTrue(Option.isNone(yield* credentials.read(id)))
    }).pipe(Effect.provide(inEnvironment("test")))
  )

  it.effect("stores no secret as plain text in any column", () =>
    Effect.gen(function* () {
      const credentials = yield* GatewayCredentials.GatewayCredentials
      const sql = yield* SqlClient.SqlClient
      const { id, owner } = yield* setUp
      for (const credential of [token("a secret"), certificate]) {
        yield* credentials.put(owner, id, credential)
        const [row] = yield* sql`SELECT o::text AS row, credential FROM organizations AS o WHERE id = ${id}`
        const text = `${String(row?.["row"])}${Buffer.from(row?.["credential"] as Uint8Array).toString("latin1")}`
        assert.include(text, nip)
        for (const secret of ["a secret", "a private key"]) {
          assert.notInclude(text, secret)
          assert.notInclude(text, Buffer.from(secret).toString("hex"))
        }
      }
    }).pipe(Effect.provide(inEnvironment("test")))
  )

  it.effect("records a state for the credential that was tried, and for no later one", () =>
    Effect.gen(function* () {
      const credentials = yield* GatewayCredentials.GatewayCredentials
      const { id, owner } = yield* setUp
      yield* credentials.put(owner, id, token("first"))
      const first = Option.getOrThrow(yield* credentials.read(id)).updatedAt
      const refusal = { code: "credential_revoked", message: "The token was revoked." }
      assert.isTrue(yield* credentials.recordState(id, first, "refused", refusal))
      const refused = yield* credentials.describe(owner, id)
      assert.deepInclude(refused, { state: "refused", refusal })
      assert.isNotNull(refused.checked_at)

      assert.isTrue(yield* credentials.recordState(id, first, "accepted"))
      assert.deepInclude(yield* credentials.describe(owner, id), { state: "accepted", refusal: null })

      // At once: both would have the same time in milliseconds.
      yield* credentials.put(owner, id, token("second"))
      yield* credentials.put(owner, id, token("third"))
      const third = Option.getOrThrow(yield* credentials.read(id)).updatedAt
      assert.isAtLeast(third.getTime() - first.getTime(), 2)
      assert.isFalse(yield* credentials.recordState(id, first, "refused", refusal))
      assert.deepInclude(yield* credentials.describe(owner, id), {
        state: "unchecked",
        refusal: null,
        checked_at: null
      })

      yield* credentials.remove(owner, id)
      assert.isFalse(yield* credentials.recordState(id, third, "accepted"))
    }).pipe(Effect.provide(inEnvironment("test")))
  )

  it.effect("records that a credential is accepted with all that this makes due, or not at all", () =>
    Effect.gen(function* () {
      const { id, owner } = yield* setUp
      const credentials = yield* GatewayCredentials.GatewayCredentials
      yield* credentials.put(owner, id, token())
      const { updatedAt } = Option.getOrThrow(yield* credentials.read(id))
      for (let carriedOut = 0; ; carriedOut++) {
        let left = carriedOut
        const transformer: Statement.Transformer = (statement) =>
          left-- > 0 ? Effect.succeed(statement) : Effect.die(new Error("The connection is lost"))
        const recorded = yield* credentials
          .recordState(id, updatedAt, "accepted")
          .pipe(Effect.provideService(Statement.CurrentTransformer, transformer), Effect.exit)
        const { state } = yield* credentials.describe(owner, id)
        assert.strictEqual(state, Exit.isSuccess(recorded) ? "accepted" : "unchecked", `after ${carriedOut} statements`)
        if (Exit.isSuccess(recorded)) return
      }
    }).pipe(Effect.provide(inEnvironment("test")))
  )

  it.effect("treats a credential of another environment as absent", () =>
    Effect.gen(function* () {
      const { id, owner } = yield* setUp
      const seen = Effect.gen(function* () {
        const credentials = yield* GatewayCredentials.GatewayCredentials
        const organization = yield* (yield* Organizations.Organizations).find(owner, id)
        const { present } = yield* credentials.describe(owner, id)
        assert.strictEqual(organization.gateway_credential.present, present)
        assert.strictEqual(organization.gateway_credential.updated_at === null, !present)
        assert.strictEqual(Option.isSome(yield* credentials.read(id)), present)
        return present
      })
      const put = Effect.flatMap(GatewayCredentials.GatewayCredentials, ({ put }) => put(owner, id, token()))
      for (const environment of ["test", "prod", undefined]) {
        yield* put.pipe(Effect.provide(inEnvironment(environment)))
        for (const other of ["test", "prod", undefined]) {
          assert.strictEqual(yield* seen.pipe(Effect.provide(inEnvironment(other))), other === environment)
        }
      }
    })
  )

  it.effect("finds no credential of another account", () =>
    Effect.gen(function* () {
      const credentials = yield* GatewayCredentials.GatewayCredentials
      const { id, other, owner } = yield* setUp
      yield* credentials.put(owner, id, token())
      for (const [account, organization] of [
        [other, id],
        [owner, `org_${"0".repeat(26)}`],
        [owner, "nonsense"]
      ] as const) {
        for (const effect of [
          credentials.put(account, organization, token("stolen")),
          credentials.describe(account, organization),
          credentials.remove(account, organization)
        ]) {
          assert.strictEqual((yield* Effect.flip(Effect.asVoid(effect)))._tag, "OrganizationNotFound")
        }
      }
      assert.deepStrictEqual(Option.getOrThrow(yield* credentials.read(id)).credential, token().credential)
    }).pipe(Effect.provide(inEnvironment("test")))
  )

  it.effect("makes the lane due when a credential of an environment is stored or deleted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id, owner } = yield* setUp
      const lanes = sql`SELECT 1 FROM national_lanes WHERE context = ${nip} AND due_at <= now()`
      const rest = sql`DELETE FROM national_lanes`
      const { put, remove } = yield* GatewayCredentials.GatewayCredentials.pipe(Effect.provide(inEnvironment("test")))
      yield* rest
      yield* put(owner, id, token())
      assert.lengthOf(yield* lanes, 1)
      yield* rest
      yield* remove(owner, id)
      assert.lengthOf(yield* lanes, 1)
      yield* rest
      yield* remove(owner, id)
      assert.lengthOf(yield* lanes, 0)
      const without = yield* GatewayCredentials.GatewayCredentials.pipe(Effect.provide(inEnvironment(undefined)))
      yield* without.put(owner, id, token())
      assert.lengthOf(yield* lanes, 0)
    })
  )

  it.effect("deletes the login together with the credential, and revokes it at KSeF", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id, owner } = yield* setUp
      const simulator = yield* Effect.acquireRelease(
        Effect.promise(() => startSimulator({ processingMs: 0 })),
        (running) => Effect.promise(() => running.close())
      )
      const environment = Result.getOrThrow(Environment.at(simulator.url))
      const client = yield* KsefClient.make({ environment, userAgent: "Govoice/test" })
      const login = {
        credential: token(simulator.token).credential,
        context: { type: "Nip", value: simulator.nip }
      } as const
      const { accessToken, refreshToken } = yield* TestClock.withLive(logIn(client, login))
      const seal = (value: Redacted.Redacted, column: "access_token" | "refresh_token") =>
        keyRing.seal(Redacted.value(value), { column: `national_logins.${column}`, row: id })
      yield* sql`
          INSERT INTO national_logins
            (id, credential_updated_at, access_valid_until, refresh_valid_until, access_token, refresh_token)
          VALUES (${id}, now(), now(), now(), ${seal(accessToken.token, "access_token")}, ${seal(refreshToken.token, "refresh_token")})
        `
      const national = { environment, environmentId: simulator.url, client }
      const { put, remove } = yield* GatewayCredentials.GatewayCredentials.pipe(
        Effect.provide(inEnvironment(simulator.url).pipe(Layer.provide(Layer.succeed(NationalSystem)(national))))
      )
      yield* put(owner, id, token(simulator.token))
      assert.isDefined(yield* client.refresh(refreshToken.token))
      yield* TestClock.withLive(remove(owner, id))
      assert.lengthOf(yield* sql`SELECT 1 FROM national_logins`, 0)
      assert.strictEqual((yield* Effect.flip(client.refresh(refreshToken.token)))._tag, "KsefError")
    })
  )

  it.effect("deletes a credential while KSeF cannot be reached", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id, owner } = yield* setUp
      const environment = Result.getOrThrow(Environment.at("http://127.0.0.1:9/v2"))
      const client = yield* KsefClient.make({ environment, userAgent: "Govoice/test" })
      const sealed = keyRing.seal("a token", { column: "national_logins.refresh_token", row: id })
      yield* sql`
          INSERT INTO national_logins
            (id, credential_updated_at, access_valid_until, refresh_valid_until, access_token, refresh_token)
          VALUES (${id}, now(), now(), now(), ${sealed}, ${sealed})
        `
      const national = { environment, environmentId: "test", client }
      const { describe, put, remove } = yield* GatewayCredentials.GatewayCredentials.pipe(
        Effect.provide(inEnvironment("test").pipe(Layer.provide(Layer.succeed(NationalSystem)(national))))
      )
      yield* put(owner, id, token())
      yield* TestClock.withLive(remove(owner, id))
      assert.isFalse((yield* describe(owner, id)).present)
    })
  )

  it.effect("fails with the id of the key if the key ring lacks it", () =>
    Effect.gen(function* () {
      const { id, owner } = yield* setUp
      yield* Effect.flatMap(GatewayCredentials.GatewayCredentials, ({ put }) => put(owner, id, token())).pipe(
        Effect.provide(inEnvironment("test"))
      )
      const lost = KeyRing.make([{ id: "k2", bytes: new Uint8Array(32) }])
      const error = yield* Effect.flatMap(GatewayCredentials.GatewayCredentials, ({ read }) =>
        Effect.flip(read(id))
      ).pipe(Effect.provide(inEnvironment("test", lost)))
      assert.deepInclude(error, { keyId: "k1", reason: "missing" })
    })
  )
})
