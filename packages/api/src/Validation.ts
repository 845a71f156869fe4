/**
 * Gives requests that do not decode the envelope of every other failure.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Problems from "./Problems.ts"

/**
 * Middleware that answers query and path parameters that do not decode.
 *
 * @category services
 * @since 0.1.0
 */
export class ParameterValidation extends HttpApiMiddleware.Service<ParameterValidation>()(
  "@govoice/api/ParameterValidation",
  { error: Problems.schemas("unknown_parameter", "invalid_parameter") }
) {}

/**
 * Middleware that reads the body within its bounds, and answers bodies that cannot be read.
 *
 * **Details**
 *
 * It stands before the payload is decoded, so that what does not decode later is JSON at least.
 *
 * @category services
 * @since 0.1.0
 */
export class BodyReading extends HttpApiMiddleware.Service<BodyReading>()("@govoice/api/BodyReading", {
  error: Problems.schemas("invalid_request_body", "unsupported_media_type", "request_too_large")
}) {}

/**
 * Middleware of submissions: the document and the metadata have codes of their own, whichever way they are wrong.
 *
 * @category services
 * @since 0.1.0
 */
export class SubmissionValidation extends HttpApiMiddleware.Service<SubmissionValidation>()(
  "@govoice/api/SubmissionValidation",
  { error: Problems.schemas("invalid_invoice_xml", "invalid_metadata", "unknown_parameter") }
) {}

// What is wrong first: where, whether it is a name that nobody knows, and the end of a sentence about it.
interface Fault {
  readonly path: ReadonlyArray<PropertyKey>
  readonly unknown: boolean
  readonly predicate: string
}

const inWords = new Intl.ListFormat("en", { type: "disjunction" })

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
      return inWords.format(ast.types.map(expectation))
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
      const said = issue.ast.annotations?.["message"]
      return { path, unknown: false, predicate: typeof said === "string" ? said : `must be ${expectation(issue.ast)}` }
    }
    default: {
      const said = formatIssue(issue).issues[0]?.message ?? "has a value that is not allowed"
      return { path, unknown: false, predicate: said.replace(/^Expected /, "must be ") }
    }
  }
}

// Names come from the caller as values do, and may be as long as a body.
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

// A predicate that ends with a full stop is a sentence already.
const sentence = ({ path, predicate }: Fault, whole: string): string =>
  predicate.endsWith(".") ? predicate : `${path.length === 0 ? whole : joined(path)} ${predicate}.`

const wholes = { Params: "The path", Headers: "The header", Query: "The query", Payload: "The request body" } as const

// In a query everything is a string, so what is not one was given more than once.
const inQuery = (fault: Fault): Fault =>
  fault.predicate === `must be ${expectation(Schema.String.ast)}`
    ? { ...fault, predicate: "must not be given more than once" }
    : fault

const unknownParameter = ({ path }: Fault) => {
  const param = path[0] === undefined ? undefined : shown(path[0])
  return Problems.fail("unknown_parameter", {
    param,
    message: `There is no parameter named ${JSON.stringify(param)} here.`
  })
}

const toProblem = (fault: Fault, whole: string) =>
  fault.unknown
    ? unknownParameter(fault)
    : Problems.fail("invalid_parameter", {
        param: fault.path[0] === undefined ? undefined : shown(fault.path[0]),
        message: sentence(fault, whole)
      })

/**
 * Layer that provides `ParameterValidation`. An answer that does not encode is our fault, so it stays a defect.
 *
 * **Details**
 *
 * The message names what is wrong and never repeats a value, which may be large or a password.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<ParameterValidation> = HttpApiMiddleware.layerSchemaErrorTransform(
  ParameterValidation,
  (error) => {
    if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error)
    const fault = firstFault(error.cause.issue)
    return toProblem(error.kind === "Query" ? inQuery(fault) : fault, wholes[error.kind])
  }
)

/**
 * Layer that provides `SubmissionValidation`. A submission has nothing else that could be wrong: its headers are judged by
 * `SubmissionHeaders`, and a body that is no object by `BodyReading`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSubmission: Layer.Layer<SubmissionValidation> = HttpApiMiddleware.layerSchemaErrorTransform(
  SubmissionValidation,
  (error) => {
    if (error.kind !== "Payload") return Effect.fail(error)
    const fault = firstFault(error.cause.issue)
    const message = sentence(fault, wholes.Payload)
    if (fault.path[0] === "invoice_xml") return Problems.fail("invalid_invoice_xml", { message })
    if (fault.path[0] === "metadata") return Problems.fail("invalid_metadata", { message })
    return fault.unknown ? unknownParameter(fault) : Effect.fail(error)
  }
)
