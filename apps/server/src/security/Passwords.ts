/**
 * Passwords: argon2id (RFC 9106), and the same work for an email that nobody has.
 *
 * @since 0.1.0
 */
import { hash, verify } from "@node-rs/argon2"
import { Context, Effect, Layer, Semaphore } from "effect"

// OWASP's second recommendation: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// Hashing fills the thread pool and memory: what comes in a rush waits its turn.
const atOnce = 4

/**
 * Service that hashes and checks passwords.
 *
 * @category services
 * @since 0.1.0
 */
export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (password: string) => Effect.Effect<string>
    /** Checks a password. Without a hash it takes as long, and says no. */
    readonly verify: (password: string, stored: string | undefined) => Effect.Effect<boolean>
  }
>()("@govoice/server/security/Passwords") {}

/**
 * Layer that provides `Passwords`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Passwords> = Layer.effect(
  Passwords,
  Effect.gen(function* () {
    const turns = yield* Semaphore.make(atOnce)
    const nobody = yield* Effect.promise(() => hash("a password that nobody has", parameters))

    return {
      hash: (password) => turns.withPermits(1)(Effect.promise(() => hash(password, parameters))),
      verify: (password, stored) =>
        turns.withPermits(1)(
          Effect.map(
            Effect.promise(() => verify(stored ?? nobody, password)),
            (matches) => matches && stored !== undefined
          )
        )
    }
  })
)
