/**
 * Declares the middleware that answers requests that do not decode. A server implements it.
 *
 * @since 0.1.0
 */
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as Problems from "./Problems.ts"

/**
 * Middleware that answers query and path parameters, and members of a body, that do not decode.
 *
 * @category services
 * @since 0.1.0
 */
export class ParameterValidation extends HttpApiMiddleware.Service<ParameterValidation>()(
  "@govoice/api/ParameterValidation",
  { error: Problems.schemas("unknown_parameter", "invalid_parameter") }
) {}

/**
 * Middleware that reads the body within its size and time limits, and answers bodies that cannot be read.
 *
 * **Details**
 *
 * It runs before the payload is decoded: a payload that does not decode is a JSON object.
 *
 * @category services
 * @since 0.1.0
 */
export class BodyReading extends HttpApiMiddleware.Service<BodyReading>()("@govoice/api/BodyReading", {
  error: Problems.schemas(
    "invalid_request_body",
    "unsupported_media_type",
    "request_too_large",
    "request_timeout",
    "service_unavailable"
  )
}) {}

/**
 * Middleware that gathers the query parameters `metadata[key]=value` in one parameter `metadata`: JSON of strings by name.
 *
 * **Details**
 *
 * It runs before the query is decoded.
 *
 * @category services
 * @since 0.1.0
 */
export class MetadataFilter extends HttpApiMiddleware.Service<MetadataFilter>()("@govoice/api/MetadataFilter", {
  error: Problems.schemas("unknown_parameter", "invalid_parameter")
}) {}
