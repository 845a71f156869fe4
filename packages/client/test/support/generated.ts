/**
 * Compiles the OpenAPI document into the modules of `src` that are not written by hand.
 */
import { Api } from "@govoice/api"
import { ErrorCatalogue } from "@govoice/core"
import * as OpenApi from "effect/http-api/OpenApi"
import { isDeepStrictEqual } from "node:util"

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | JsonSchema
}

/** The records that callers get. A record that another one begins comes after it. */
const answers = [
  "Me",
  "Invoice",
  "Account",
  "Organization",
  "ApiKey",
  "NewApiKey",
  "WebhookEndpoint",
  "NewWebhookEndpoint",
  "RotatedWebhookEndpoint",
  "WebhookDelivery"
] as const

/** The bodies that callers give: name in the document, name of the type, what it is. */
const inputs = [
  ["NewAccount", "NewAccount", "Who signs up."],
  ["Credentials", "Credentials", "Who logs in."],
  ["OrganizationName", "OrganizationRequest", "An organization to make."],
  ["OrganizationChange", "OrganizationChange", "What is to change of an organization; the rest stays."],
  ["GatewayCredential", "GatewayCredential", "The credential for the national system. It is never returned."],
  ["ApiKeyRequest", "ApiKeyRequest", "An API key to make."],
  ["WebhookEndpointRequest", "WebhookEndpointRequest", "A webhook endpoint to make."],
  ["WebhookEndpointChange", "WebhookEndpointChange", "What is to change of a webhook endpoint; the rest stays."],
  ["SecretRotation", "SecretRotation", "When the new secret takes over."]
] as const

/** What is read of records that nobody outside of this package sees whole. */
const read = {
  tokenPair: ["access_token", "refresh_token"],
  error: ["type", "code", "message", "param", "request_id", "retryable"],
  page: ["has_more", "next_cursor"]
} as const

/** Unions of values that have a name of their own: a member that has each, the name, what it is. */
const named = [
  ["Invoice.mode", "Mode", "Whether it is for the sandbox or real."],
  ["Invoice.status", "InvoiceStatus", "Where an invoice stands. `accepted`, `rejected` and `failed` are final."],
  ["Invoice.scenario", "SandboxScenario", "How the sandbox treats an invoice."],
  ["WebhookDelivery.status", "DeliveryStatus", "Where a delivery stands."],
  ["WebhookDelivery.event_type", "EventType", "What is announced about an invoice."]
] as const

const banner = (what: string): string =>
  `/**\n * ${what}\n *\n * Generated from @govoice/api by \`test/support/generate.ts\`: change it there.\n *\n * @module\n */\n`

const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)
const refName = (ref: string): string => ref.split("/").at(-1)!

/** Makes the modules, as text by path under `src`. */
export const generated = (): Readonly<Record<string, string>> => {
  const { schemas } = OpenApi.fromApi(Api).components as unknown as {
    readonly schemas: Readonly<Record<string, JsonSchema>>
  }
  return {
    "records.ts": records(schemas),
    "internal/kinds.ts": kinds(schemas),
    "errorCode.ts": errorCode()
  }
}

// -----------------------------------------------------------------------------
// Types
// -----------------------------------------------------------------------------

const literals = (schema: JsonSchema): ReadonlyArray<string> => schema.enum!.map((value) => JSON.stringify(value))

