/** Serves accounts and sessions. */
import { type Account, AccountAuthorization, Api, Problems } from "@govoice/api"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AccessTokens, lifetime as accessLifetime, type SessionIdentity } from "../../accounts/AccessTokens.ts"
import { Authenticator } from "../../accounts/Authenticator.ts"
import * as Email from "../../accounts/Email.ts"
import { Login } from "../../accounts/Login.ts"
import * as OpaqueToken from "../../crypto/OpaqueToken.ts"
import { Passwords } from "../../accounts/Passwords.ts"
import { Settings } from "../../settings/Settings.ts"
import { Accounts } from "../../accounts/Accounts.ts"
import { lifetime as refreshLifetime, Sessions } from "../../accounts/Sessions.ts"
import { CurrentSession } from "../middleware/Authorization.ts"
import * as Throttling from "../middleware/Throttling.ts"
import * as ClientAddress from "../transport/ClientAddress.ts"

/** Layer that implements the `accounts` group. */
export const layer = HttpApiBuilder.group(
  Api,
  "accounts",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const accessTokens = yield* AccessTokens
    const authenticator = yield* Authenticator
    const login = yield* Login
    const sessions = yield* Sessions
    const passwords = yield* Passwords
    const { signupOpen } = yield* Settings

    const tokens = (session: SessionIdentity, refreshToken: string): Effect.Effect<Account.TokenPair> =>
      Effect.map(accessTokens.issue(session), (accessToken) => ({
        access_token: accessToken,
        token_type: "Bearer",
        expires_in: accessLifetime,
        refresh_token: refreshToken,
        refresh_expires_in: refreshLifetime
      }))

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload, request }) {
        if (!signupOpen) return yield* Problems.fail("signup_disabled")

        const hash = yield* passwords
          .hash(payload.password, { network: ClientAddress.groupOf(request) })
          .pipe(Effect.catchTags({ NoSlot: () => Throttling.failWithoutTurn, Throttled: Throttling.fail }))
        return yield* accounts
          .create(Email.normalize(payload.email), hash)
          .pipe(Effect.catchTag("EmailTaken", () => Problems.fail("email_taken")))
      }),

      login: Effect.fnUntraced(function* ({ payload, request }) {
        const { refreshToken, session } = yield* login
          .logIn({ ...payload, network: ClientAddress.groupOf(request) })
          .pipe(
            Effect.catchTags({
              InvalidCredentials: () => Problems.fail("invalid_credentials"),
              NoSlot: () => Throttling.failWithoutTurn,
              Throttled: Throttling.fail
            })
          )
        return yield* tokens(session, refreshToken)
      }),

      refresh: Effect.fnUntraced(function* ({ payload }) {
        const refreshToken = OpaqueToken.refreshToken()
        const session = yield* sessions
          .rotate(OpaqueToken.hash(payload.refresh_token), OpaqueToken.hash(refreshToken))
          .pipe(
            Effect.catchTag("InvalidRefreshToken", ({ revoked }) =>
              Effect.andThen(
                revoked === undefined ? Effect.void : authenticator.invalidateSession(revoked),
                Problems.fail("invalid_refresh_token")
              )
            )
          )
        return yield* tokens(session, refreshToken)
      }),

      logout: Effect.fnUntraced(function* ({ payload }) {
        const ended = yield* sessions.revoke(OpaqueToken.hash(payload.refresh_token))
        if (ended !== undefined) yield* authenticator.invalidateSession(ended)
      }),

      logoutAll: Effect.fnUntraced(function* () {
        const ended = yield* sessions.revokeAll(yield* AccountAuthorization.CurrentAccount)
        yield* Effect.forEach(ended, authenticator.invalidateSession, { discard: true })
      }),

      changePassword: Effect.fnUntraced(function* ({ payload, request }) {
        const session = yield* CurrentSession
        if (session === undefined) return yield* Problems.fail("missing_access_token")
        const ended = yield* login
          .changePassword(session, {
            currentPassword: payload.current_password,
            newPassword: payload.new_password,
            network: ClientAddress.groupOf(request)
          })
          .pipe(
            Effect.catchTags({
              InvalidCredentials: () => Problems.fail("invalid_credentials"),
              NoSlot: () => Throttling.failWithoutTurn,
              Throttled: Throttling.fail
            })
          )
        yield* Effect.forEach(ended, authenticator.invalidateSession, { discard: true })
      }),

      get: Effect.fnUntraced(function* () {
        const account = yield* accounts.find(yield* AccountAuthorization.CurrentAccount)
        return account ?? (yield* Problems.fail("missing_access_token"))
      })
    })
  })
)
