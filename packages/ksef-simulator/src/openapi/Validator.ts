/**
 * Checks requests against the schemas of the document.
 *
 * A schema is compiled when it is needed first. Keywords that differ between OpenAPI 3.0 and JSON Schema are rewritten before.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv"
import type { Document, Parameter, Schema } from "./document.ts"
import type { Operation } from "./Router.ts"

// Short of a regular expression, since the text may have megabytes.
const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 && Buffer.from(text, "base64").toString("base64") === text

const isDateTime = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?$/i.test(text) &&
  !Number.isNaN(Date.parse(text))

const formats = {
  byte: isBase64,
  int32: { type: "number", validate: (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 31 },
  int64: { type: "number", validate: Number.isSafeInteger },
  double: { type: "number", validate: Number.isFinite },
  "date-time": isDateTime,
  date: (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  uri: (text: string) => URL.canParse(text)
} as const

/** Rewrites a schema of OpenAPI 3.0 as JSON Schema. */
export const toJsonSchema = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(toJsonSchema)
  if (typeof schema !== "object" || schema === null) return schema
  const { nullable, ...rest } = schema as Record<string, unknown>
  const rewritten = Object.fromEntries(
    Object.entries(rest).map(([member, value]) => [
      member,
      member === "enum" || member === "required" ? value : toJsonSchema(value)
    ])
  )
  // Other expressions than those of ECMAScript may escape a space.
  const { pattern } = rewritten
  if (typeof pattern === "string") rewritten["pattern"] = pattern.replaceAll("\\ ", " ")
  // The document bounds the length of a list with the words for numbers.
  if (rewritten["type"] === "array" && typeof rewritten["maximum"] === "number") {
    rewritten["maxItems"] = rewritten["maximum"]
  }
  return nullable === true ? { anyOf: [rewritten, { type: "null" }] } : rewritten
}

const describe = (where: string, errors: ReadonlyArray<ErrorObject> | null | undefined): string =>
  (errors ?? [])
    .filter(({ keyword, params }) => keyword !== "anyOf" && params["type"] !== "null")
    .slice(0, 5)
    .map(({ instancePath, message, params }) => {
      const extra = "allowedValues" in params ? ` (${String(params["allowedValues"])})` : ""
      return `${where}${instancePath.replaceAll("/", ".")} ${message ?? "is invalid"}${extra}`
    })
    .join("; ")

/** The outcome of a check: the value, with texts of a query turned into numbers and lists, or what is wrong. */
export type Checked = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: string }

/** Checks requests of one document. */
export class Validator {
  readonly #bodies: Ajv
  readonly #parameters: Ajv
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor({ components }: Document) {
    const options = { strict: false, validateSchema: false, formats } as const
    this.#bodies = new Ajv(options)
    this.#parameters = new Ajv({ ...options, coerceTypes: "array", useDefaults: true })
    const schemas = { $id: "document", components: toJsonSchema(components) } as Schema
    this.#bodies.addSchema(schemas)
    this.#parameters.addSchema(schemas)
  }

  /** Checks a body in JSON. */
  body({ definition, key }: Operation, value: unknown): Checked {
    const schema = definition.requestBody?.content["application/json"]?.schema
    if (schema === undefined) return { ok: true, value }
    const check = this.#compile(this.#bodies, `body ${key}`, schema)
    return check(value) ? { ok: true, value } : { ok: false, fault: describe("body", check.errors) }
  }

  /** Checks the parameters of one kind. Several values under one name are a list. */
  parameters({ definition, key }: Operation, kind: Parameter["in"], given: Readonly<Record<string, unknown>>): Checked {
    const declared = (definition.parameters ?? []).filter((parameter) => parameter.in === kind)
    if (declared.length === 0) return { ok: true, value: {} }
    const check = this.#compile(this.#parameters, `${kind} ${key}`, {
      type: "object",
      properties: Object.fromEntries(declared.map(({ name, schema }) => [name, schema])),
      required: declared.filter(({ required }) => required === true).map(({ name }) => name)
    })
    const value = Object.fromEntries(declared.flatMap(({ name }) => (name in given ? [[name, given[name]]] : [])))
    return check(value) ? { ok: true, value } : { ok: false, fault: describe(kind, check.errors) }
  }

  #compile(ajv: Ajv, key: string, schema: Schema): ValidateFunction {
    const known = this.#compiled.get(key)
    if (known !== undefined) return known
    const compiled = ajv.compile(withDocument(toJsonSchema(schema)) as Schema)
    this.#compiled.set(key, compiled)
    return compiled
  }
}

// References inside of the document are relative to it; a schema that is compiled apart names it.
const withDocument = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withDocument)
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([member, value]) => [
      member,
      member === "$ref" && typeof value === "string" ? `document${value}` : withDocument(value)
    ])
  )
}
