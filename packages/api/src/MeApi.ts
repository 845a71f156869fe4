/**
 * The HTTP contract of `/v1/me`.
 *
 * @since 0.1.0
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Me } from "./ApiKey.ts"
import { DeveloperAuthorization } from "./DeveloperAuthorization.ts"
import * as Problems from "./Problems.ts"

/**
 * The endpoint `/v1/me`.
 *
 * @category models
 * @since 0.1.0
 */
export class MeApi extends HttpApiGroup.make("me")
  .add(
    HttpApiEndpoint.get("get", "/v1/me", { success: Me, error: Problems.errors() }).annotateMerge(
      OpenApi.annotations({ summary: "Get the API key of the request" })
    )
  )
  .middleware(DeveloperAuthorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Me", description: "The API key of the request and its organization." })
  ) {}
