/** The OpenAPI document that the server serves, and from which the reference is made. */
import { Api } from "@govoice/api"
import { OpenApi } from "effect/http-api"

/** Makes the document. */
export const make = (): OpenApi.OpenAPISpec => OpenApi.fromApi(Api)
