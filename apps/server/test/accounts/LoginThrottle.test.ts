import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Email from "../../src/accounts/Email.ts"
import * as LoginThrottle from "../../src/accounts/LoginThrottle.ts"
import * as Passwords from "../../src/accounts/Passwords.ts"
import { Sessions } from "../../src/accounts/Sessions.ts"
import * as SlidingWindows from "../../src/limits/SlidingWindows.ts"

const owner = Email.normalize("owner@example.com")
const other = Email.normalize("other@example.com")
const home = "192.0.2.1"
const elsewhere = "203.0.113.7"

// The owner has logged in from home before.
const layer = LoginThrottle.layer.pipe(
  Layer.provide([
    SlidingWindows.layerMemory,
    Layer.mock(Sessions)({ isKnownNetwork: (email, network) => Effect.succeed(email === owner && network === home) })
  ])
)

const waitOf = (email: Email.Email, network: string) =>
  Effect.flatMap(LoginThrottle.LoginThrottle, (throttle) =>
    throttle.check(email, network).pipe(
      Effect.as(0),
      Effect.catchTag("Throttled", ({ waitMs }) => Effect.succeed(waitMs))
    )
  )

const fail = (times: number, email: Email.Email, network: string) =>
  Effect.flatMap(LoginThrottle.LoginThrottle, (throttle) =>
    Effect.replicateEffect(throttle.addFailure(email, network), times, { discard: true })
  )

