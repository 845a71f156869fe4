/** Logins whose turn does not come, since no hash ends. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { afterEach, beforeEach, vi } from "vitest"
import * as Passwords from "../../src/accounts/Passwords.ts"
import * as Slots from "../../src/limits/Slots.ts"

vi.mock("@node-rs/argon2", () => ({ hash: () => Promise.resolve("a hash"), verify: () => new Promise(() => {}) }))

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => void vi.useRealTimers())

it.live("a login waits for one turn, and then the server is busy, which is no limit of its own", () =>
  Effect.gen(function* () {
    const passwords = yield* Passwords.Passwords
    const start = (network: string, isKnown: boolean) =>
      Effect.forkDetach(
        Effect.result(passwords.verify("a guess", undefined, { network, isKnown: Effect.succeed(isKnown) })),
        { startImmediately: true }
      )
    yield* Effect.forEach(["192.0.2.1", "192.0.2.2", "192.0.2.3"], (network) => start(network, false))
    yield* start("192.0.2.4", true)
    const waiting = [yield* start("192.0.2.5", true), yield* start("192.0.2.6", false)]
    vi.advanceTimersByTime(Slots.turnMs - 1)
    assert.deepStrictEqual(
      waiting.map((fiber) => fiber.pollUnsafe()),
      [undefined, undefined]
    )
    vi.advanceTimersByTime(1)
    yield* Effect.yieldNow
    assert.isTrue(waiting.every((fiber) => fiber.pollUnsafe() !== undefined))
    for (const result of yield* Effect.forEach(waiting, Fiber.join)) {
      assert.strictEqual(result._tag === "Failure" && result.failure._tag, "NoSlot")
    }
  }).pipe(Effect.provide(Passwords.layer))
)
