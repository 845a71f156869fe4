/**
 * The responses of the document: descriptions, headers and examples.
 */
import { ErrorCatalog } from "@govoice/core"
import type * as OpenApi from "effect/http-api/OpenApi"
import * as Problems from "../../Problems.ts"
import * as Examples from "./examples.ts"
import { canonical, headersOf } from "./headers.ts"
import { ref } from "./references.ts"

const byIdentifier = new Map(
  ErrorCatalog.codes.map((code) => [`#/components/schemas/${Problems.identifier(code)}`, code])
)

/** Describes errors: one line, or a list of several. */
export const describe = (codes: ReadonlyArray<Problems.Code>): string => {
  const lines = codes.map((code) => `\`${code}\`: ${ErrorCatalog.catalog[code].message}`)
  return lines.length === 1 ? lines.join("") : lines.map((line) => `- ${line}`).join("\n")
}

const examplesOf = (codes: ReadonlyArray<Problems.Code>) =>
  Object.fromEntries(codes.map((code) => [code, ref("examples", code)]))

const codesOf = (response: OpenApi.OpenApiSpecResponse): ReadonlyArray<Problems.Code> => {
  const schema = response.content?.["application/json"]?.schema
  const members: ReadonlyArray<unknown> = Array.isArray(schema?.["anyOf"]) ? schema["anyOf"] : [schema]
  return members.flatMap((member) => byIdentifier.get((member as { $ref?: string } | undefined)?.$ref ?? "") ?? [])
}

/** Moves the description from the schema to the header or parameter, and merges an `allOf` of one. */
export const lift = ({ schema, ...rest }: OpenApi.OpenAPISpecHeader) => {
  const { allOf, description, ...own } = schema as { allOf?: ReadonlyArray<object>; description?: string }
  const constraint = allOf?.length === 1 ? allOf[0] : allOf === undefined ? {} : { allOf }
  return { ...rest, ...(description === undefined ? {} : { description }), schema: { ...own, ...constraint } }
}

// An operation may get new codes under the same status.
const orAnother = (schema: object) => ({
  anyOf: [...("anyOf" in schema ? (schema.anyOf as ReadonlyArray<object>) : [schema]), ref("schemas", "Error")]
})

// An image is requested in either format.
const withPng = <A extends object>(content: A): A =>
  "image/svg+xml" in content ? { ...content, "image/png": content["image/svg+xml"] } : content

/** Completes a response that Effect derived. */
export const respond = (
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
          ? "Success without content."
          : response.description,
    headers: {
      ...Object.fromEntries(
        Object.entries(response.headers ?? {}).map(([name, header]) => [canonical(name), lift(header)])
      ),
      ...headersOf(options.status, options.developer)
    },
    ...(response.content === undefined ? {} : { content: withPng(response.content) }),
    ...(json === undefined
      ? {}
      : {
          content: {
            "application/json": {
              ...json,
              ...(codes.length > 0
                ? { schema: orAnother(json.schema), examples: examplesOf(codes) }
                : { example: options.example })
            }
          }
        })
  }
}

/** Returns the component of an error that any path can return. */
export const component = (code: Problems.Code) => ({
  description: describe([code]),
  headers: headersOf(ErrorCatalog.catalog[code].status, false),
  content: {
    "application/json": {
      schema: orAnother(ref("schemas", Problems.identifier(code))),
      examples: examplesOf([code])
    }
  }
})

/** The examples of errors under `components`, with the path of the page about each code. */
export const problemExamples = Object.fromEntries(
  ErrorCatalog.codes.map((code) => [
    code,
    {
      summary: ErrorCatalog.catalog[code].message,
      description: `Causes and remedy: [${Problems.docsPath(code)}](${Problems.docsPath(code)}).`,
      value: Examples.problem(code),
      "x-docs-url": Problems.docsPath(code)
    }
  ])
)
