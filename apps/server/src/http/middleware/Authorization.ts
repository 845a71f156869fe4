/** Authenticates bearer credentials, and applies the limits of the key or the account. */
import { AccountAuthorization, DeveloperAuthorization, Problems } from "@govoice/api"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import type { SessionIdentity } from "../../accounts/AccessTokens.ts"
import * as Slots from "../../limits/Slots.ts"
import { Authenticator } from "../../accounts/Authenticator.ts"
import { Directory } from "../../cells/Directory.ts"
import { Settings } from "../../settings/Settings.ts"
import * as ClientAddress from "../transport/ClientAddress.ts"
import * as Target from "../transport/RequestTarget.ts"
import { RateLimits } from "./RateLimits.ts"
import * as Throttling from "./Throttling.ts"

/** The session of the access token. `undefined` without one. */
export const CurrentSession = Context.Reference<SessionIdentity | undefined>("@govoice/server/http/CurrentSession", {
  defaultValue: () => undefined
})

const keyFault = (credential: Redacted.Redacted): string | undefined =>
  Redacted.value(credential) === ""
    ? undefined
    : "The API key is unknown, expired or revoked. Check that it is complete (sk_…) and of this deployment, or create another."

/** Provides `DeveloperAuthorization`: a valid API key within its rate limit. */
export const layerDeveloper = Layer.effect(
  DeveloperAuthorization.DeveloperAuthorization,
  Effect.gen(function* () {
    const authenticator = yield* Authenticator
    const rateLimits = yield* RateLimits

    return {
      apiKey: Effect.fnUntraced(function* (httpEffect, { credential }) {
        const network = ClientAddress.groupOf(yield* HttpServerRequest.HttpServerRequest)
        const identity = yield* authenticator
          .authenticateApiKey(Redacted.value(credential), network)
          .pipe(Effect.catchTag("Throttled", Throttling.fail))
        if (identity === undefined) return yield* Problems.fail("missing_api_key", { message: keyFault(credential) })
        yield* rateLimits.take(identity)
        const { accountId, id, mode, organizationId } = identity
        return yield* Effect.provideService(httpEffect, DeveloperAuthorization.CurrentApiKey, {
          id,
          mode,
          accountId,
          organizationId
        })
      })
    }
  })
)

/**
 * How many reads of all accounts together are in progress in one process: half of the connections to the database, so that
 * submissions and writes find one. Requests with a body are not counted: it can arrive slowly.
 */
export const maxReads = 10
const maxWaiting = 1000

/** Lists and files of invoices have turns of their own, for which they can wait long: they would keep those of others. */
const hasOwnTurns = /\/invoices(?:\/[^/]+\/(?:document|pdf|upo))?$/u

/** How many requests of one account are in progress in one process. Others wait for their turn. */
export const accountConcurrency = 4

/** Provides `AccountAuthorization`: a valid access token of an active session, within the limits of its account. */
export const layerAccount = Layer.effect(
  AccountAuthorization.AccountAuthorization,
  Effect.gen(function* () {
    const authenticator = yield* Authenticator
    const rateLimits = yield* RateLimits
    const directory = yield* Directory
    const { rateLimit } = yield* Settings
    const limit = { name: "account-concurrency", quota: accountConcurrency, unit: "concurrent-requests" } as const
    const ofAccounts = Slots.make({
      slots: Infinity,
      slotsPerGroup: accountConcurrency,
      maxWaiting: Infinity,
      // The requests that its rate limit lets an account send at once.
      maxWaitingPerGroup: rateLimit.account.burst,
      maxWaitMs: Slots.turnMs
    })
    const ofReads = Slots.make({
      slots: maxReads,
      maxWaiting,
      maxWaitingPerGroup: accountConcurrency,
      maxWaitMs: Slots.turnMs
    })

    return {
      accessToken: Effect.fnUntraced(function* (httpEffect, { credential }) {
        const session = yield* authenticator.authenticateAccessToken(Redacted.value(credential))
        if (session === undefined) return yield* Problems.fail("missing_access_token")
        yield* rateLimits.takeForAccount(session.accountId)
        const request = yield* HttpServerRequest.HttpServerRequest
        const { method } = request
        const path = Target.read(request)?.plainPath ?? ""
        const takesTurn = (method === "GET" || method === "HEAD") && !hasOwnTurns.test(path)
        const served = httpEffect.pipe(
          Effect.provideService(AccountAuthorization.CurrentAccount, session.accountId),
          Effect.provideService(CurrentSession, session)
        )
        const reading = takesTurn
          ? Effect.catchTag(ofReads.run(session.accountId)(served), "NoSlot", () => Throttling.failWithoutTurn)
          : served
        // An account can name organizations that will never arrive.
        const arrived = directory === undefined ? Effect.void : directory.awaitOrganization(method, path)
        return yield* ofAccounts
          .run(session.accountId)(Effect.andThen(arrived, reading))
          .pipe(Effect.catchTag("NoSlot", () => Throttling.fail({ limit, waitMs: 1000 })))
      })
    }
  })
)
