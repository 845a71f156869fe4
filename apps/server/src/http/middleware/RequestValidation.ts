/**
 * Answers requests that do not decode with an error envelope. A message names the parameter at fault and never repeats its
 * value, which may be large or a password.
 */
import { Problems, Validation } from "@govoice/api"
import { Effect, type Layer, Schema, type SchemaAST, SchemaIssue } from "effect"
import { HttpApiMiddleware } from "effect/http-api"

// The first fault of a request. The predicate ends a sentence that begins with the path.
interface Fault {
  readonly path: ReadonlyArray<PropertyKey>
  readonly unknown: boolean
  readonly predicate: string
}

const disjunction = new Intl.ListFormat("en", { type: "disjunction" })

const expectation = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "String":
      return "a string"
    case "Number":
      return "a number"
    case "Boolean":
      return "true or false"
    case "Null":
      return "null"
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Arrays":
      return "an array"
    case "Objects":
      return "an object"
    case "Union":
      return disjunction.format(ast.types.map(expectation))
    default:
      return "a value that is allowed here"
  }
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const firstFault = (issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey> = []): Fault => {
  switch (issue._tag) {
    case "Pointer":
      return firstFault(issue.issue, [...path, ...issue.path])
    case "Encoding":
      return firstFault(issue.issue, path)
    case "Composite":
      return firstFault(issue.issues[0], path)
    case "UnexpectedKey":
      return { path, unknown: true, predicate: "is not known here" }
    case "MissingKey":
      return { path, unknown: false, predicate: "is missing" }
    case "InvalidType":
    case "AnyOf": {
      if (issue._tag === "AnyOf" && issue.issues[0] !== undefined) return firstFault(issue.issues[0], path)
      const message = issue.ast.annotations?.["message"]
      return {
        path,
        unknown: false,
        predicate: typeof message === "string" ? message : `must be ${expectation(issue.ast)}`
      }
    }
    default: {
      // A check of a whole object names the member at fault.
      if (issue._tag === "Filter" && issue.issue._tag === "Pointer") return firstFault(issue.issue, path)
      const message = formatIssue(issue).issues[0]?.message ?? "has a value that is not allowed"
      return { path, unknown: false, predicate: message.replace(/^Expected /, "must be ") }
    }
  }
}

// The caller chooses the name of an unknown member: it can be as long as the body.
const shownLength = 64

const shown = (key: PropertyKey): string => {
  const characters = Array.from(String(key).slice(0, 2 * shownLength + 2))
  return characters.length <= shownLength ? characters.join("") : `${characters.slice(0, shownLength).join("")}…`
}

const joined = (path: ReadonlyArray<PropertyKey>): string =>
  path
    .map((key, index) => {
      if (typeof key === "number") return `[${key}]`
      const name = shown(key)
      return !/^\w+$/.test(name) ? `[${JSON.stringify(name)}]` : index === 0 ? name : `.${name}`
    })
    .join("")

// A predicate that ends with a full stop is a complete sentence.
const sentence = ({ path, predicate }: Fault, whole: string): string =>
  predicate.endsWith(".") ? predicate : `${path.length === 0 ? whole : joined(path)} ${predicate}.`

const wholes = { Params: "The path", Headers: "The header", Query: "The query", Payload: "The request body" } as const

// Query values are strings. One that is not a string was given more than once.
const inQuery = (fault: Fault): Fault =>
  fault.predicate === `must be ${expectation(Schema.String.ast)}`
    ? { ...fault, predicate: "must not be given more than once" }
    : fault

const unknownParameter = ({ path }: Fault) => {
  const param = path[0] === undefined ? undefined : shown(path[0])
  return Problems.fail("unknown_parameter", {
    param,
    message: `Unknown parameter ${JSON.stringify(param)}. Correct its name or remove it.`
  })
}

const toProblem = (fault: Fault, whole: string) =>
  fault.unknown && fault.path.length <= 1
    ? unknownParameter(fault)
    : Problems.fail("invalid_parameter", {
        param: fault.path[0] === undefined ? undefined : shown(fault.path[0]),
        message: sentence(fault, whole)
      })

/** Provides `ParameterValidation`. An answer that does not encode stays a defect. */
export const layer: Layer.Layer<Validation.ParameterValidation> = HttpApiMiddleware.layerSchemaErrorTransform(
  Validation.ParameterValidation,
  (error) => {
    if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error)
    const fault = firstFault(error.cause.issue)
    return toProblem(error.kind === "Query" ? inQuery(fault) : fault, wholes[error.kind])
  }
)
