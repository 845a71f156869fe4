/**
 * Password hashes: argon2id (RFC 9106). Verifying costs the same for an email that no account has.
 *
 * Each hash occupies a thread of libuv's pool and 19 MiB, so few run at a time. Networks take turns, and their queue has a
 * maximum. One slot is for logins from networks that their account is known in, so that strangers cannot lock an owner out.
 */
import { hash, verify } from "@node-rs/argon2"
import { Context, Effect, Layer } from "effect"
import * as SlidingWindows from "../limits/SlidingWindows.ts"
import * as Slots from "../limits/Slots.ts"
import { Throttled } from "../limits/Throttled.ts"

// OWASP's second recommendation: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// A hash takes 20 to 60 ms: the last of a queue waits for about a second.
const shared = { slots: 3, maxWaiting: 90, maxWaitingPerGroup: 30, maxWaitMs: Slots.turnMs }
const reserved = { slots: 1, maxWaiting: 30, maxWaitingPerGroup: 5, maxWaitMs: Slots.turnMs }

// The wait of a caller for whom the queue was full.
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

/** Hashes and verifies passwords. Fails if too many are waiting. */
export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (password: string, client: PasswordClient) => Effect.Effect<string, Throttled>
    /** Verifies a password. Without a hash it does the same work and returns `false`. */
    readonly verify: (
      password: string,
      hash: string | undefined,
      client: PasswordClient
    ) => Effect.Effect<boolean, Throttled>
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
      const inShared = sharedSlots.run(group)(working)
      const isReserved = !sharedSlots.isFree() && isKnown !== undefined && (yield* isKnown)
      return yield* (
        isReserved ? Effect.catchTag(reservedSlots.run(group)(working), "NoSlot", () => inShared) : inShared
      ).pipe(Effect.catchTag("NoSlot", () => Effect.fail(throttled)))
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
