/**
 * Slows down guessing: limits the failed logins of an email in a sliding minute.
 *
 * The limit does not apply to networks from which the account has logged in before. They have one of their own, so that a
 * stranger's guesses do not lock the owner out.
 */
import { Context, Effect, Layer } from "effect"
import type { Email } from "./Email.ts"
import { Sessions } from "./Sessions.ts"
import { SlidingWindowStore } from "../limits/SlidingWindows.ts"
import { failWhileWaiting, type Throttled } from "../limits/Throttled.ts"

/** How many failed logins of an email a minute allows. */
export const maxFailures = 20

/** Limits failed logins. Networks are those of `ClientAddress.group`. */
export class LoginThrottle extends Context.Service<
  LoginThrottle,
  {
    /** Fails after too many failed logins of this email, unless its account is known in this network. */
    readonly check: (email: Email, network: string) => Effect.Effect<void, Throttled>
    /** Counts a failed login. */
    readonly addFailure: (email: Email, network: string) => Effect.Effect<void>
  }
>()("@govoice/server/accounts/LoginThrottle") {}

// A network contains no space.
const pair = (email: Email, network: string): string => `${network} ${email}`

/** Provides `LoginThrottle`. */
export const layer: Layer.Layer<LoginThrottle, never, Sessions | SlidingWindowStore> = Layer.effect(
  LoginThrottle,
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const windows = yield* SlidingWindowStore
    const windowMs = 60_000
    const byEmail = windows.make({ name: "login:email", limit: maxFailures, windowMs })
    const byPair = windows.make({ name: "login:email-network", limit: maxFailures, windowMs })

    return {
      check: Effect.fnUntraced(function* (email, network) {
        const [emailWait, pairWait] = yield* Effect.all([byEmail.wait(email), byPair.wait(pair(email, network))])
        const isExempt = emailWait > pairWait && (yield* sessions.isKnownNetwork(email, network))
        yield* failWhileWaiting({ name: "login", limit: maxFailures, windowMs })(
          isExempt ? pairWait : Math.max(emailWait, pairWait)
        )
      }),

      addFailure: (email, network) =>
        Effect.all([byEmail.add(email), byPair.add(pair(email, network))], { discard: true })
    }
  })
)
