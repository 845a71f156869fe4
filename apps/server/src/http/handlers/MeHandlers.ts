/** Serves `/v1/me`. */
import { Api, DeveloperAuthorization, Problems } from "@govoice/api"
import { Effect } from "effect"
import * as RequestContext from "../RequestContext.ts"
import { LiveMode } from "../../invoices/live/LiveMode.ts"
import { ApiKeys } from "../../accounts/ApiKeys.ts"

/** Layer that implements the `me` group. */
export const layer = RequestContext.group(
  Api,
  "me",
  Effect.fnUntraced(function* (handlers) {
    const apiKeys = yield* ApiKeys
    const liveMode = yield* LiveMode

    return handlers.handleAll({
      get: Effect.fnUntraced(function* () {
        const key = yield* DeveloperAuthorization.CurrentApiKey
        const described = yield* apiKeys.describe(key)
        // Revoked between the check and here.
        if (described === undefined) return yield* Problems.fail("missing_api_key")
        return { ...described, live_mode_available: yield* liveMode.isAvailableTo(key.organizationId) }
      })
    })
  })
)
