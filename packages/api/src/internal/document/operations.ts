/**
 * The operations of the document: parameters, request body and responses.
 */
import type * as OpenApi from "effect/http-api/OpenApi"
import * as Lists from "../../Lists.ts"
import * as Examples from "./examples.ts"
import { canonical } from "./headers.ts"
import { lift, respond } from "./responses.ts"

const parametrize = ({ in: place, name, ...rest }: OpenApi.OpenAPISpecParameter) => ({
  name: place === "header" ? canonical(name) : name,
  in: place,
  ...lift(rest),
  example: Examples.parameter(name),
  ...(place === "query" && name === "limit"
    ? { description: "The maximum number of records of the page.", schema: Lists.limitJsonSchema }
    : {}),
  ...(place === "query" && name === "metadata"
    ? {
        description:
          "Only invoices whose metadata has this value of this key, as `metadata[order]=2026/11/0042`. With several keys, all of them.",
        style: "deepObject",
        explode: true,
        schema: { type: "object", additionalProperties: { type: "string" } }
      }
    : {})
})

/** Completes an operation that Effect derived. */
export const operate = (operation: OpenApi.OpenAPISpecOperation) => {
  const example = Examples.of(operation.operationId)
  const developer = operation.security.some((requirement) => "apiKey" in requirement)
  const body = operation.requestBody
  const responses = Object.entries(operation.responses as Record<string, OpenApi.OpenApiSpecResponse>)
  // A 304 repeats the ETag of the 200 (RFC 9110 §15.4.5).
  const validator = responses.flatMap(([, { headers }]) => headers?.["etag"] ?? [])[0]
  return {
    ...operation,
    parameters: operation.parameters.map(parametrize),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            ...body,
            content: { "application/json": { ...body.content["application/json"], example: example.request } }
          }
        }),
    responses: Object.fromEntries(
      responses.map(([status, response]) => [
        status,
        respond(
          status === "304" && validator !== undefined ? { ...response, headers: { etag: validator } } : response,
          { status: Number(status), developer, example: example.response }
        )
      ])
    )
  }
}
