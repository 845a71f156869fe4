/**
 * Opens a session for an email and a password, and changes the password, against guessing.
 */
import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as OpaqueToken from "../crypto/OpaqueToken.ts"
import type { SessionIdentity } from "./AccessTokens.ts"
import { Accounts } from "./Accounts.ts"
import * as Email from "./Email.ts"
import { LoginThrottle } from "./LoginThrottle.ts"
import { Passwords } from "./Passwords.ts"
import { Sessions } from "./Sessions.ts"
import type { NoSlot } from "../limits/Slots.ts"
import type { Throttled } from "../limits/Throttled.ts"

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

/** A change of a password as it arrives. */
export interface PasswordChange {
  readonly currentPassword: string
  readonly newPassword: string
  readonly network: string
}

/** Logs in, and changes passwords. */
export class Login extends Context.Service<
  Login,
  {
    readonly logIn: (attempt: LoginAttempt) => Effect.Effect<OpenedSession, InvalidCredentials | NoSlot | Throttled>
    /**
     * Changes the password of an account and ends its other sessions, which are returned. A wrong current password counts as
     * a failed login.
     */
    readonly changePassword: (
      session: SessionIdentity,
      change: PasswordChange
    ) => Effect.Effect<ReadonlyArray<SessionIdentity>, InvalidCredentials | NoSlot | Throttled>
  }
>()("@govoice/server/accounts/Login") {}

/** Provides `Login`. */
export const layer: Layer.Layer<Login, never, Accounts | LoginThrottle | Passwords | Sessions | SqlClient.SqlClient> =
  Layer.effect(
    Login,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const throttle = yield* LoginThrottle
      const passwords = yield* Passwords
      const sessions = yield* Sessions

      const verify = Effect.fnUntraced(function* (email: Email.Email, password: string, network: string) {
        yield* throttle.check(email, network)

        const account = yield* accounts.findCredentials(email)
        const matches = yield* passwords.verify(password, account?.passwordHash, {
          network,
          isKnown: sessions.isKnownNetwork(email, network)
        })
        // Concurrent guesses may have failed meanwhile. Beyond the limit, not even a correct password is confirmed.
        yield* throttle.check(email, network)
        if (account === undefined || !matches) {
          yield* throttle.addFailure(email, network)
          return yield* new InvalidCredentials()
        }
        return account
      })

      return {
        logIn: Effect.fn("Login.logIn")(function* ({ email, network, password }) {
          const account = yield* verify(Email.normalize(email), password, network)
          const refreshToken = OpaqueToken.refreshToken()
          const session = yield* sessions.open(account, OpaqueToken.hash(refreshToken), network)
          return session === undefined ? yield* new InvalidCredentials() : { session, refreshToken }
        }),

        changePassword: Effect.fn("Login.changePassword")(function* (
          session,
          { currentPassword, network, newPassword }
        ) {
          const { email = "" } = (yield* accounts.find(session.accountId)) ?? {}
          const { id, passwordHash } = yield* verify(Email.normalize(email), currentPassword, network)
          const newHash = yield* passwords.hash(newPassword, { network, isKnown: Effect.succeed(true) })
          // Together: whoever changes a password that was stolen ends the sessions of the thief, or is told that nothing has changed.
          const replace = Effect.gen(function* () {
            if (!(yield* accounts.replacePassword(id, passwordHash, newHash))) return yield* new InvalidCredentials()
            return yield* sessions.revokeAll(id, { except: session.sessionId })
          })
          return yield* sql.withTransaction(replace).pipe(Effect.catchTag("SqlError", Effect.die))
        })
      }
    })
  )
