/** The OpenAPI document of the API with its types, and functions that resolve and validate its schemas. */
import { Api, type Problems } from "@govoice/api"
import { Ajv2020, type AnySchema } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { OpenApi } from "effect/http-api"

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: ReadonlyArray<unknown>
  readonly "x-extensible-enum"?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: unknown
}

export interface Media {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>
}

export interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, { readonly $ref?: string; readonly description?: string }>>
  readonly content?: Readonly<Record<string, Media>>
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
  readonly example?: unknown
}

export interface Operation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary?: string
  readonly security: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Response>>
}

export interface Doc {
  readonly openapi: string
  readonly info: { readonly description: string }
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly "x-tagGroups": ReadonlyArray<{ readonly tags: ReadonlyArray<string> }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly headers: Readonly<Record<string, { readonly schema: Schema; readonly example: unknown }>>
    readonly responses: Readonly<Record<string, Response>>
    readonly examples: Readonly<
      Record<
        string,
        {
          readonly summary: string
          readonly description: string
          readonly value: Problems.Problem
          readonly "x-docs-url": string
        }
      >
    >
    readonly securitySchemes: Readonly<Record<string, { readonly scheme: string }>>
  }
}

export const doc = OpenApi.fromApi(Api) as unknown as Doc

export const operations = Object.entries(doc.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation }))
)

export const words = (text: string): ReadonlyArray<string> => text.split(" ").filter((word) => word !== "")

export const pointed = (ref: string): unknown =>
  ref
    .slice(2)
    .split("/")
    .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], doc)

export const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (pointed(schema.$ref) as Schema)

export const alternatives = (schema: Schema): ReadonlyArray<Schema> => (schema.anyOf ?? [schema]).map(resolve)

export const json = (response: Response): Media | undefined => response.content?.["application/json"]

export const envelope = (schema: Schema): Readonly<Record<string, Schema>> =>
  schema.properties?.["error"]?.properties ?? {}

export const codesOf = (response: Response): ReadonlyArray<unknown> =>
  alternatives(json(response)?.schema ?? {}).flatMap((schema) => envelope(schema)["code"]?.enum ?? [])

export const failures = [
  ...operations.flatMap(({ name, operation }) =>
    Object.entries(operation.responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, response]) => ({ name, status: Number(status), response }))
  ),
  ...Object.entries(doc.components.responses).map(([name, response]) => ({ name, status: undefined, response }))
]

// Ignores formats and keywords of OpenAPI that Ajv does not know.
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addFormat("binary", true)
ajv.addSchema(doc, "doc")

const absolute = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll('"$ref":"#/', '"$ref":"doc#/'))

export const faults = (schema: Schema, value: unknown): ReadonlyArray<string> => {
  const validate = ajv.compile(absolute(schema) as AnySchema)
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
}