describe("LoginThrottle", () => {
  it.effect("allows 20 failures of an email in a sliding minute, over all networks", () =>
    Effect.gen(function* () {
      for (let failure = 0; failure < 20; failure++) {
        assert.strictEqual(yield* waitOf(owner, elsewhere), 0)
        yield* fail(1, owner, `198.51.100.${failure}`)
      }
      assert.strictEqual(yield* waitOf(owner, elsewhere), 60_000)
      assert.strictEqual(yield* waitOf(other, elsewhere), 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* waitOf(owner, elsewhere), 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("exempts a network that the account is known in from the failures of other networks", () =>
    Effect.gen(function* () {
      yield* fail(1000, owner, elsewhere)
      assert.isAbove(yield* waitOf(owner, elsewhere), 0)
      assert.strictEqual(yield* waitOf(owner, home), 0)
      assert.strictEqual(yield* waitOf(other, home), 0)
      yield* fail(20, other, elsewhere)
      assert.isAbove(yield* waitOf(other, home), 0, "the network is known for another account only")
    }).pipe(Effect.provide(layer))
  )

  it.effect("allows 20 failures in a network that the account is known in", () =>
    Effect.gen(function* () {
      yield* fail(19, owner, home)
      assert.strictEqual(yield* waitOf(owner, home), 0)
      yield* fail(1, owner, home)
      assert.strictEqual(yield* waitOf(owner, home), 60_000)
    }).pipe(Effect.provide(layer))
  )
})

describe("MemorySlidingWindow", () => {
  it("evicts the key with the oldest events when there are too many", () => {
    const window = SlidingWindows.makeWindow(1, 1000, 3)
    for (const key of ["a", "b", "c", "d"]) window.add(key, 0)
    assert.deepStrictEqual(
      ["a", "b", "c", "d"].map((key) => window.waitMs(key, 0)),
      [0, 1000, 1000, 1000]
    )
  })

  it("evicts keys that have no event in the window", () => {
    const window = SlidingWindows.makeWindow(2, 1000)
    let most = 0
    for (let index = 0; index < 50_000; index++) {
      window.add(String(index), index * 10)
      most = Math.max(most, window.size())
    }
    assert.isAtMost(most, 101)
    window.add("again", 1e6)
    assert.strictEqual(window.size(), 1)
  })
})

const client = { network: home }

describe("Passwords", () => {
  const guess = (network: string, isKnown: boolean) =>
    Effect.flatMap(Passwords.Passwords, (passwords) =>
      passwords.verify("a guess", undefined, { network, isKnown: Effect.succeed(isKnown) })
    )
  const startGuesses = (networks: ReadonlyArray<string>, isKnown: boolean) =>
    Effect.forEach(networks, (network) =>
      Effect.forkChild(Effect.result(guess(network, isKnown)), { startImmediately: true })
    )
  const networks = (prefix: string, length: number) => Array.from({ length }, (_, n) => `${prefix}.${n}`)

  it.live("a login from a known network is verified before those of strangers, however many networks they have", () =>
    Effect.gen(function* () {
      const passwords = yield* Passwords.Passwords
      const stored = yield* passwords.hash("correct horse battery", client)
      const strangers = yield* startGuesses(networks("203.0.113", 120), false)
      const startedAt = performance.now()
      const known = passwords.verify("correct horse battery", stored, { network: home, isKnown: Effect.succeed(true) })
      assert.isTrue(yield* known)
      assert.isTrue(
        strangers.some((fiber) => fiber.pollUnsafe() === undefined),
        `the owner is served before the strangers, after ${performance.now() - startedAt} ms`
      )
      yield* Effect.forEach(strangers, Fiber.join)
    }).pipe(Effect.provide(Passwords.layer))
  )

  it.live("no login is refused for those of strangers, also where accounts of theirs are known in their networks", () =>
    Effect.gen(function* () {
      const passwords = yield* Passwords.Passwords
      const stored = yield* passwords.hash("correct horse battery", client)
      const strangers = [
        ...(yield* startGuesses(networks("203.0.113", 110), false)),
        ...(yield* startGuesses(networks("198.51.100", 35), true))
      ]
      const verify = (network: string, isKnown: boolean) =>
        passwords.verify("correct horse battery", stored, { network, isKnown: Effect.succeed(isKnown) })
      const logins = [verify(home, true), verify(elsewhere, false)]
      assert.deepStrictEqual(yield* Effect.all(logins, { concurrency: "unbounded" }), [true, true])
      yield* Effect.forEach(strangers, Fiber.join)
    }).pipe(Effect.provide(Passwords.layer))
  )

  it.live("a known network that fills the reserved queue uses the shared one", () =>
    Effect.gen(function* () {
      const passwords = yield* Passwords.Passwords
      const known = { network: home, isKnown: Effect.succeed(true) }
      const results = yield* Effect.forEach(
        Array(30),
        () => Effect.result(passwords.verify("a guess", undefined, known)),
        { concurrency: "unbounded" }
      )
      assert.isTrue(results.every(({ _tag }) => _tag === "Success"))
    }).pipe(Effect.provide(Passwords.layer))
  )

  it.live("one network has few waiting, so that another one is not refused", () =>
    Effect.gen(function* () {
      const passwords = yield* Passwords.Passwords
      const guesses = yield* Effect.forEach(Array.from({ length: 200 }), (_, n) =>
        Effect.forkChild(
          Effect.result(passwords.verify("a guess", undefined, { network: `2001:db8:1:${n.toString(16)}::/64` })),
          { startImmediately: true }
        )
      )
      assert.isFalse(yield* passwords.verify("a guess", undefined, { network: elsewhere }))
      const results = yield* Effect.forEach(guesses, Fiber.join)
      const failures = results.flatMap((result) => (result._tag === "Failure" ? [result.failure._tag] : []))
      assert.deepStrictEqual(failures, Array<"Throttled">(200 - 33).fill("Throttled"))
    }).pipe(Effect.provide(Passwords.layer))
  )

  it.live("take as long to verify without a hash as with one", () =>
    Effect.gen(function* () {
      const passwords = yield* Passwords.Passwords
      const stored = yield* passwords.hash("correct horse battery", client)
      assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
      const time = (hash: string | undefined) =>
        Effect.gen(function* () {
          const begun = process.cpuUsage()
          assert.isFalse(yield* passwords.verify("not the password", hash, client))
          const { system, user } = process.cpuUsage(begun)
          return system + user
        })
      const [without, withHash]: [Array<number>, Array<number>] = [[], []]
      const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!
      const ratio = () => median(without) / median(withHash)
      // Other processes disturb single rounds. More rounds follow until the medians agree.
      for (let round = 0; round < 15 || (round < 75 && Math.abs(ratio() - 1) > 0.35); round++) {
        without.push(yield* time(undefined))
        withHash.push(yield* time(stored))
      }
      assert.closeTo(ratio(), 1, 0.35)
      assert.isTrue(yield* passwords.verify("correct horse battery", stored, client))
      assert.isFalse(yield* passwords.verify("a password that no account has", undefined, client))
    }).pipe(Effect.provide(Passwords.layer))
  )
})
