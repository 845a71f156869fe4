/**
 * The OpenAPI document of KSeF, as far as tests ask for it: tables in descriptions, and values that fit a schema.
 */
import { Ajv } from "ajv"
import { openApi } from "../fixtures.ts"

interface JsonSchema {
  readonly $ref?: string
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly type?: string
  readonly format?: string
  readonly enum?: ReadonlyArray<string>
  readonly nullable?: boolean
  readonly description?: string
  readonly required?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema
  readonly items?: JsonSchema
  readonly minLength?: number
}

interface ApiOperation {
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string; readonly required?: boolean }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> }
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string
        readonly content?: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>
      }
    >
  >
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

const api = JSON.parse(openApi) as OpenApi

const ajv = new Ajv({ strict: false, formats: { byte: true, int32: true, int64: true, "date-time": true, uri: true } })
// JSON Schema knows no `nullable`; requests of the client contain no `null`.
ajv.addSchema(JSON.parse(openApi, (key, value: unknown) => (key === "nullable" ? undefined : value)) as object, "api")

/** The documented operation at a path. */
export const operationAt = (method: string, path: string): ApiOperation | undefined =>
  api.paths[path]?.[method.toLowerCase()]

/** The description of a member of a component. */
export const describe = (component: string, member: string): string =>
  api.components.schemas[component]?.properties?.[member]?.description ?? ""

/** The rows of every table in a text, without headings: the trimmed cells of each. */
export const rows = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .replace(/^\||\|$/g, "")
        .split("|")
        .map((cell) => cell.trim())
    )

/** The first cells of tables that are numbers, once each. */
export const codes = (text: string): ReadonlyArray<number> => [
  ...new Set(
    rows(text)
      .map(([code]) => Number(code))
      .filter((code) => Number.isInteger(code) && code > 0)
  )
]

/** Values that fit the schema of a successful answer: with the required members only, and with all and unknown ones. */
export const answers = (method: string, path: string): { readonly least: unknown; readonly most: unknown } => {
  const { responses } = operationAt(method, path)!
  const content = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1].content
  const schema = content?.["application/json"]?.schema
  if (schema === undefined) throw new Error(`${method} ${path} answers no JSON`)
  return { least: value(schema, "least"), most: value(schema, "most") }
}

/** The examples of bodies with a status, of every operation. */
export const examples = (status: string): ReadonlyArray<unknown> =>
  Object.values(api.paths).flatMap((operations) =>
    Object.values(operations).flatMap(({ responses }) =>
      Object.values(responses[status]?.content ?? {}).flatMap(({ example, schema }) => {
        const ofComponent = schema.$ref === undefined ? undefined : (resolve(schema) as { example?: unknown }).example
        return [example, ofComponent].filter((example) => example !== undefined)
      })
    )
  )

/** Returns what is wrong with the body of a request, or `undefined`. */
export const requestFault = (method: string, path: string, body: unknown): string | undefined => {
  if (operationAt(method, path)?.requestBody?.content["application/json"] === undefined) {
    return body === undefined ? undefined : "no body is documented"
  }
  const pointer = ["paths", path, method.toLowerCase(), "requestBody", "content", "application/json", "schema"]
    .map((key) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/")
  const validate = ajv.compile({ $ref: `api#/${pointer}` })
  return validate(body) ? undefined : ajv.errorsText(validate.errors)
}

const resolve = (schema: JsonSchema): JsonSchema =>
  schema.$ref === undefined ? schema : api.components.schemas[schema.$ref.split("/").at(-1)!]!

const value = (given: JsonSchema, extent: "least" | "most"): unknown => {
  const schema = resolve(given)
  if (schema.nullable === true && extent === "least") return null
  if (schema.allOf !== undefined) return value(schema.allOf[0]!, extent)
  switch (schema.type) {
    case "object": {
      if (schema.properties === undefined) {
        return extent === "least" ? {} : { any: value(schema.additionalProperties ?? { type: "string" }, extent) }
      }
      const names = extent === "least" ? (schema.required ?? []) : Object.keys(schema.properties)
      const members = names.map((name) => [name, value(schema.properties![name]!, extent)])
      return { ...Object.fromEntries(members), ...(extent === "most" ? { unknownMember: { any: [1] } } : {}) }
    }
    case "array":
      return extent === "least" ? [] : [value(schema.items!, extent), value(schema.items!, extent)]
    case "integer":
      return 1
    case "boolean":
      return true
    default:
      if (schema.enum !== undefined) return extent === "least" ? schema.enum[0] : "AnUnknownWord"
      return schema.format === "date-time" ? "2025-07-11T12:23:56.0154302+00:00" : "x".repeat(schema.minLength ?? 1)
  }
}
