import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ClientAddress from "../../src/security/ClientAddress.ts"
import * as LoginGuard from "../../src/security/LoginGuard.ts"
import * as Passwords from "../../src/security/Passwords.ts"
import * as SlidingWindow from "../../src/security/SlidingWindow.ts"

describe("LoginGuard", () => {
  it.effect("has room for 100 calls of one kind from one address in a minute that slides", () =>
    Effect.gen(function* () {
      const guard = yield* LoginGuard.LoginGuard
      for (let call = 0; call < 100; call++) {
        assert.strictEqual(yield* guard.call("login", "192.0.2.1"), 0)
        yield* TestClock.adjust("100 millis")
      }
      assert.strictEqual(yield* guard.call("login", "192.0.2.1"), 50_000)
      assert.strictEqual(yield* guard.call("refresh", "192.0.2.1"), 0)
      assert.strictEqual(yield* guard.call("login", "192.0.2.2"), 0)
      yield* TestClock.adjust("49999 millis")
      assert.strictEqual(yield* guard.call("login", "192.0.2.1"), 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* guard.call("login", "192.0.2.1"), 0)
      assert.strictEqual(yield* guard.call("login", "192.0.2.1"), 100, "one place is free at a time")
    }).pipe(Effect.provide(LoginGuard.layer))
  )

  it.effect("has room for 20 failures of an email in a minute, whatever its letter case", () =>
    Effect.gen(function* () {
      const guard = yield* LoginGuard.LoginGuard
      for (let failure = 0; failure < 20; failure++) {
        assert.strictEqual(yield* guard.emailWait("owner@example.com"), 0)
        yield* guard.failed(failure % 2 === 0 ? "Owner@Example.com" : "owner@example.com")
      }
      assert.strictEqual(yield* guard.emailWait("OWNER@example.com"), 60_000)
      assert.strictEqual(yield* guard.emailWait("other@example.com"), 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* guard.emailWait("owner@example.com"), 0)
    }).pipe(Effect.provide(LoginGuard.layer))
  )
})

describe("SlidingWindow", () => {
  it("forgets who was quiet longest when there are too many", () => {
    const window = SlidingWindow.make(1, 1000, 3)
    for (const key of ["a", "b", "c", "d"]) window.add(key, 0)
    assert.deepStrictEqual(
      ["a", "b", "c", "d"].map((key) => window.waitMs(key, 0)),
      [0, 1000, 1000, 1000]
    )
  })

  it("forgets who has been quiet for the whole window, so that it holds no more keys than were heard of in it", () => {
    const window = SlidingWindow.make(2, 1000)
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

describe("ClientAddress", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::6", "2001:db8:1:2::/64"],
    ["2001:db8::6", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    [undefined, "unknown"]
  ])("counts %s as %s", (address, group) => {
    assert.strictEqual(ClientAddress.group(address), group)
  })
})

describe("Passwords", () => {
  it.live("take as long to check for nobody as for somebody", () =>
    Effect.gen(function* () {
      const passwords = yield* Passwords.Passwords
      const stored = yield* passwords.hash("correct horse battery")
      assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
      const time = (hash: string | undefined) =>
        Effect.gen(function* () {
          const begun = process.cpuUsage()
          assert.isFalse(yield* passwords.verify("not the password", hash))
          const { system, user } = process.cpuUsage(begun)
          return system + user
        })
      const [nobody, somebody]: [Array<number>, Array<number>] = [[], []]
      for (let round = 0; round < 15; round++) {
        nobody.push(yield* time(undefined))
        somebody.push(yield* time(stored))
      }
      const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[7]!
      assert.closeTo(median(nobody) / median(somebody), 1, 0.35)
      assert.isTrue(yield* passwords.verify("correct horse battery", stored))
      assert.isFalse(yield* passwords.verify("a password that nobody has", undefined))
    }).pipe(Effect.provide(Passwords.layer))
  )
})
