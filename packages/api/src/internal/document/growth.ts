/**
 * What may grow: the schemas of responses and events, as `VERSIONING.md` promises.
 */
import type * as OpenApi from "effect/http-api/OpenApi"

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Opens a schema: its objects may have further members, and its strings of several values may have further values. The known ones
 * are in `x-extensible-enum`, and as examples for viewers.
 */
export const open = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(open)
  if (!isRecord(schema)) return schema
  const { additionalProperties, enum: values, ...rest } = schema
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, open(member)])),
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
    ...(!Array.isArray(values)
      ? {}
      : values.length === 1
        ? { enum: values }
        : { "x-extensible-enum": values, examples: values })
  }
}

/** Adds the names of the schemas that a part of the document refers to, also through others. */
const collect = (part: unknown, schemas: Readonly<Record<string, unknown>>, found: Set<string>): void => {
  for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name!)) continue
    found.add(name!)
    collect(schemas[name!], schemas, found)
  }
}

/** Opens every schema that no request body has. */
export const openSchemas = ({ components, paths }: OpenApi.OpenAPISpec): Readonly<Record<string, unknown>> => {
  const requested = new Set<string>()
  for (const item of Object.values(paths)) {
    for (const { requestBody } of Object.values(item as Record<string, OpenApi.OpenAPISpecOperation>)) {
      if (requestBody !== undefined) collect(requestBody, components.schemas, requested)
    }
  }
  return Object.fromEntries(
    Object.entries(components.schemas).map(([name, schema]) => [name, requested.has(name) ? schema : open(schema)])
  )
}
