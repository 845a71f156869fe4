import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"
import * as AccessTokens from "../../src/accounts/AccessTokens.ts"

const secret = "a secret of the tests, long enough to sign with"
const session = { accountId: "acct_01m7q5cqg0e6786ptds43fm4k3", sessionId: "a session" } as const

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")
const partsOf = (token: string): ReadonlyArray<Record<string, unknown>> =>
  token
    .split(".")
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>)

/** Signs with the right secret, so that only the claims and the header can be wrong. */
const signed = (header: object, payload: object, algorithm = "sha256"): string => {
  const text = `${encode(header)}.${encode(payload)}`
  return `${text}.${createHmac(algorithm, secret).update(text).digest("base64url")}`
}

const run = <A>(use: (tokens: AccessTokens.AccessTokens["Service"]) => Effect.Effect<A>) =>
  Effect.flatMap(AccessTokens.AccessTokens, use).pipe(Effect.provide(AccessTokens.layer(secret)))

describe("AccessTokens", () => {
  it.effect("verifies an issued token for 15 minutes", () =>
    run((tokens) =>
      Effect.gen(function* () {
        const token = yield* tokens.issue(session)
        assert.deepStrictEqual(yield* tokens.verify(token), session)
        yield* TestClock.adjust("899 seconds")
        assert.deepStrictEqual(yield* tokens.verify(token), session)
        yield* TestClock.adjust("1 second")
        assert.isUndefined(yield* tokens.verify(token))
      })
    )
  )

  it.effect("issues tokens with a unique identifier, a subject, an issuer and an audience", () =>
    run((tokens) =>
      Effect.gen(function* () {
        const [one, other] = [yield* tokens.issue(session), yield* tokens.issue(session)].map(
          (token) => partsOf(token)[1]
        )
        assert.notStrictEqual(one?.["jti"], other?.["jti"])
        assert.deepInclude(one, { sub: session.accountId, iss: "govoice", aud: "govoice/control-plane" })
      })
    )
  )

  it.effect("rejects tokens that are signed with the right secret and have other claims or another header", () =>
    run((tokens) =>
      Effect.gen(function* () {
        const [header = {}, payload = {}] = partsOf(yield* tokens.issue(session))
        const without = (name: string) => Object.fromEntries(Object.entries(payload).filter(([key]) => key !== name))
        assert.deepStrictEqual(yield* tokens.verify(signed(header, payload)), session, "the forger can sign")

        const wrong: Readonly<Record<string, string>> = {
          "another issuer": signed(header, { ...payload, iss: "somebody" }),
          "another audience": signed(header, { ...payload, aud: "another service" }),
          "another kind of subject": signed(header, { ...payload, sub: "org_01m7q5cqg0e6786ptds43fm4k3" }),
          "a subject that is no text": signed(header, { ...payload, sub: 1 }),
          "not yet valid": signed(header, { ...payload, nbf: Number(payload["iat"]) + 60 }),
          "another algorithm": signed({ ...header, alg: "HS512" }, payload, "sha512"),
          "another algorithm that is not what it says": signed({ ...header, alg: "RS256" }, payload),
          "an extension that must be understood": signed({ ...header, crit: ["b64"], b64: false }, payload),
          "no algorithm": `${encode({ alg: "none" })}.${encode(payload)}.`
        }
        for (const [what, token] of Object.entries(wrong)) assert.isUndefined(yield* tokens.verify(token), what)
        for (const name of ["sub", "sid", "exp", "iat", "jti", "iss", "aud"]) {
          assert.isUndefined(yield* tokens.verify(signed(header, without(name))), `without ${name}`)
        }
      })
    )
  )
})
