/**
 * Generates modules of `src` from the OpenAPI document, and of `@govoice/webhooks` from the descriptions of the event types.
 */
import { Api } from "@govoice/api"
import { ErrorCatalog, InvoiceEvent } from "@govoice/core"
import * as OpenApi from "effect/http-api/OpenApi"
import { isDeepStrictEqual } from "node:util"

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly "x-extensible-enum"?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | JsonSchema
}

/** The records of responses. A record that starts with the members of another one comes after it. */
const answers = [
  "Me",
  "Invoice",
  "Account",
  "Organization",
  "GatewayCredential",
  "OfflineCertificate",
  "ApiKey",
  "NewApiKey",
  "WebhookEndpoint",
  "NewWebhookEndpoint",
  "RotatedWebhookEndpoint",
  "WebhookDelivery",
  "DeliveryBucket",
  "WebhookDeliveryStats",
  "OwnerNotice",
  "OrganizationOverview",
  "CallLimit",
  "LiveStatus"
] as const

/** The request bodies: name in the document, name of the type, doc comment. */
const inputs = [
  ["NewAccount", "NewAccount", "The input of `createAccount`."],
  ["Credentials", "Credentials", "The input of `login`."],
  ["PasswordChange", "PasswordChange", "The input of `changePassword`."],
  ["OrganizationName", "OrganizationRequest", "The input of `createOrganization`."],
  [
    "OrganizationChange",
    "OrganizationChange",
    "The input of `updateOrganization`. Members that are left out are unchanged."
  ],
  ["KsefTokenCredential", "KsefTokenCredential", "A KSeF token, an input of `setGatewayCredential`."],
  [
    "CertificateCredential",
    "CertificateCredential",
    "A KSeF certificate of the type Authentication with its private key, an input of `setGatewayCredential`."
  ],
  [
    "OfflineCertificateRequest",
    "OfflineCertificateRequest",
    "The input of `setOfflineCertificate`: a KSeF certificate of the type Offline with its private key."
  ],
  ["ApiKeyRequest", "ApiKeyRequest", "The input of `createApiKey`."],
  ["WebhookEndpointRequest", "WebhookEndpointRequest", "The input of `createWebhookEndpoint`."],
  [
    "WebhookEndpointChange",
    "WebhookEndpointChange",
    "The input of `updateWebhookEndpoint`. Members that are left out are unchanged."
  ],
  ["SecretRotation", "SecretRotation", "The input of `rotateWebhookSecret`."]
] as const

/** The request bodies that have one of several types: name in the document, and of the type, doc comment. */
const unions = [
  ["GatewayCredentialRequest", "The input of `setGatewayCredential`. Without `type`, it is a token."]
] as const

/** The members that are checked of records that only this package reads. */
const read = {
  tokenPair: ["access_token", "refresh_token"],
  error: ["type", "code", "message", "param", "request_id", "retryable"],
  page: ["has_more", "next_cursor"]
} as const

/** Unions of values with a named type: a member that has it, the name, doc comment. */
const named = [
  ["Invoice.invoicing_mode", "InvoicingMode", "How an invoice was issued."],
  ["Invoice.mode", "Mode", "`test` for the sandbox, `live` for the national system."],
  ["Invoice.status", "InvoiceStatus", "The status of an invoice. `accepted`, `rejected` and `failed` are final."],
  ["Invoice.scenario", "SandboxScenario", "The sandbox scenario of an invoice."],
  ["GatewayCredential.type", "GatewayCredentialType", "The kind of a credential for the national system."],
  [
    "GatewayCredential.state",
    "GatewayCredentialState",
    "Whether the national system accepted a credential. `unchecked` until the first login with it."
  ],
  ["OfflineCertificate.state", "OfflineCertificateState", "Whether a certificate can sign now."],
  ["OwnerNotice.type", "OwnerNoticeType", "What the owner of an organization should know."],
  ["WebhookDelivery.status", "DeliveryStatus", "The status of a delivery."],
  ["WebhookDelivery.event_type", "EventType", "The type of an event."],
  ["WebhookDeliveryStats.window", "StatisticsWindow", "The time that statistics cover."]
] as const

const banner = (what: string): string =>
  `/**\n * ${what}\n *\n * Generated from @govoice/api by \`test/support/generate.ts\`. Do not edit.\n *\n * @module\n * @since 0.1.0\n */\n`

const comment = (text: string): string => `/**\n * ${text}\n *\n * @category models\n * @since 0.1.0\n */\n`

const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)
const refName = (ref: string): string => ref.split("/").at(-1)!

