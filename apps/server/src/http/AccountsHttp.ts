/**
 * Serves accounts and logins.
 *
 * @since 0.1.0
 */
import { type Account, AccountAuthorization, Api, Problems } from "@govoice/api"
import { Effect, Option } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AccessTokens, type Claims, lifetime as accessLifetime } from "../security/AccessTokens.ts"
import { Credentials } from "../security/Credentials.ts"
import { LoginGuard } from "../security/LoginGuard.ts"
import * as OpaqueToken from "../security/OpaqueToken.ts"
import { Passwords } from "../security/Passwords.ts"
import { Settings } from "../settings/Settings.ts"
import { Accounts } from "../store/Accounts.ts"
import { lifetime as refreshLifetime, Logins } from "../store/Logins.ts"

const addressOf = (request: HttpServerRequest.HttpServerRequest): string | undefined =>
  Option.getOrUndefined(request.remoteAddress)

const pause = Effect.fnUntraced(function* (waitMs: number) {
  if (waitMs === 0) return
  yield* HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(Math.ceil(waitMs / 1000))))
  )
  return yield* Problems.fail("rate_limit_exceeded")
})

/**
 * Layer that implements the `accounts` group.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = HttpApiBuilder.group(
  Api,
  "accounts",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const accessTokens = yield* AccessTokens
    const credentials = yield* Credentials
    const guard = yield* LoginGuard
    const logins = yield* Logins
    const passwords = yield* Passwords
    const { signupOpen } = yield* Settings

    const tokens = (claims: Claims, refreshToken: string): Effect.Effect<Account.TokenPair> =>
      Effect.map(accessTokens.issue(claims), (accessToken) => ({
        access_token: accessToken,
        token_type: "Bearer",
        expires_in: accessLifetime,
        refresh_token: refreshToken,
        refresh_expires_in: refreshLifetime
      }))

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload, request }) {
        if (!signupOpen) return yield* Problems.fail("signup_disabled")
        yield* pause(yield* guard.call("signup", addressOf(request)))

        const hash = yield* passwords.hash(payload.password)
        return yield* accounts
          .create(payload.email, hash)
          .pipe(Effect.catchTag("EmailTaken", () => Problems.fail("email_taken")))
      }),

      login: Effect.fnUntraced(function* ({ payload, request }) {
        const { email } = payload
        yield* pause(yield* guard.call("login", addressOf(request)))
        yield* pause(yield* guard.emailWait(email))

        const account = yield* accounts.findCredentials(email)
        const matches = yield* passwords.verify(payload.password, account?.passwordHash)
        // Guesses that were sent at once have failed meanwhile. Beyond the limit not even a right one is confirmed.
        yield* pause(yield* guard.emailWait(email))
        if (account === undefined || !matches) {
          yield* guard.failed(email)
          return yield* Problems.fail("invalid_credentials")
        }
        const refreshToken = OpaqueToken.refreshToken()
        return yield* tokens(yield* logins.open(account.id, OpaqueToken.hash(refreshToken)), refreshToken)
      }),

      refresh: Effect.fnUntraced(function* ({ payload, request }) {
        yield* pause(yield* guard.call("refresh", addressOf(request)))

        const refreshToken = OpaqueToken.refreshToken()
        const claims = yield* logins
          .rotate(OpaqueToken.hash(payload.refresh_token), OpaqueToken.hash(refreshToken))
          .pipe(
            Effect.catchTag("InvalidRefreshToken", ({ revoked }) =>
              Effect.andThen(
                revoked === undefined ? Effect.void : credentials.forgetLogin(revoked),
                Problems.fail("invalid_refresh_token")
              )
            )
          )
        return yield* tokens(claims, refreshToken)
      }),

      logout: Effect.fnUntraced(function* ({ payload }) {
        const ended = yield* logins.revoke(OpaqueToken.hash(payload.refresh_token))
        if (ended !== undefined) yield* credentials.forgetLogin(ended)
      }),

      get: Effect.fnUntraced(function* () {
        const account = yield* accounts.find(yield* AccountAuthorization.CurrentAccount)
        return account ?? (yield* Problems.fail("missing_access_token"))
      })
    })
  })
)
