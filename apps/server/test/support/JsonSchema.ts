/** Validates values by the schemas of an OpenAPI 3.1 document. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"

const escape = (part: string): string => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))

/** Returns a function that says what is wrong with a value, by the schema at the end of a path into the document. */
export const compile = (document: object) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, "document")
  const compiled = new Map<string, ValidateFunction>()

  return (path: ReadonlyArray<string>, value: unknown): ReadonlyArray<string> => {
    const $ref = `document#/${path.map(escape).join("/")}`
    const validate = compiled.get($ref) ?? ajv.compile({ $ref })
    compiled.set($ref, validate)
    return validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ""}`)
  }
}
