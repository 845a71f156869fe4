/**
 * The HTTP contract of accounts and logins.
 *
 * @since 0.1.0
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { Account, Credentials, NewAccount, TokenPair } from "./Account.ts"
import { AccountAuthorization } from "./AccountAuthorization.ts"
import * as Fields from "./Fields.ts"
import * as Problems from "./Problems.ts"
import { BodyReading, ParameterValidation } from "./Validation.ts"

const RefreshToken = Schema.Struct({ refresh_token: Fields.text(1, 512) }).annotate({ identifier: "RefreshToken" })

/**
 * Endpoints of accounts and logins.
 *
 * @category models
 * @since 0.1.0
 */
export class AccountsApi extends HttpApiGroup.make("accounts")
  .add(
    HttpApiEndpoint.post("create", "/v1/control-plane/accounts", {
      payload: NewAccount,
      success: Account.pipe(HttpApiSchema.status(201)),
      error: Problems.errors("email_taken", "signup_disabled", "rate_limit_exceeded")
    }).annotateMerge(OpenApi.annotations({ summary: "Create an account" })),
    HttpApiEndpoint.post("login", "/v1/control-plane/auth/login", {
      payload: Credentials,
      success: TokenPair,
      error: Problems.errors("invalid_credentials", "rate_limit_exceeded")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Log in",
        description: "The response and its time are the same for an unknown email and for a wrong password."
      })
    ),
    HttpApiEndpoint.post("refresh", "/v1/control-plane/auth/refresh", {
      payload: RefreshToken,
      success: TokenPair,
      error: Problems.errors("invalid_refresh_token", "rate_limit_exceeded")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Exchange a refresh token for new tokens",
        description: "The refresh token is valid once. Using it again revokes all tokens of the login."
      })
    ),
    HttpApiEndpoint.post("logout", "/v1/control-plane/auth/logout", {
      payload: RefreshToken,
      success: HttpApiSchema.NoContent,
      error: Problems.errors("rate_limit_exceeded")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Log out",
        description: "Revokes all tokens of the login. The response is the same for an unknown token."
      })
    )
  )
  .middleware(ParameterValidation)
  .middleware(BodyReading)
  .add(
    HttpApiEndpoint.put("changePassword", "/v1/control-plane/account/password", {
      payload: Schema.Struct({ current_password: Fields.text(1, 128), new_password: Fields.password }).annotate({
        identifier: "PasswordChange"
      }),
      success: HttpApiSchema.NoContent,
      error: Problems.errors("invalid_credentials", "rate_limit_exceeded")
    })
      .middleware(ParameterValidation)
      .middleware(BodyReading)
      .middleware(AccountAuthorization)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Change the password",
          description:
            "Revokes all tokens of all other logins of the account. A wrong current password counts as a failed login."
        })
      ),
    HttpApiEndpoint.post("logoutAll", "/v1/control-plane/auth/logout-all", {
      success: HttpApiSchema.NoContent,
      error: Problems.errors()
    })
      .middleware(AccountAuthorization)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Log out everywhere",
          description: "Revokes all tokens of all logins of the account, also those of this request."
        })
      ),
    HttpApiEndpoint.get("get", "/v1/control-plane/account", { success: Account, error: Problems.errors() })
      .middleware(AccountAuthorization)
      .annotateMerge(OpenApi.annotations({ summary: "Get the account of the login" }))
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Accounts", description: "Sign up, log in, refresh tokens, log out." })
  ) {}