/** Returns the text of each module by its path under `src`. */
export const generated = (): Readonly<Record<string, string>> => {
  const { schemas } = OpenApi.fromApi(Api).components as unknown as {
    readonly schemas: Readonly<Record<string, JsonSchema>>
  }
  return {
    "records.ts": records(schemas),
    "internal/schemas.ts": recordSchemas(schemas),
    "errorCode.ts": errorCode(),
    "../../webhooks/src/internal/sampleDifferences.ts": sampleDifferences()
  }
}

// -----------------------------------------------------------------------------
// Types
// -----------------------------------------------------------------------------

const valuesOf = (schema: JsonSchema) => schema.enum ?? schema["x-extensible-enum"]
const literals = (schema: JsonSchema): ReadonlyArray<string> =>
  (valuesOf(schema) ?? []).map((value) => JSON.stringify(value))

// A newer service may send other values, so a union of several values is open.
const open = (values: ReadonlyArray<string>): string =>
  values.length === 1 ? values[0]! : `${values.join(" | ")} | (string & {})`

const unionAt = (schemas: Readonly<Record<string, JsonSchema>>, path: string): ReadonlyArray<string> => {
  const [record, member] = path.split(".") as [string, string]
  const schema = schemas[record]!.properties![member]!
  return literals(schema.anyOf?.[0] ?? schema)
}

const records = (schemas: Readonly<Record<string, JsonSchema>>): string => {
  const nameOf = new Map<string, string>(named.map(([path, name]) => [unionAt(schemas, path).join(), name]))

  const type = (schema: JsonSchema, depth: number, given: boolean): string => {
    if (schema.$ref !== undefined) return refName(schema.$ref)
    if (schema.anyOf !== undefined) return schema.anyOf.map((each) => type(each, depth, given)).join(" | ")
    if (valuesOf(schema) !== undefined) {
      const values = literals(schema)
      const name = nameOf.get(values.filter((value) => value !== '"*"').join())
      if (name === undefined) return given ? values.join(" | ") : open(values)
      return `${values.includes('"*"') ? '"*" | ' : ""}${given ? `Known<${name}>` : name}`
    }
    if (schema.type === "array") return `ReadonlyArray<${type(schema.items!, depth, given)}>`
    if (schema.type === "object" && schema.properties === undefined) return "{ readonly [name: string]: string }"
    if (schema.type === "object") return body(schema, depth + 1, given)
    if (schema.type === "integer" || schema.type === "number") return "number"
    if (schema.type === "string" || schema.type === "boolean" || schema.type === "null") return schema.type
    throw new Error(`No type for ${JSON.stringify(schema)}`)
  }

  const body = (schema: JsonSchema, depth: number, given: boolean, inherited: ReadonlyArray<string> = []): string => {
    const indent = "  ".repeat(depth)
    const members = Object.entries(schema.properties!)
      .filter(([name]) => !inherited.includes(name))
      .map(([name, member]) => {
        const mark = schema.required?.includes(name) === true ? "" : "?"
        const described = member.anyOf === undefined || member.description !== undefined ? member : member.anyOf[0]!
        const { description } = described
        const doc =
          description === undefined || description.startsWith("ISO 8601 in UTC with")
            ? ""
            : `${indent}/** ${description} */\n`
        const orUndefined = mark === "" ? "" : " | undefined"
        return `${doc}${indent}readonly ${camelCase(name)}${mark}: ${type(member, depth, given)}${orUndefined}`
      })
    return `{\n${members.join("\n")}\n${"  ".repeat(depth - 1)}}`
  }

  const namesOf = (record: string): ReadonlyArray<string> => Object.keys(schemas[record]!.properties!)
  const isBegunBy = (record: string, other: string): boolean =>
    namesOf(record).length > namesOf(other).length &&
    namesOf(other).every((name) =>
      isDeepStrictEqual(schemas[record]!.properties![name], schemas[other]!.properties![name])
    )

  return [
    banner(
      "The records of the API, in camelCase. Timestamps are ISO 8601 in UTC with milliseconds.\n *\n * Unions are open: a newer service may send other values."
    ),
    ...named.map(([path, name, what]) => `${comment(what)}export type ${name} = ${open(unionAt(schemas, path))}\n`),
    comment("The known values of an open union. Requests accept these only.") +
      "export type Known<T extends string> = T extends unknown ? (string extends T ? never : T) : never\n",
    ...answers.map((name) => {
      const base = answers.find((other) => isBegunBy(name, other))
      const inherited = base === undefined ? [] : namesOf(base)
      const head = `export interface ${name}${base === undefined ? "" : ` extends ${base}`}`
      return `${comment(schemas[name]!.description!)}${head} ${body(schemas[name]!, 1, false, inherited)}\n`
    }),
    ...inputs.map(
      ([name, alias, what]) => `${comment(what)}export interface ${alias} ${body(schemas[name]!, 1, true)}\n`
    ),
    ...unions.map(([name, what]) => `${comment(what)}export type ${name} = ${type(schemas[name]!, 1, true)}\n`)
  ].join("\n")
}

