/**
 * What the OpenAPI document says beyond the declarations: what is true of every answer, or of no endpoint in particular.
 *
 * It adds to the document that Effect derives and invents no path, member or code: those are the declarations'. `Api`
 * carries `transform`, so whatever is made from `Api` (a served document, a reference, a generated client) sees the same.
 *
 * @since 0.1.0
 */
import { ErrorCatalogue, InvoiceEvent } from "@govoice/core"
import type * as OpenApi from "effect/http-api/OpenApi"
import * as Examples from "./internal/examples.ts"
import * as Lists from "./Lists.ts"
import * as Problems from "./Problems.ts"

/**
 * The errors that any path can answer with, also one that is not in the document.
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

const ref = (kind: "schemas" | "headers" | "examples", name: string) => ({ $ref: `#/components/${kind}/${name}` })

const byIdentifier = new Map(
  ErrorCatalogue.codes.map((code) => [`#/components/schemas/${Problems.identifier(code)}`, code])
)

// -----------------------------------------------------------------------------
// Headers
// -----------------------------------------------------------------------------

const headers = {
  RequestId: {
    description: "Made by the server for every answer. Errors repeat it as `request_id`.",
    required: true,
    schema: { type: "string", pattern: "^req_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
    example: Examples.problem("internal_error").error.request_id
  },
  RateLimit: {
    description: "What is left of the limit of this API key. On every answer to a request whose key was recognised.",
    schema: { type: "string" },
    example: '"default";r=199;t=1'
  },
  RateLimitPolicy: {
    description: "The limit of this API key. On every answer to a request whose key was recognised.",
    schema: { type: "string" },
    example: '"default";q=200;w=2'
  },
  RetryAfter: {
    description: "How many seconds to wait before the request is sent again.",
    schema: { type: "integer", minimum: 0 },
    example: 1
  },
  Allow: {
    description: "The methods that the path takes.",
    required: true,
    schema: { type: "string" },
    example: "GET, HEAD, POST, OPTIONS"
  }
} as const

// Effect writes names in lower case. On the wire it is the same header; a reader looks for the name in the guides.
const canonical = (name: string): string =>
  name === "etag" ? "ETag" : name.replaceAll(/(?:^|-)[a-z]/g, (letters) => letters.toUpperCase())

const headersOf = (status: number, developer: boolean) => ({
  "Request-Id": ref("headers", "RequestId"),
  ...(developer && status !== 401
    ? { RateLimit: ref("headers", "RateLimit"), "RateLimit-Policy": ref("headers", "RateLimitPolicy") }
    : {}),
  ...(status === 429 || status === 503 ? { "Retry-After": ref("headers", "RetryAfter") } : {}),
  ...(status === 405 ? { Allow: ref("headers", "Allow") } : {})
})

// -----------------------------------------------------------------------------
// Answers
// -----------------------------------------------------------------------------

const describe = (codes: ReadonlyArray<Problems.Code>): string => {
  const lines = codes.map((code) => `\`${code}\`: ${ErrorCatalogue.catalogue[code].message}`)
  return lines.length === 1 ? lines.join("") : lines.map((line) => `- ${line}`).join("\n")
}

const examplesOf = (codes: ReadonlyArray<Problems.Code>) =>
  Object.fromEntries(codes.map((code) => [code, ref("examples", code)]))

const codesOf = (response: OpenApi.OpenApiSpecResponse): ReadonlyArray<Problems.Code> => {
  const schema = response.content?.["application/json"]?.schema
  const members: ReadonlyArray<unknown> = Array.isArray(schema?.["anyOf"]) ? schema["anyOf"] : [schema]
  return members.flatMap((member) => byIdentifier.get((member as { $ref?: string } | undefined)?.$ref ?? "") ?? [])
}

// A description belongs to the header or the parameter, and a constraint that stands alone needs no `allOf`.
const lift = ({ schema, ...rest }: OpenApi.OpenAPISpecHeader) => {
  const { allOf, description, ...own } = schema as { allOf?: ReadonlyArray<object>; description?: string }
  const constraint = allOf?.length === 1 ? allOf[0] : allOf === undefined ? {} : { allOf }
  return { ...rest, ...(description === undefined ? {} : { description }), schema: { ...own, ...constraint } }
}

const respond = (
  response: OpenApi.OpenApiSpecResponse,
  options: { readonly status: number; readonly developer: boolean; readonly example: unknown }
) => {
  const codes = codesOf(response)
  const json = response.content?.["application/json"]
  return {
    description:
      codes.length > 0
        ? describe(codes)
        : response.description === "<No Content>"
          ? "Done. There is nothing to return."
          : response.description,
    headers: {
      ...Object.fromEntries(
        Object.entries(response.headers ?? {}).map(([name, header]) => [canonical(name), lift(header)])
      ),
      ...headersOf(options.status, options.developer)
    },
    ...(response.content === undefined ? {} : { content: response.content }),
    ...(json === undefined
      ? {}
      : {
          content: {
            "application/json": {
              ...json,
              ...(codes.length > 0 ? { examples: examplesOf(codes) } : { example: options.example })
            }
          }
        })
  }
}

// -----------------------------------------------------------------------------
// Operations
// -----------------------------------------------------------------------------

const parametrize = ({ in: place, name, ...rest }: OpenApi.OpenAPISpecParameter) => ({
  name: place === "header" ? canonical(name) : name,
  in: place,
  ...lift(rest),
  ...(place === "query" && name === "limit"
    ? { description: "How many records to return.", schema: Lists.limitJsonSchema }
    : {})
})

const operate = (operation: OpenApi.OpenAPISpecOperation) => {
  const example = Examples.of(operation.operationId)
  const developer = operation.security.some((requirement) => "apiKey" in requirement)
  const body = operation.requestBody
  const responses = Object.entries(operation.responses as Record<string, OpenApi.OpenApiSpecResponse>)
  // An answer that says that nothing has changed repeats the validator (RFC 9110 §15.4.5).
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

// -----------------------------------------------------------------------------
// Webhooks
// -----------------------------------------------------------------------------

const tag = {
  name: "Webhooks",
  description:
    "What the service sends to the endpoints of an organization. At least once, and in no certain order: tell events apart by their `id`."
}

const milestones: Readonly<Record<InvoiceEvent.EventType, string>> = {
  "invoice.received": "An invoice is stored",
  "invoice.submitted": "The national system has the invoice",
  "invoice.accepted": "An official number is assigned",
  "invoice.upo_available": "The official receipt (UPO) can be downloaded",
  "invoice.rejected": "The national system refused the invoice",
  "invoice.failed": "There is no verdict after all attempts"
}

const signatureHeaders = (event: InvoiceEvent.InvoiceEvent) => [
  {
    name: "Gov-Event-Id",
    in: "header",
    required: true,
    description: "The `id` of the event, the same on every attempt. Not covered by the signature.",
    schema: { type: "string", pattern: "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
    example: event.id
  },
  {
    name: "Gov-Timestamp",
    in: "header",
    required: true,
    description: "When this attempt was signed, ISO 8601 in UTC. Refuse what is too old.",
    schema: { type: "string", format: "date-time" },
    example: event.created_at
  },
  {
    name: "Gov-Signature",
    in: "header",
    required: true,
    description:
      "`v1=` and the HMAC-SHA256, in lowercase hexadecimal, of the value of `Gov-Timestamp`, a full stop and the raw body, under the signing secret of the endpoint (the whole string, with `whsec_`). Compare in constant time, over the bytes as they came.",
    schema: { type: "string", pattern: "^v1=[0-9a-f]{64}$" },
    example: "v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd"
  }
]

const answers = {
  "2XX": { description: "The event is stored durably, or was before. Nothing else ends a delivery well." },
  "3XX": { description: "Failed for good: redirects are never followed." },
  "429": { description: "Sent again later, not before `Retry-After` says." },
  "4XX": { description: "Failed for good." },
  "5XX": {
    description: "Sent again later. So is what was not answered in time. A 503 may say when, in `Retry-After`."
  }
}

const webhook = (type: InvoiceEvent.EventType) => ({
  post: {
    tags: [tag.name],
    operationId: `webhooks.${type}`,
    summary: milestones[type],
    description:
      "Sent to every enabled endpoint that hears of this type. Verify the signature over the raw body before anything else; the answer's body is not read.",
    security: [],
    parameters: signatureHeaders(Examples.events[type]),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            allOf: [
              ref("schemas", "Event"),
              { type: "object", properties: { type: { const: type } }, required: ["type"] }
            ]
          },
          example: Examples.events[type]
        }
      }
    },
    responses: answers
  }
})

// -----------------------------------------------------------------------------
// Document
// -----------------------------------------------------------------------------

const description = `Submit e-invoices, follow them through the national system or a sandbox, hear of every milestone by signed webhook, download official receipts.

## Credentials
Both kinds are sent as \`Authorization: Bearer …\`. The developer API takes API keys: \`sk_test_…\` for the sandbox, \`sk_live_…\` for the national system. The control plane, under \`/v1/control-plane\`, takes the access token of a login. What belongs to somebody else, or to the other mode, is answered like what does not exist. A 401 carries \`WWW-Authenticate: Bearer\`.

## Requests
Bodies are JSON objects in UTF-8. A member that is not known is an error, so that a typing mistake is seen at once. Lengths count Unicode code points. Wherever there is GET there is HEAD, and OPTIONS answers 204 with \`Allow\`. A path is what it says, letter by letter: another case, a second slash or one at the end is another path. A body is sent uncompressed. No answer is to be kept by caches on the way (\`Cache-Control: no-store\`).

## Errors
Every answer with a status of 400 or more has the body \`Error\`: branch on \`code\`, show \`message\` to people, quote \`request_id\`. Besides the errors listed with each operation, any path can answer with one of these:

${describe(anywhere)}

## Idempotency
A submission carries an \`Idempotency-Key\` of your own. The same key with the same invoice returns the first answer, with \`Idempotent-Replayed: true\`, and makes nothing new; with another invoice it is an \`idempotency_conflict\`. Keys belong to an organization and a mode. A request that failed validation stores nothing, so its key may be used again.

## Lists
Newest first. While \`has_more\` is true, \`next_cursor\` continues the list, with the same filters.

## Rate limits
Each API key has its own. \`RateLimit\` says what is left and \`RateLimit-Policy\` what the limit is, on every answer to a request whose key was recognised. A 429 says in \`Retry-After\` how long to wait.
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
  webhooks: Object.fromEntries(InvoiceEvent.EventType.literals.map((type) => [type, webhook(type)])),
  components: {
    schemas: derived.components.schemas,
    headers,
    responses: Object.fromEntries(
      anywhere.map((code) => [
        Problems.identifier(code).replace(/Error$/, ""),
        {
          description: describe([code]),
          headers: headersOf(ErrorCatalogue.catalogue[code].status, false),
          content: {
            "application/json": { schema: ref("schemas", Problems.identifier(code)), examples: examplesOf([code]) }
          }
        }
      ])
    ),
    examples: Object.fromEntries(ErrorCatalogue.codes.map((code) => [code, { value: Examples.problem(code) }])),
    securitySchemes: Object.fromEntries(
      Object.entries(derived.components.securitySchemes).map(([name, scheme]) => [
        name,
        // Readers compare with the lower case of the registry, though case does not count.
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
 * - The headers that every answer has, and those of the developer API and of waiting.
 * - Names of headers in their usual case, and descriptions where readers look for them.
 * - A list of codes for answers that stand for several errors, and an example of each.
 * - The errors that any path can answer with, under `components.responses`.
 * - The requests that the service sends itself, under `webhooks`.
 *
 * @category transformations
 * @since 0.1.0
 */
export const transform = (derived: Record<string, unknown>): Record<string, unknown> =>
  complete(derived as unknown as OpenApi.OpenAPISpec)
