/**
 * Who is calling the developer API. How a key is looked up and how often it may call is the server's business.
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
 * The API key that came with the request.
 *
 * @category services
 * @since 0.1.0
 */
export class CurrentApiKey extends Context.Service<
  CurrentApiKey,
  { readonly id: Ids.ApiKeyId; readonly organizationId: Ids.OrganizationId; readonly mode: Mode.Mode }
>()("@govoice/api/CurrentApiKey") {}

/**
 * Middleware that turns a bearer API key into the `CurrentApiKey`, within the limits of that key.
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
        OpenApi.annotations({ description: "A developer API key: `sk_test_…` for the sandbox, `sk_live_…` for live." })
      )
    )
  },
  error: Problems.schemas("missing_api_key", "rate_limit_exceeded")
}) {}
