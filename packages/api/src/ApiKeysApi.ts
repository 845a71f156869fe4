/**
 * The HTTP contract of API keys.
 *
 * @since 0.1.0
 */
import { Mode, Timestamp } from "@govoice/core"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { AccountAuthorization } from "./AccountAuthorization.ts"
import { ApiKey, NewApiKey } from "./ApiKey.ts"
import * as Fields from "./Fields.ts"
import * as Lists from "./Lists.ts"
import * as Problems from "./Problems.ts"
import { BodyReading, ParameterValidation } from "./Validation.ts"

const params = { org_id: Schema.String.annotate({ description: "The identifier of an organization, `org_…`." }) }

/**
 * API keys of an organization.
 *
 * @category models
 * @since 0.1.0
 */
export class ApiKeysApi extends HttpApiGroup.make("apiKeys")
  .add(
    HttpApiEndpoint.post("create", "/v1/control-plane/organizations/:org_id/api-keys", {
      params,
      payload: Schema.Struct({
        mode: Mode.Mode,
        name: Schema.optionalKey(Schema.NullOr(Fields.text(1, 100)).annotate({ description: "A name for the key." })),
        expires_at: Schema.optionalKey(
          Schema.NullOr(Timestamp.TimestampInput).annotate({
            description: "The time at which the key expires, ISO 8601 in UTC. Null or missing: it does not expire.",
            examples: ["2027-11-20T09:00:00Z"]
          })
        )
      }).annotate({ identifier: "ApiKeyRequest" }),
      success: NewApiKey.pipe(HttpApiSchema.status(201)),
      error: Problems.errors("organization_not_found", "limit_reached")
    })
      .middleware(BodyReading)
      .annotateMerge(
        OpenApi.annotations({ summary: "Create an API key", description: "Only this response contains the key." })
      ),
    HttpApiEndpoint.get("list", "/v1/control-plane/organizations/:org_id/api-keys", {
      params,
      query: Lists.pageQuery,
      success: Lists.page("ApiKeyList", ApiKey),
      error: Problems.errors("organization_not_found")
    }).annotateMerge(OpenApi.annotations({ summary: "List API keys that are not revoked" }))
  )
  .middleware(ParameterValidation)
  .add(
    HttpApiEndpoint.delete("revoke", "/v1/control-plane/api-keys/:key_id", {
      params: { key_id: Schema.String.annotate({ description: "The identifier of an API key, `key_…`." }) },
      success: HttpApiSchema.NoContent,
      error: Problems.errors("api_key_not_found")
    }).annotateMerge(OpenApi.annotations({ summary: "Revoke an API key" }))
  )
  .middleware(AccountAuthorization)
  .annotateMerge(OpenApi.annotations({ title: "API keys", description: "The credentials of the developer API." })) {}
