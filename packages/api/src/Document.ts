/**
 * Completes the OpenAPI document with facts that hold for all responses or for no operation in particular.
 *
 * It adds no path, member or code to the document that Effect derives from the declarations. `Api` uses `transform`, so
 * the served document, references and generated clients are the same.
 *
 * @since 0.1.0
 */
import type * as OpenApi from "effect/http-api/OpenApi"
import { headers } from "./internal/document/headers.ts"
import { openSchemas } from "./internal/document/growth.ts"
import { operate } from "./internal/document/operations.ts"
import { component, describe, problemExamples } from "./internal/document/responses.ts"
import { tag, webhooks } from "./internal/document/webhooks.ts"
import * as Problems from "./Problems.ts"

/**
 * The errors that any path can return, including paths that are not in the document.
 *
 * @category constants
 * @since 0.1.0
 */
export const anywhere = [
  "not_found",
  "method_not_allowed",
  "malformed_request",
  "headers_too_large"
] as const satisfies ReadonlyArray<Problems.Code>

const description = `Submit e-invoices, follow them through the national system or a sandbox, receive events by signed webhook, and download official receipts.

## Credentials
Send credentials as \`Authorization: Bearer …\`. The developer API accepts API keys: \`sk_test_…\` for the sandbox, \`sk_live_…\` for the national system. The control plane, under \`/v1/control-plane\`, accepts the access token of a login. Resources of another account or of the other mode get the same response as unknown ones. A 401 has \`WWW-Authenticate: Bearer\`.

## Requests
Bodies are JSON objects in UTF-8, not compressed. Unknown members are an error. Lengths count Unicode code points. Each path with GET also supports HEAD, and OPTIONS returns 204 with \`Allow\`. Paths are compared exactly: another letter case, a double slash or a slash at the end is another path. Responses are not cacheable (\`Cache-Control: no-store\`).

## Errors
Each response with a status of 400 or more has the body \`Error\`. Branch on \`code\`, show \`message\` to people, and quote \`request_id\` in reports. \`/docs/errors/{code}\` has the causes and the remedy of a code. In addition to the errors of each operation, any path can return:

${describe(anywhere)}

## Idempotency
A submission requires an \`Idempotency-Key\`. The same key with the same invoice returns the first response with \`Idempotent-Replayed: true\` and creates nothing. The same key with another invoice returns \`idempotency_conflict\`. Keys are scoped to an organization and a mode. A request that fails validation does not use up its key.

## What may grow
Responses and events may get new members, and a string with \`x-extensible-enum\` may get values beside those that it lists, such as a new status, event type or error code. Ignore members that you do not know, and have a branch for other values. Requests have no other members and values than those of this document.

## Lists
Lists are sorted newest first. While \`has_more\` is true, pass \`next_cursor\` as \`cursor\` with the same filters to get the next page. A page can have fewer records than \`limit\` and still have a next one, because it ends once it has 4 MB of metadata. With a filter, it can even be empty.

## Rate limits
Each API key has its own rate limit, the keys of an organization share one, and so do the control-plane requests of an account. On the developer API, \`RateLimit\` has the remaining limit and \`RateLimit-Policy\` the limit, on each response to a request with a valid key. A 429 has \`Retry-After\`.
`

const groups = [
  { name: "Developer API", tags: ["Invoices", "Me", tag.name] },
  { name: "Control plane", tags: ["Accounts", "Organizations", "API keys", "Webhook endpoints"] }
]

const order = groups.flatMap((group) => group.tags)

const complete = (derived: OpenApi.OpenAPISpec) => ({
  openapi: derived.openapi,
  info: { ...derived.info, description },
  servers: [{ url: "/", description: "The deployment that serves this document." }],
  tags: [...derived.tags, tag].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
  "x-tagGroups": groups,
  security: derived.security,
  paths: Object.fromEntries(
    Object.entries(derived.paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item as Record<string, OpenApi.OpenAPISpecOperation>).map(([method, operation]) => [
          method,
          operate(operation)
        ])
      )
    ])
  ),
  webhooks,
  components: {
    schemas: openSchemas(derived),
    headers,
    responses: Object.fromEntries(
      anywhere.map((code) => [Problems.identifier(code).replace(/Error$/, ""), component(code)])
    ),
    examples: problemExamples,
    securitySchemes: Object.fromEntries(
      Object.entries(derived.components.securitySchemes).map(([name, scheme]) => [
        name,
        // The registry of schemes has lowercase names, although case does not matter.
        scheme.type === "http" ? { ...scheme, scheme: scheme.scheme.toLowerCase() } : scheme
      ])
    )
  }
})

/**
 * Completes the document that Effect derived from the declarations.
 *
 * **Details**
 *
 * It adds:
 *
 * - the headers of all responses, of the developer API and of retryable errors
 * - usual case for header names, and descriptions on headers and parameters
 * - a list of codes for responses that several errors share, and an example of each error
 * - the errors that any path can return, under `components.responses`
 * - what may grow: schemas of responses and events allow members and values that a later version may add
 * - the requests that the service sends, under `webhooks`
 *
 * @category transformations
 * @since 0.1.0
 */
export const transform = (derived: Record<string, unknown>): Record<string, unknown> =>
  complete(derived as unknown as OpenApi.OpenAPISpec)
