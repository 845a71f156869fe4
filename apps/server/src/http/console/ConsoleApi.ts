/** The session routes of the console. They are not part of the public contract: only the console's own page calls them. */
import { Account, Problems, Validation } from "@govoice/api"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSchema } from "effect/http-api"

/** Middleware that answers only requests from pages of the same origin. */
export class SameOrigin extends HttpApiMiddleware.Service<SameOrigin>()("@govoice/server/http/console/SameOrigin", {
  error: Problems.schemas("cross_site_request")
}) {}

const AccessToken = Schema.Struct({
  access_token: Schema.String,
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Int
})

const Language = Schema.Literals(["en", "pl"])

// The language of the page becomes that of mails to the account.
const Credentials = Schema.Struct({
  ...Account.Credentials.fields,
  remember: Schema.optionalKey(Schema.Boolean),
  language: Schema.optionalKey(Language)
})

class ConsoleSessionApi extends HttpApiGroup.make("consoleSession")
  .add(
    HttpApiEndpoint.post("open", "/console/session", {
      payload: Credentials,
      success: AccessToken,
      error: Problems.errors("invalid_credentials", "rate_limit_exceeded")
    }),
    HttpApiEndpoint.post("refresh", "/console/session/refresh", {
      payload: Schema.Struct({ language: Schema.optionalKey(Language) }),
      success: AccessToken,
      error: Problems.errors("invalid_refresh_token", "rate_limit_exceeded")
    }),
    HttpApiEndpoint.post("requestReset", "/console/password-reset", {
      payload: Schema.Struct({ email: Account.Credentials.fields.email, language: Language }),
      success: HttpApiSchema.NoContent,
      error: Problems.errors("not_found", "rate_limit_exceeded")
    }),
    HttpApiEndpoint.post("resetPassword", "/console/password-reset/confirm", {
      payload: Schema.Struct({ token: Schema.String, password: Account.NewAccount.fields.password }),
      success: HttpApiSchema.NoContent,
      error: Problems.errors("invalid_parameter", "rate_limit_exceeded")
    })
  )
  .middleware(Validation.ParameterValidation)
  .middleware(Validation.BodyReading)
  .add(
    HttpApiEndpoint.delete("end", "/console/session", {
      success: HttpApiSchema.NoContent,
      error: Problems.errors("rate_limit_exceeded")
    })
  )
  .middleware(SameOrigin) {}

/** The session routes. */
export class ConsoleApi extends HttpApi.make("govoice-console")
  .add(ConsoleSessionApi)
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" }) {}
