/**
 * Opens a session for an email and a password, against guessing.
 */
import { Context, Data, Effect, Layer } from "effect"
import * as OpaqueToken from "../crypto/OpaqueToken.ts"
import type { SessionIdentity } from "./AccessTokens.ts"
import { Accounts } from "./Accounts.ts"
import * as Email from "./Email.ts"
import { LoginThrottle } from "./LoginThrottle.ts"
import { Passwords } from "./Passwords.ts"
import { Sessions } from "./Sessions.ts"
import type { Throttled } from "./Throttled.ts"

/** No account has this email and this password. */
export class InvalidCredentials extends Data.TaggedError("InvalidCredentials") {}

/** A login as it arrives. */
export interface LoginAttempt {
  readonly email: string
  readonly password: string
  /** The network of the client, as `ClientAddress.group` returns it. */
  readonly network: string
}

/** A session that was opened, with its first refresh token. */
export interface OpenedSession {
  readonly session: SessionIdentity
  readonly refreshToken: string
}

/** Logs in. */
export class Login extends Context.Service<
  Login,
  { readonly logIn: (attempt: LoginAttempt) => Effect.Effect<OpenedSession, InvalidCredentials | Throttled> }
>()("@govoice/server/accounts/Login") {}

/** Provides `Login`. */
export const layer: Layer.Layer<Login, never, Accounts | LoginThrottle | Passwords | Sessions> = Layer.effect(
  Login,
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const throttle = yield* LoginThrottle
    const passwords = yield* Passwords
    const sessions = yield* Sessions

    return {
      logIn: Effect.fn("Login.logIn")(function* ({ network, password, ...given }) {
        const email = Email.normalize(given.email)
        yield* throttle.check(email, network)

        const account = yield* accounts.findCredentials(email)
        const matches = yield* passwords.verify(password, account?.passwordHash)
        // Concurrent guesses may have failed meanwhile. Beyond the limit, not even a correct password is confirmed.
        yield* throttle.check(email, network)
        if (account === undefined || !matches) {
          yield* throttle.addFailure(email, network)
          return yield* new InvalidCredentials()
        }
        const refreshToken = OpaqueToken.refreshToken()
        return { session: yield* sessions.open(account.id, OpaqueToken.hash(refreshToken), network), refreshToken }
      })
    }
  })
)
