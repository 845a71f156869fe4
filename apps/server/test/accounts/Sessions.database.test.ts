import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import * as Accounts from "../../src/accounts/Accounts.ts"
import * as Email from "../../src/accounts/Email.ts"
import * as Sessions from "../../src/accounts/Sessions.ts"
import * as OpaqueToken from "../../src/crypto/OpaqueToken.ts"
import { database } from "../support/TestDatabase.ts"

const tokens = (count: number) => Array.from({ length: count }, () => OpaqueToken.hash(OpaqueToken.refreshToken()))

const open = Effect.fnUntraced(function* (token: Uint8Array) {
  const account = yield* (yield* Accounts.Accounts).create(Email.normalize(`${randomUUID()}@example.com`), "hash")
  const session = yield* (yield* Sessions.Sessions).open({ id: account.id, passwordHash: "hash" }, token, "192.0.2.1")
  return session!
})

layer(Layer.provide(Layer.mergeAll(Accounts.layer, Sessions.layer), database.layer), { timeout: "120 seconds" })(
  `Sessions (${database.name})`,
  (it) => {
    it.effect("rotateWithGrace: a spent token has the same result for 30 seconds", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions.Sessions
        const [first, second] = tokens(2) as [Uint8Array, Uint8Array]
        const session = yield* open(first)
        assert.deepStrictEqual(yield* sessions.rotateWithGrace(first, second, session.sessionId), session)
        yield* TestClock.adjust("29 seconds")
        assert.deepStrictEqual(yield* sessions.rotateWithGrace(first, second, session.sessionId), session)
        assert.isTrue(yield* sessions.isActive(session))
      })
    )

    it.effect("rotateWithGrace: a token with the identifier of another session ends its own", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions.Sessions
        const [first, second, other] = tokens(3) as [Uint8Array, Uint8Array, Uint8Array]
        const session = yield* open(first)
        const { sessionId } = yield* open(other)
        const { revoked } = yield* Effect.flip(sessions.rotateWithGrace(first, second, sessionId))
        assert.deepStrictEqual(revoked, session)
        assert.isFalse(yield* sessions.isActive(session))
      })
    )

    it.effect("rotateWithGrace: concurrent uses of a token have the same result", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions.Sessions
        const [first, second] = tokens(2) as [Uint8Array, Uint8Array]
        const session = yield* open(first)
        const results = yield* Effect.all(
          Array.from({ length: 8 }, () => sessions.rotateWithGrace(first, second, session.sessionId)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          results,
          Array.from({ length: 8 }, () => session)
        )
      })
    )

    it.effect("rotateWithGrace: a token that is used after 31 seconds ends the session", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions.Sessions
        const [first, second, third] = tokens(3) as [Uint8Array, Uint8Array, Uint8Array]
        const session = yield* open(first)
        yield* sessions.rotateWithGrace(first, second, session.sessionId)
        yield* TestClock.adjust("31 seconds")
        const { revoked } = yield* Effect.flip(sessions.rotateWithGrace(first, second, session.sessionId))
        assert.deepStrictEqual(revoked, session)
        assert.isFalse(yield* sessions.isActive(session))
        yield* Effect.flip(sessions.rotateWithGrace(second, third, session.sessionId))
      })
    )

    it.effect("rotateWithGrace: a token whose successor is spent ends the session", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions.Sessions
        const [first, second, third] = tokens(3) as [Uint8Array, Uint8Array, Uint8Array]
        const session = yield* open(first)
        yield* sessions.rotateWithGrace(first, second, session.sessionId)
        yield* sessions.rotateWithGrace(second, third, session.sessionId)
        yield* Effect.flip(sessions.rotateWithGrace(first, second, session.sessionId))
        assert.isFalse(yield* sessions.isActive(session))
      })
    )

    it.effect("rotateWithGrace: an ended session has no grace", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions.Sessions
        const [first, second] = tokens(2) as [Uint8Array, Uint8Array]
        const session = yield* open(first)
        yield* sessions.rotateWithGrace(first, second, session.sessionId)
        yield* sessions.revoke(second)
        yield* Effect.flip(sessions.rotateWithGrace(first, second, session.sessionId))
      })
    )

    it.effect("rotateWithGrace: the successor of another session is no result", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions.Sessions
        const [first, second, foreign] = tokens(3) as [Uint8Array, Uint8Array, Uint8Array]
        const session = yield* open(first)
        yield* open(foreign)
        yield* sessions.rotateWithGrace(first, second, session.sessionId)
        yield* Effect.flip(sessions.rotateWithGrace(first, foreign, session.sessionId))
      })
    )

    it.effect("rotate: a spent token has no grace", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions.Sessions
        const [first, second] = tokens(2) as [Uint8Array, Uint8Array]
        const session = yield* open(first)
        yield* sessions.rotate(first, second)
        const { revoked } = yield* Effect.flip(sessions.rotate(first, second))
        assert.deepStrictEqual(revoked, session)
      })
    )
  }
)
