/**
 * Keeps guessing slow: so many failed logins for an email, so many calls from an address, in a sliding minute.
 *
 * @since 0.1.0
 */
import { Clock, Context, Effect, Layer } from "effect"
import * as ClientAddress from "./ClientAddress.ts"
import * as SlidingWindow from "./SlidingWindow.ts"

const minute = 60_000

/**
 * How many failed logins of an email a minute has room for.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxFailures = 20

/**
 * How many calls of one kind from one address a minute has room for.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxCalls = 100

/**
 * The kinds of calls that can be made without a credential. Each is counted for itself.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "login" | "refresh" | "signup"

/**
 * Service that counts logins. What it returns is how long to wait, in milliseconds: 0 for a call that may go on.
 *
 * @category services
 * @since 0.1.0
 */
export class LoginGuard extends Context.Service<
  LoginGuard,
  {
    /** Counts a call from an address. One that has to wait is not counted. */
    readonly call: (kind: Kind, address: string | undefined) => Effect.Effect<number>
    /** How long an email has to wait after too many failures. */
    readonly emailWait: (email: string) => Effect.Effect<number>
    /** Counts a failed login of an email. */
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
  const calls = {
    login: SlidingWindow.make(maxCalls, minute),
    refresh: SlidingWindow.make(maxCalls, minute),
    signup: SlidingWindow.make(maxCalls, minute)
  }
  const failures = SlidingWindow.make(maxFailures, minute)

  return {
    call: (kind, address) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const key = ClientAddress.group(address)
        const wait = calls[kind].waitMs(key, now)
        if (wait === 0) calls[kind].add(key, now)
        return wait
      }),
    emailWait: (email) => Effect.map(Clock.currentTimeMillis, (now) => failures.waitMs(email.toLowerCase(), now)),
    failed: (email) => Effect.map(Clock.currentTimeMillis, (now) => failures.add(email.toLowerCase(), now))
  }
})
