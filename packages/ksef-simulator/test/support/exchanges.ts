/**
 * Compares what goes over the wire with the OpenAPI document: every request and every response of the tests.
 *
 * It shares no code with the simulator's own checks but the document: formats come from `ajv-formats`, and the rewriting of
 * schemas is its own.
 */
import { Ajv, type ValidateFunction } from "ajv"
import addFormats from "ajv-formats"
import { type Definition, readDocument, type Response } from "../../src/openapi/document.ts"
import type { Exchange } from "../../src/server/Api.ts"

const rewritten = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(rewritten)
  if (typeof schema !== "object" || schema === null) return schema
  const members: Record<string, unknown> = {}
  for (const [member, value] of Object.entries(schema)) {
    if (member === "$ref") members["$ref"] = `openapi${String(value)}`
    // Other expressions than those of ECMAScript may escape a space.
    else if (member === "pattern" && typeof value === "string") members[member] = value.replaceAll("\\ ", " ")
    else if (member !== "nullable") members[member] = rewritten(value)
  }
  return (schema as { readonly nullable?: boolean }).nullable === true
    ? { oneOf: [{ type: "null" }, members] }
    : members
}

const ajv = new Ajv({ strict: false, validateSchema: false })
;(addFormats as unknown as (ajv: Ajv) => void)(ajv)
// The format `byte` of the schema is Base64; the pattern of the package is too slow for megabytes.
ajv.addFormat("byte", (text) => Buffer.from(text, "base64").toString("base64") === text)
ajv.addSchema({ $id: "openapi", components: rewritten(readDocument().components) } as object)

const compiled = new WeakMap<object, ValidateFunction>()

const faultsOf = (schema: object, value: unknown): ReadonlyArray<string> => {
  const check = compiled.get(schema) ?? ajv.compile(rewritten(schema) as object)
  compiled.set(schema, check)
  return check(value) ? [] : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

const responseFaults = (
  { reply: { body, headers = {}, status } }: Exchange,
  response: Response
): ReadonlyArray<string> => {
  const faults: Array<string> = []
  for (const [name, { schema }] of Object.entries(response.headers ?? {})) {
    const value = Object.entries(headers).find(([header]) => header === name.toLowerCase())?.[1]
    if (value === undefined) {
      if (name !== "X-System-Warning") faults.push(`the header ${name} is missing`)
    } else faults.push(...faultsOf(schema, /^\d+$/.test(value) ? Number(value) : value))
  }
  const type = headers["content-type"]
  if (response.content === undefined) {
    if ((body?.length ?? 0) > 0) faults.push(`status ${status} has a body`)
    return faults
  }
  // A JWT of another type is refused with an empty body, which no schema has.
  if (status === 403 && (body?.length ?? 0) === 0) return faults
  const content = response.content[type ?? ""]
  if (content === undefined) return [...faults, `status ${status} has the content type ${type}`]
  if (type !== "application/xml") faults.push(...faultsOf(content.schema, JSON.parse(String(body))))
  return faults
}

const requestFaults = ({ body, reply }: Exchange, definition: Definition): ReadonlyArray<string> => {
  const schema = definition.requestBody?.content["application/json"]?.schema
  if (schema === undefined || body === undefined) return []
  const faults = faultsOf(schema, body)
  // Bodies that the document rejects are rejected, and no others are rejected for their form.
  const refusal = reply.status === 400 ? String(reply.body) : ""
  if (faults.length > 0 && reply.status < 400) return faults.map((fault) => `was accepted, although ${fault}`)
  if (faults.length > 0 && !/\b(?:21405|21161)\b/.test(refusal)) return [`was refused with ${refusal}`]
  return []
}

/** Returns how an exchange departs from the document. */
export const faultsOfExchange = (exchange: Exchange): ReadonlyArray<string> => {
  const { fault, operation, reply } = exchange
  const { definition, key } = operation
  const response = definition.responses[String(reply.status)]
  // Faults play what is in front of the API, or statuses that the document does not know.
  const played = ["html", "5xx", "close-lost", "block-403", "exception", "token-login-ends"].includes(fault ?? "")
  const faults = [
    ...requestFaults(exchange, definition),
    ...(response === undefined
      ? played || [404, 405, 413, 501].includes(reply.status)
        ? []
        : [`answered ${reply.status}, which the document does not know`]
      : played
        ? []
        : responseFaults(exchange, response))
  ]
  return faults.map((text) => `${key}: ${text}`)
}
