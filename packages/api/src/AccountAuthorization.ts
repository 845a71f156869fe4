/**
 * Authorization of the control plane.
 *
 * @since 0.1.0
 */
import type { Ids } from "@govoice/core"
import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Problems from "./Problems.ts"

/**
 * The account of the access token.
 *
 * @category services
 * @since 0.1.0
 */
export class CurrentAccount extends Context.Service<CurrentAccount, Ids.AccountId>()("@govoice/api/CurrentAccount") {}

/**
 * Middleware that verifies the access token, applies the limits of its account and provides the `CurrentAccount`.
 *
 * @category services
 * @since 0.1.0
 */
export class AccountAuthorization extends HttpApiMiddleware.Service<
  AccountAuthorization,
  { provides: CurrentAccount }
>()("@govoice/api/AccountAuthorization", {
  requiredForClient: true,
  security: {
    accessToken: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotateMerge(OpenApi.annotations({ description: "The access token of a login.", format: "JWT" }))
    )
  },
  error: Problems.schemas("missing_access_token", "rate_limit_exceeded", "service_unavailable")
}) {}
