/**
 * Keeps guessing slow: so many failed logins for an email, so many calls from an address, in a sliding minute.
 *
 * @since 0.1.0
 */
import { Clock, Context, Effect, Layer } from "effect"
import * as SlidingWindow from "./SlidingWindow.ts"

const minute = 60_000

/**
 * Service that counts logins.
 *
 * @category services
 * @since 0.1.0
 */
export class LoginGuard extends Context.Service<
  LoginGuard,
  {
    /** Counts a call, and says how long to wait in milliseconds: 0 for a call that may go on. */
    readonly call: (address: string, email: string) => Effect.Effect<number>
    readonly failed: (email: string) => Effect.Effect<void>
  }
>()("@govoice/server/security/LoginGuard") {}

/**
 * Layer that provides `LoginGuard` for this process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<LoginGuard> = Layer.sync(LoginGuard)(() => {
  const calls = SlidingWindow.make(100, minute)
  const failures = SlidingWindow.make(20, minute)

  return {
    call: (address, email) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const wait = Math.max(calls.waitMs(address, now), failures.waitMs(email.toLowerCase(), now))
        if (wait === 0) calls.add(address, now)
        return wait
      }),
    failed: (email) => Effect.map(Clock.currentTimeMillis, (now) => failures.add(email.toLowerCase(), now))
  }
})