// A value that the caller gets may be younger than this package, so a union of several stays open.
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
    if (schema.enum !== undefined) {
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
    throw new Error(`There is no type for ${JSON.stringify(schema)}`)
  }

  const body = (schema: JsonSchema, depth: number, given: boolean, inherited: ReadonlyArray<string> = []): string => {
    const indent = "  ".repeat(depth)
    const members = Object.entries(schema.properties!)
      .filter(([name]) => !inherited.includes(name))
      .map(([name, member]) => {
        const mark = schema.required?.includes(name) === true ? "" : "?"
        const described = member.anyOf === undefined || member.description !== undefined ? member : member.anyOf[0]!
        const said = described.description
        const comment = said === undefined || said.startsWith("ISO 8601 in UTC with") ? "" : `${indent}/** ${said} */\n`
        const orUndefined = mark === "" ? "" : " | undefined"
        return `${comment}${indent}readonly ${camelCase(name)}${mark}: ${type(member, depth, given)}${orUndefined}`
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
      "The records of the API, in camelCase. Times are ISO 8601 in UTC with milliseconds.\n *\n * Where a member has one of several values, values that are younger than this package arrive too."
    ),
    ...named.map(([path, name, what]) => `/** ${what} */\nexport type ${name} = ${open(unionAt(schemas, path))}\n`),
    "/** The values of an open union that are known here: those that a request may have. */",
    "export type Known<T extends string> = T extends unknown ? (string extends T ? never : T) : never\n",
    ...answers.map((name) => {
      const base = answers.find((other) => isBegunBy(name, other))
      const inherited = base === undefined ? [] : namesOf(base)
      const head = `export interface ${name}${base === undefined ? "" : ` extends ${base}`}`
      return `/** ${schemas[name]!.description!} */\n${head} ${body(schemas[name]!, 1, false, inherited)}\n`
    }),
    ...inputs.map(
      ([name, alias, what]) => `/** ${what} */\nexport interface ${alias} ${body(schemas[name]!, 1, true)}\n`
    )
  ].join("\n")
}

// -----------------------------------------------------------------------------
// Kinds
// -----------------------------------------------------------------------------

// A member is its path in camelCase and what it must be: see `internal/decode.ts`. The records of a list are checked
// one by one.
const members = (schema: JsonSchema, path: string, orNull = ""): ReadonlyArray<string> => {
  if (schema.anyOf !== undefined) {
    const [value, none, ...rest] = schema.anyOf
    if (none?.type !== "null" || rest.length > 0) throw new Error(`There is no check for ${JSON.stringify(schema)}`)
    return members(value!, path, "?")
  }
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([name, member]) => {
      if (schema.required?.includes(name) !== true) throw new Error(`${path}.${name} may be left out of an answer`)
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

const kinds = (schemas: Readonly<Record<string, JsonSchema>>): string => {
  const lists = Object.entries(schemas).filter(([name]) => name.endsWith("List"))
  const pages = lists.map(([, schema]) => members(only(schema, read.page), "").join(" "))
  if (new Set(pages).size !== 1) throw new Error("The lists differ by more than their records")
  const kind = (name: string, schema: JsonSchema): string =>
    `export const ${name} = ${JSON.stringify(members(schema, "").join(" "))}\n`
  return [
    banner("The records of the API as `check` checks them."),
    ...answers.map((name) => kind(lowerFirst(name), schemas[name]!)),
    kind("tokenPair", only(schemas["TokenPair"]!, read.tokenPair)),
    kind("error", only(schemas["Error"]!.properties!["error"]!, read.error)),
    kind("page", only(lists[0]![1], read.page))
  ].join("\n")
}

// -----------------------------------------------------------------------------
// Error codes
// -----------------------------------------------------------------------------

const errorCode = (): string =>
  [
    banner("The codes of the API's errors."),
    "/** The families of errors. */",
    `export type ErrorType = ${open(ErrorCatalogue.ErrorType.literals.map((type) => JSON.stringify(type)))}\n`,
    "/**",
    " * Stable codes of an `ApiError`. Codes may be added, so a `switch` over them needs a `default`.",
    " *",
    " * **Details**",
    " *",
    ...ErrorCatalogue.codes.map((code) => {
      const { message, status } = ErrorCatalogue.catalogue[code]
      return ` * - \`${code}\` (${status}): ${message}`
    }),
    " * - `unexpected_response`: an answer that is not the service's own, such as the error page of a proxy, or a redirect.",
    " */",
    `export type ErrorCode = ${open([...ErrorCatalogue.codes, "unexpected_response"].map((code) => JSON.stringify(code)))}`,
    ""
  ].join("\n")
