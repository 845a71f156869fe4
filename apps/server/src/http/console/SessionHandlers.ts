/**
 * Serves the sessions of the console: the page gets an access token, and the refresh token stays in a cookie.
 *
 * A refresh spends the token of the cookie and stores its successor. A cookie that comes again within the grace gets the same
 * successor; later, it was stolen, and the session ends.
 */
import { Problems } from "@govoice/api"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { Accounts } from "../../accounts/Accounts.ts"
import { AccessTokens, lifetime, type SessionIdentity } from "../../accounts/AccessTokens.ts"
import { Authenticator } from "../../accounts/Authenticator.ts"
import { Login } from "../../accounts/Login.ts"
import * as Email from "../../accounts/Email.ts"
import { Passwords } from "../../accounts/Passwords.ts"
import { type Language, PasswordResets } from "../../accounts/PasswordResets.ts"
import { Sessions } from "../../accounts/Sessions.ts"
import { Settings } from "../../settings/Settings.ts"
import { SlidingWindowStore } from "../../limits/SlidingWindows.ts"
import { failWhileWaiting } from "../../limits/Throttled.ts"
import * as OpaqueToken from "../../crypto/OpaqueToken.ts"
import { SuccessorTokens } from "../../crypto/SuccessorTokens.ts"
import { AddressLimits } from "../middleware/AddressLimits.ts"
import * as Throttling from "../middleware/Throttling.ts"
import * as ClientAddress from "../transport/ClientAddress.ts"
import { ConsoleApi } from "./ConsoleApi.ts"
import * as SessionCookie from "./SessionCookie.ts"

/** How many refreshes of a session a minute allows. */
export const maxRefreshes = 30

// An account that exists takes a write, and one that does not none: no answer comes before both are done.
const resetAnswerAfter = "500 millis"

const clearCookie = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "set-cookie", SessionCookie.clear))
)

const refuse = Effect.andThen(clearCookie, Problems.fail("invalid_refresh_token"))

/** Layer that implements the `consoleSession` group. */
export const layer = HttpApiBuilder.group(
  ConsoleApi,
  "consoleSession",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const accessTokens = yield* AccessTokens
    const addressLimits = yield* AddressLimits
    const authenticator = yield* Authenticator
    const login = yield* Login
    const passwords = yield* Passwords
    const resets = yield* PasswordResets
    const { mail } = yield* Settings
    const sessions = yield* Sessions
    const successors = yield* SuccessorTokens
    const windows = yield* SlidingWindowStore
    const refreshLimit = { name: "console-session", limit: maxRefreshes, windowMs: 60_000 }
    const refreshes = windows.make(refreshLimit)

    const respond = (session: SessionIdentity, cookie: Omit<SessionCookie.SessionCookie, "sessionId">) =>
      Effect.map(accessTokens.issue(session), (accessToken) =>
        HttpServerResponse.text(
          JSON.stringify({ access_token: accessToken, token_type: "Bearer", expires_in: lifetime }),
          {
            contentType: "application/json",
            headers: { "set-cookie": SessionCookie.set({ ...cookie, sessionId: session.sessionId }) }
          }
        )
      )

    const noteLanguage = ({ accountId }: SessionIdentity, language: Language | undefined) =>
      language === undefined ? Effect.void : accounts.setLanguage(accountId, language)

    const invalidate = (ended: SessionIdentity | undefined) =>
      ended === undefined ? Effect.void : authenticator.invalidateSession(ended)

    return handlers.handleAll({
      open: Effect.fnUntraced(
        function* ({ payload: { email, language, password, remember = false }, request }) {
          const network = ClientAddress.groupOf(request)
          const { refreshToken, session } = yield* login.logIn({ email, password, network })
          yield* noteLanguage(session, language)
          return yield* respond(session, { remember, refreshToken })
        },
        Effect.catchTags({
          InvalidCredentials: () => Problems.fail("invalid_credentials"),
          NoSlot: () => Throttling.failWithoutTurn,
          Throttled: Throttling.fail
        })
      ),

      refresh: Effect.fnUntraced(
        function* ({ payload: { language }, request }) {
          const cookie = SessionCookie.read(request.headers["cookie"])
          if (cookie === undefined) return yield* refuse
          yield* Effect.flatMap(refreshes.wait(cookie.sessionId), failWhileWaiting(refreshLimit))

          const refreshToken = successors.after(cookie.refreshToken)
          const session = yield* sessions
            .rotateWithGrace(OpaqueToken.hash(cookie.refreshToken), OpaqueToken.hash(refreshToken), cookie.sessionId)
            .pipe(
              Effect.catchTag("InvalidRefreshToken", ({ revoked }) =>
                Effect.gen(function* () {
                  yield* invalidate(revoked)
                  return yield* refuse
                })
              )
            )
          yield* refreshes.add(session.sessionId)
          yield* noteLanguage(session, language)
          return yield* respond(session, { ...cookie, refreshToken })
        },
        Effect.catchTag("Throttled", Throttling.fail)
      ),

      requestReset: Effect.fnUntraced(function* ({ payload: { email, language } }) {
        if (mail === undefined) return yield* Problems.fail("not_found")
        yield* Effect.all([resets.request(Email.normalize(email), language), Effect.sleep(resetAnswerAfter)], {
          concurrency: "unbounded",
          discard: true
        })
      }),

      resetPassword: Effect.fnUntraced(
        function* ({ payload: { password, token }, request }) {
          const hash = OpaqueToken.hash(token)
          const invalid = Problems.fail("invalid_parameter", {
            message: "The link was used, has expired, or was replaced by a newer one. Request another.",
            param: "token"
          })
          // Hashing a password costs, so nobody causes it without a link.
          if (!(yield* resets.isValid(hash))) return yield* invalid
          const passwordHash = yield* passwords.hash(password, { network: ClientAddress.groupOf(request) })
          const ended = yield* resets.use(hash, passwordHash)
          if (ended === undefined) return yield* invalid
          yield* Effect.forEach(ended, authenticator.invalidateSession, { discard: true })
        },
        Effect.catchTags({ NoSlot: () => Throttling.failWithoutTurn, Throttled: Throttling.fail })
      ),

      // As a refresh, it counts for its address when it fails.
      end: Effect.fnUntraced(
        function* ({ request }) {
          const cookie = SessionCookie.read(request.headers["cookie"])
          if (cookie !== undefined) {
            const address = Option.getOrUndefined(request.remoteAddress)
            yield* addressLimits.check("logout", address)
            const ended = yield* sessions.revoke(OpaqueToken.hash(cookie.refreshToken))
            if (ended === undefined) yield* addressLimits.take("logout", address)
            yield* invalidate(ended)
          }
          yield* clearCookie
        },
        Effect.catchTag("Throttled", Throttling.fail)
      )
    })
  })
)
