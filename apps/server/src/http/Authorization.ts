/**
 * Turns bearer credentials into whoever is calling.
 *
 * @since 0.1.0
 */
import { AccountAuthorization, DeveloperAuthorization, Problems } from "@govoice/api"
import { Effect, Layer, Redacted } from "effect"
import { Credentials } from "../security/Credentials.ts"
import { RateLimits } from "./RateLimits.ts"

/**
 * Layer that provides `DeveloperAuthorization`: an API key that is good, within its rate limit.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerDeveloper = Layer.effect(
  DeveloperAuthorization.DeveloperAuthorization,
  Effect.gen(function* () {
    const credentials = yield* Credentials
    const rateLimits = yield* RateLimits

    return {
      apiKey: Effect.fnUntraced(function* (httpEffect, { credential }) {
        const grant = yield* credentials.ofApiKey(Redacted.value(credential))
        if (grant === undefined) return yield* Problems.fail("missing_api_key")
        yield* rateLimits.take(grant)
        const { id, mode, organizationId } = grant
        return yield* Effect.provideService(httpEffect, DeveloperAuthorization.CurrentApiKey, {
          id,
          mode,
          organizationId
        })
      })
    }
  })
)

/**
 * Layer that provides `AccountAuthorization`: an access token that is good, of a login that has not ended.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerAccount = Layer.effect(
  AccountAuthorization.AccountAuthorization,
  Effect.gen(function* () {
    const credentials = yield* Credentials

    return {
      accessToken: Effect.fnUntraced(function* (httpEffect, { credential }) {
        const claims = yield* credentials.ofAccessToken(Redacted.value(credential))
        if (claims === undefined) return yield* Problems.fail("missing_access_token")
        return yield* Effect.provideService(httpEffect, AccountAuthorization.CurrentAccount, claims.accountId)
      })
    }
  })
)
