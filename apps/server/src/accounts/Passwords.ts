/**
 * Password hashes: argon2id (RFC 9106). Verifying costs the same for an email that no account has.
 */
import { hash, verify } from "@node-rs/argon2"
import { Context, Effect, Layer, Semaphore } from "effect"

// OWASP's second recommendation: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// Each hash occupies a thread of libuv's pool and 19 MiB.
const maxConcurrent = 4

/** Hashes and verifies passwords. */
export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (password: string) => Effect.Effect<string>
    /** Verifies a password. Without a hash it does the same work and returns `false`. */
    readonly verify: (password: string, hash: string | undefined) => Effect.Effect<boolean>
  }
>()("@govoice/server/accounts/Passwords") {}

/** Provides `Passwords`. */
export const layer: Layer.Layer<Passwords> = Layer.effect(
  Passwords,
  Effect.gen(function* () {
    const slots = yield* Semaphore.make(maxConcurrent)
    const dummy = yield* Effect.promise(() => hash("a password that no account has", parameters))

    return {
      hash: (password) => slots.withPermits(1)(Effect.promise(() => hash(password, parameters))),
      verify: (password, stored) =>
        slots.withPermits(1)(
          Effect.map(
            Effect.promise(() => verify(stored ?? dummy, password)),
            (matches) => matches && stored !== undefined
          )
        )
    }
  })
)