// -----------------------------------------------------------------------------
// Record schemas
// -----------------------------------------------------------------------------

// The format is that of `RecordSchema` in `internal/decode.ts`. The records of a list are checked one by one. What may be null within
// a record that may be null is not checked: it is text to show.
const members = (schema: JsonSchema, path: string, orNull = ""): ReadonlyArray<string> => {
  if (schema.anyOf !== undefined) {
    const [value, none, ...rest] = schema.anyOf
    if (none?.type !== "null" || rest.length > 0) throw new Error(`No check for ${JSON.stringify(schema)}`)
    return orNull === "" ? members(value!, path, "?") : []
  }
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([name, member]) => {
      if (schema.required?.includes(name) !== true) throw new Error(`${path}.${name} is optional in a response`)
      return members(member, path === "" ? camelCase(name) : `${path}.${camelCase(name)}`, orNull)
    })
  }
  if (schema.type === "array" && schema.items?.type !== "string") return []
  const types = { string: "", integer: ":n", number: ":n", boolean: ":b", array: ":o", object: ":o" }
  return [`${path}${types[schema.type as keyof typeof types]}${orNull}`]
}

const only = (schema: JsonSchema, names: ReadonlyArray<string>): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(names.map((name) => [name, schema.properties![name]!]))
})

const recordSchemas = (schemas: Readonly<Record<string, JsonSchema>>): string => {
  const lists = Object.entries(schemas).filter(([name]) => name.endsWith("List"))
  const pages = lists.map(([, schema]) => members(only(schema, read.page), "").join(" "))
  if (new Set(pages).size !== 1) throw new Error("The lists differ in more than their records")
  const recordSchema = (name: string, schema: JsonSchema): string =>
    `export const ${name} = ${JSON.stringify(members(schema, "").join(" "))}\n`
  return [
    banner("The schemas of responses, in the format of `RecordSchema`."),
    // Members of lists in records are not checked one by one.
    ...answers
      .filter((name) => name !== "CallLimit" && name !== "DeliveryBucket" && name !== "OwnerNotice")
      .map((name) => recordSchema(lowerFirst(name), schemas[name]!)),
    recordSchema("tokenPair", only(schemas["TokenPair"]!, read.tokenPair)),
    recordSchema("error", only(schemas["Error"]!.properties!["error"]!, read.error)),
    recordSchema("page", only(lists[0]![1], read.page))
  ].join("\n")
}

// -----------------------------------------------------------------------------
// Error codes
// -----------------------------------------------------------------------------

const errorCode = (): string =>
  [
    banner("The error codes of the API."),
    comment("The type of an API error.") +
      `export type ErrorType = ${open(ErrorCatalog.ErrorType.literals.map((type) => JSON.stringify(type)))}\n`,
    "/**",
    " * The code of an `ApiError`. Codes are stable. New codes may be added, so a `switch` over them needs a `default`.",
    " *",
    " * **Details**",
    " *",
    ...ErrorCatalog.codes.map((code) => {
      const { message, status } = ErrorCatalog.catalog[code]
      return ` * - \`${code}\` (${status}): ${message}`
    }),
    " * - `unexpected_response`: the response is not from the service, such as the error page of a proxy, or is a redirect.",
    " *",
    " * @category models",
    " * @since 0.1.0",
    " */",
    `export type ErrorCode = ${open([...ErrorCatalog.codes, "unexpected_response"].map((code) => JSON.stringify(code)))}`,
    ""
  ].join("\n")

// -----------------------------------------------------------------------------
// Event types
// -----------------------------------------------------------------------------

// Times depend on the sample, so that the generated function calls `at` where the examples have them as `at SECONDS`.
const sampleDifferences = (): string => {
  const samples = Object.entries(InvoiceEvent.descriptions).map(
    ([type, { example }]) => `${JSON.stringify(type)}: ${JSON.stringify(example((seconds) => `at ${seconds}`))}`
  )
  return `/**
 * The members in which the sample invoice of each event type differs from a received one.
 *
 * Generated from @govoice/core by \`packages/client/test/support/generate.ts\`. Do not edit.
 *
 * @module
 */
import type { InvoiceByEventType } from "../event.ts"

/** Returns the differences. \`at\` returns the time so many seconds after the creation of the invoice. */
export const differences = (at: (seconds: number) => string) =>
  ({
    ${samples.join(",\n").replaceAll(/"at (\d+)"/g, "at($1)")}
  }) as const satisfies { readonly [Type in keyof InvoiceByEventType]: Partial<InvoiceByEventType[Type]> }
`
}
