/**
 * Authorization of the developer API. The server looks up the key and applies its rate limit.
 *
 * @since 0.1.0
 */
import type { Ids, Mode } from "@govoice/core"
import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Problems from "./Problems.ts"

/**
 * The API key of the request.
 *
 * @category services
 * @since 0.1.0
 */
export class CurrentApiKey extends Context.Service<
  CurrentApiKey,
  {
    readonly id: Ids.ApiKeyId
    readonly accountId: Ids.AccountId
    readonly organizationId: Ids.OrganizationId
    readonly mode: Mode.Mode
  }
>()("@govoice/api/CurrentApiKey") {}

/**
 * Middleware that verifies the API key, applies its rate limit and provides the `CurrentApiKey`.
 *
 * @category services
 * @since 0.1.0
 */
export class DeveloperAuthorization extends HttpApiMiddleware.Service<
  DeveloperAuthorization,
  { provides: CurrentApiKey }
>()("@govoice/api/DeveloperAuthorization", {
  requiredForClient: true,
  security: {
    apiKey: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotateMerge(
        OpenApi.annotations({
          description: "An API key: `sk_test_…` for the sandbox, `sk_live_…` for the national system."
        })
      )
    )
  },
  error: Problems.schemas("missing_api_key", "rate_limit_exceeded")
}) {}
