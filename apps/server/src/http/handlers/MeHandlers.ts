/** Serves `/v1/me`. */
import { Api, DeveloperAuthorization, Problems } from "@govoice/api"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { GatewayCredentials } from "../../invoices/ksef/GatewayCredentials.ts"
import { ApiKeys } from "../../accounts/ApiKeys.ts"

/** Layer that implements the `me` group. */
export const layer = HttpApiBuilder.group(
  Api,
  "me",
  Effect.fnUntraced(function* (handlers) {
    const apiKeys = yield* ApiKeys
    const credentials = yield* GatewayCredentials

    return handlers.handleAll({
      get: Effect.fnUntraced(function* () {
        const key = yield* DeveloperAuthorization.CurrentApiKey
        const described = yield* apiKeys.describe(key)
        // Revoked between the check and here.
        if (described === undefined) return yield* Problems.fail("missing_api_key")
        return { ...described, live_mode_available: yield* credentials.isLiveModeAvailable(key.organizationId) }
      })
    })
  })
)
