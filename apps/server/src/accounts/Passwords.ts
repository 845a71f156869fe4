/**
 * Password hashes: argon2id (RFC 9106). Verifying costs the same for an email that no account has.
 *
 * Each hash occupies a thread of libuv's pool and 19 MiB, so few run at a time. Networks take turns, and wait for a limited time. One
 * slot is for logins from networks that their account is known in, so that strangers cannot lock an owner out.
 */
import { hash, verify } from "@node-rs/argon2"
import { Context, Effect, Layer } from "effect"
import * as SlidingWindows from "../limits/SlidingWindows.ts"
import * as Slots from "../limits/Slots.ts"
import { Throttled } from "../limits/Throttled.ts"

// OWASP's second recommendation: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// The limit is per network. A global limit could be used up by one stranger. Connections bound how many wait, and each does for
// 10 seconds at most. A hash takes 20 to 60 ms.
const shared = { slots: 3, maxWaiting: Infinity, maxWaitingPerGroup: 30, maxWaitMs: Slots.turnMs }
const reserved = { slots: 1, maxWaiting: Infinity, maxWaitingPerGroup: 5, maxWaitMs: Slots.turnMs }

// The failure of a network that has too many waiting.
const throttled = new Throttled({
  limit: { name: "passwords", quota: shared.maxWaitingPerGroup, unit: "concurrent-requests" },
  waitMs: 2000
})

/** The client that a password is from. */
export interface PasswordClient {
  /** As `ClientAddress.group` returns it. */
  readonly network: string
  /** Whether the account has logged in from this network before. Asked only while the shared slots are occupied. */
  readonly isKnown?: Effect.Effect<boolean>
}

/** Hashes and verifies passwords. Fails with `Throttled` if the network has too many waiting, and with `NoSlot` if no turn came in time. */
export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (password: string, client: PasswordClient) => Effect.Effect<string, Throttled | Slots.NoSlot>
    /** Verifies a password. Without a hash it does the same work and returns `false`. */
    readonly verify: (
      password: string,
      hash: string | undefined,
      client: PasswordClient
    ) => Effect.Effect<boolean, Throttled | Slots.NoSlot>
  }
>()("@govoice/server/accounts/Passwords") {}

/** Provides `Passwords`. */
export const layer: Layer.Layer<Passwords> = Layer.effect(
  Passwords,
  Effect.gen(function* () {
    const sharedSlots = Slots.make(shared)
    const reservedSlots = Slots.make(reserved)
    const dummy = yield* Effect.promise(() => hash("a password that no account has", parameters))

    // A thread cannot be interrupted, so its slot is occupied until it has ended.
    const inSlot = Effect.fnUntraced(function* <A>({ isKnown, network }: PasswordClient, work: () => Promise<A>) {
      const group = SlidingWindows.widerNetworks(network)?.[48] ?? network
      const working = Effect.uninterruptible(Effect.promise(work))
      // A login that may wait for both kinds of slots does its work in the one that is free first.
      let isClaimed = false
      const claimed = Effect.suspend(() => {
        if (isClaimed) return Effect.fail(new Slots.NoSlot({ hasWaited: true }))
        isClaimed = true
        return working
      })
      const inShared = Effect.catchTag(sharedSlots.run(group)(claimed), "NoSlot", (late) =>
        Effect.fail(late.hasWaited ? late : throttled)
      )
      const isReserved = !sharedSlots.isFree() && isKnown !== undefined && (yield* isKnown)
      return yield* isReserved ? Effect.race(inShared, reservedSlots.run(group)(claimed)) : inShared
    })

    return {
      hash: (password, client) => inSlot(client, () => hash(password, parameters)),
      verify: (password, stored, client) =>
        Effect.map(
          inSlot(client, () => verify(stored ?? dummy, password)),
          (matches) => matches && stored !== undefined
        )
    }
  })
)
