/**
 * Gives requests that do not decode the envelope of every other failure.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type * as Layer from "effect/Layer"
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
  { error: Problems.schemas("invalid_invoice_xml", "invalid_metadata") }
) {}

type Fault = { readonly path: string | undefined; readonly unknown: boolean; readonly message: string }

const segment = (key: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof key === "object" ? key.key : key)

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

const isUnexpectedKey = (issue: SchemaIssue.Issue): boolean => {
  switch (issue._tag) {
    case "UnexpectedKey":
      return true
    case "Pointer":
    case "Filter":
    case "Encoding":
      return isUnexpectedKey(issue.issue)
    case "Composite":
      return issue.issues.some(isUnexpectedKey)
    default:
      return false
  }
}

const firstFault = ({ cause }: HttpApiError.HttpApiSchemaError): Fault => {
  const issue = formatIssues(cause.issue).issues[0]
  const path = issue?.path?.map(segment) ?? []
  return {
    path: path[0],
    unknown: isUnexpectedKey(cause.issue),
    message: `${path.length === 0 ? "The request" : path.join(".")}: ${issue?.message ?? "is not allowed"}.`
  }
}

const toProblem = (fault: Fault) => {
  if (fault.unknown) {
    return Problems.fail("unknown_parameter", {
      param: fault.path,
      message: `There is no parameter named ${JSON.stringify(fault.path ?? "")} here.`
    })
  }
  return Problems.fail("invalid_parameter", { param: fault.path, message: fault.message })
}

/**
 * Layer that provides `ParameterValidation`. An answer that does not encode is our fault, so it stays a defect.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<ParameterValidation> = HttpApiMiddleware.layerSchemaErrorTransform(
  ParameterValidation,
  (error) =>
    error.kind === "Body" || error.kind === "ResponseHeaders" ? Effect.die(error) : toProblem(firstFault(error))
)

/**
 * Layer that provides `SubmissionValidation`. What is wrong elsewhere in the request is left to `ParameterValidation`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSubmission: Layer.Layer<SubmissionValidation> = HttpApiMiddleware.layerSchemaErrorTransform(
  SubmissionValidation,
  (error) => {
    const { message, path, unknown } = firstFault(error)
    if (error.kind !== "Payload" || unknown) return Effect.fail(error)
    if (path === "invoice_xml") return Problems.fail("invalid_invoice_xml", { message })
    if (path === "metadata") return Problems.fail("invalid_metadata", { message })
    return Effect.fail(error)
  }
)
