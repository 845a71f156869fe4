import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import * as fc from "fast-check"
import * as Accounts from "../../src/accounts/Accounts.ts"
import * as Email from "../../src/accounts/Email.ts"
import * as Login from "../../src/accounts/Login.ts"
import * as LoginThrottle from "../../src/accounts/LoginThrottle.ts"
import { Passwords } from "../../src/accounts/Passwords.ts"
import * as Sessions from "../../src/accounts/Sessions.ts"
import * as SlidingWindows from "../../src/limits/SlidingWindows.ts"
import { database } from "../support/TestDatabase.ts"

const password = "correct horse battery"
const wrong = "wrong horse battery"

// What happens while a password is verified.
let meanwhile: Effect.Effect<unknown> = Effect.void

// The hash is the password, because this suite does not test hashing.
const passwords = Layer.mock(Passwords)({
  hash: (given) => Effect.succeed(given),
  verify: (given, hash) =>
    Effect.as(
      Effect.suspend(() => meanwhile),
      given === hash
    )
})

const logIn = (email: string, given: string, network: string) =>
  Effect.flatMap(Login.Login, (login) => login.logIn({ email, password: given, network }))

const resultOf = (email: string, given: string, network: string) =>
  logIn(email, given, network).pipe(
    Effect.as("opened"),
    Effect.catch(({ _tag }) => Effect.succeed(_tag))
  )

const signUp = (email: string) =>
  Effect.flatMap(Accounts.Accounts, (accounts) => accounts.create(Email.normalize(email), password))

// Characters that a Unicode normalization removes, merges or changes.
const character = fc.constantFrom(
  "a",
  "A",
  "b",
  "B",
  ".",
  "+",
  " ",
  "\t",
  "\n",
  "\u00A0",
  "\u2003",
  "\uFEFF",
  "\u0130",
  "\u0131",
  "\u212A",
  "k",
  "\u1E9E",
  "\u00DF",
  "\u03A3",
  "\u03C2"
)
const localPart = fc.string({ unit: character, minLength: 1, maxLength: 6 })

const space = fc.string({ unit: fc.constantFrom(" ", "\t", "\u00A0"), maxLength: 2 })

// Changes the letter case and puts white space around a text.
const spelling = fc
  .record({ before: space, after: space, upper: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }) })
  .map(({ after, before, upper }) => (email: string) => {
    const letters = Array.from(email, (letter, index) => (upper[index % 6] === true ? letter.toUpperCase() : letter))
    return `${before}${letters.join("")}${after}`
  })

const spelledLocalParts = fc
  .tuple(
    localPart,
    fc.oneof({ arbitrary: fc.constant(undefined), weight: 4 }, { arbitrary: localPart, weight: 1 }),
    spelling,
    spelling
  )
  .map(([one, other, ...spellings]) => ({ locals: [one, other ?? one] as const, spellings }))

const stores = Layer.mergeAll(Accounts.layer, Sessions.layer).pipe(Layer.provide(database.layer))
const tested = Login.layer.pipe(
  Layer.provide([LoginThrottle.layer, passwords]),
  Layer.provide([SlidingWindows.layerMemory, database.layer]),
  Layer.provideMerge(stores)
)

layer(tested, { timeout: "120 seconds" })(`Login (${database.name})`, (it) => {
  it.effect("opens a session with the right password, and none with a wrong one or for an unknown email", () =>
    Effect.gen(function* () {
      const account = yield* signUp("owner@example.com")
      const { session } = yield* logIn(" Owner@Example.com", password, "192.0.2.1")
      assert.strictEqual(session.accountId, account.id)
      assert.strictEqual(yield* resultOf("owner@example.com", wrong, "192.0.2.1"), "InvalidCredentials")
      assert.strictEqual(yield* resultOf("nobody@example.com", password, "192.0.2.1"), "InvalidCredentials")
    })
  )

  it.effect("opens no session with a password that is replaced while it is verified", () =>
    Effect.gen(function* () {
      const { id } = yield* signUp("stolen@example.com")
      const accounts = yield* Accounts.Accounts
      const sessions = yield* Sessions.Sessions
      meanwhile = Effect.andThen(accounts.replacePassword(id, password, "a better battery"), sessions.revokeAll(id))
      const result = yield* resultOf("stolen@example.com", password, "192.0.2.1")
      meanwhile = Effect.void
      assert.strictEqual(result, "InvalidCredentials")
      assert.deepStrictEqual(yield* sessions.revokeAll(id), [])
    })
  )

  it.effect("keeps a password whose sessions could not be ended", () =>
    Effect.gen(function* () {
      const email = "intruded@example.com"
      yield* signUp(email)
      const { session } = yield* logIn(email, password, "192.0.2.1")
      const { session: other } = yield* logIn(email, password, "192.0.2.2")
      const { changePassword } = yield* Login.Login
      const change = changePassword(session, {
        currentPassword: password,
        newPassword: "a better battery",
        network: "192.0.2.1"
      })
      const withoutSessions = ((statement: Statement.Statement<unknown>) =>
        statement.compile()[0].includes("UPDATE sessions")
          ? Effect.die("connection lost")
          : Effect.succeed(statement)) as Statement.Transformer
      const exit = yield* Effect.exit(Effect.provideService(change, Statement.CurrentTransformer, withoutSessions))
      assert.isTrue(exit._tag === "Failure")
      assert.strictEqual(yield* resultOf(email, password, "192.0.2.1"), "opened")
      assert.includeDeepMembers([...(yield* change)], [other])
    })
  )

  it.effect(
    "failed logins from an unknown network throttle the email, except in networks that its owner has logged in from",
    () =>
      Effect.gen(function* () {
        yield* signUp("locked@example.com")
        assert.strictEqual(yield* resultOf("locked@example.com", password, "192.0.2.1"), "opened")
        for (let guess = 0; guess < 20; guess++) {
          assert.strictEqual(yield* resultOf("locked@example.com", wrong, "203.0.113.7"), "InvalidCredentials")
        }
        assert.strictEqual(yield* resultOf("locked@example.com", password, "203.0.113.7"), "Throttled")
        assert.strictEqual(yield* resultOf("locked@example.com", password, "198.51.100.1"), "Throttled")
        assert.strictEqual(yield* resultOf("locked@example.com", password, "192.0.2.1"), "opened")
      })
  )

  it.effect("two spellings of the email of one account share one limit of failures", () =>
    Effect.gen(function* () {
      const run = Effect.runPromiseWith(yield* Effect.context<Accounts.Accounts | Login.Login>())
      let runs = 0
      let same = 0
      const property = fc.asyncProperty(spelledLocalParts, async ({ locals, spellings }) => {
        runs++
        const emails = locals.map((local, index) => spellings[index]!(`${runs}${local}@example.com`))
        await run(
          Effect.gen(function* () {
            yield* signUp(emails[0]!)
            if ((yield* resultOf(emails[1]!, password, "192.0.2.1")) !== "opened") return
            same++
            for (let guess = 0; guess < 20; guess++) yield* resultOf(emails[guess % 2]!, wrong, "203.0.113.7")
            for (const email of emails) {
              assert.strictEqual(yield* resultOf(email, password, "203.0.113.7"), "Throttled")
            }
          })
        )
      })
      yield* Effect.promise(() => fc.assert(property, { numRuns: 60 }))
      assert.isAbove(same, 5)
    })
  )
})
