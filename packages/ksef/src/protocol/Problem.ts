/**
 * The bodies of failed answers. KSeF has three forms of its own; firewalls and gateways before it answer with HTML or with
 * nothing. The content type does not tell them apart.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { firewallTexts } from "./ErrorCodes.ts"
import { Integer, nullable } from "./Fields.ts"
import { readJson } from "./readJson.ts"

/**
 * One error of a body, by its code. The texts are Polish, and for people.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErrorDetail {
  readonly code: number
  readonly description: string | undefined
  readonly details: ReadonlyArray<string>
}

/**
 * The content of a problem.
 *
 * **Details**
 *
 * - `format`: problem details (RFC 9457), the legacy `exception`, the legacy body of 429, nothing, HTML, or none of them.
 * - `reasonCode`: why a 403 refuses; of a firewall it is missing.
 * - `detail`: of a page, the text of the firewall that it has, if it is one of `ErrorCodes.firewallTexts`.
 * - `missingPermissions`: of which a 403 requires one.
 * - `traceId`: for a support ticket; the `serviceCode` of a legacy exception.
 *
 * @category models
 * @since 0.1.0
 */
export interface Problem {
  readonly format: "problem-details" | "exception" | "too-many-requests" | "empty" | "html" | "unreadable"
  readonly title: string | undefined
  readonly detail: string | undefined
  readonly errors: ReadonlyArray<ErrorDetail>
  readonly reasonCode: string | undefined
  readonly missingPermissions: ReadonlyArray<string>
  readonly traceId: string | undefined
}

/**
 * Reads the body of a failed answer. Each form is tried, in the order of `format`, whatever the content type says.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (body: string): Problem => {
  const json = parsed(body)
  const known = fromProblemDetails(json) ?? fromException(json) ?? fromTooManyRequests(json)
  if (known !== undefined) return known
  if (body.trim() === "") return { ...nothing, format: "empty" }
  const page = firewallTexts.find(({ text }) => body.includes(text))?.text
  return {
    ...nothing,
    detail: page,
    format: /^\s*<(?:!doctype|html|head|body|meta|script)\b/i.test(body) ? "html" : "unreadable"
  }
}

const nothing = {
  title: undefined,
  detail: undefined,
  errors: [],
  reasonCode: undefined,
  missingPermissions: [],
  traceId: undefined
} as const satisfies Omit<Problem, "format">

const text = nullable(Schema.String)

const ProblemDetails = Schema.Struct({
  title: Schema.String,
  detail: text,
  reasonCode: text,
  traceId: text,
  errors: nullable(
    Schema.Array(Schema.Struct({ code: Integer, description: text, details: nullable(Schema.Array(Schema.String)) }))
  ),
  security: nullable(Schema.Record(Schema.String, Schema.Unknown))
})

const Exception = Schema.Struct({
  exception: Schema.Struct({
    exceptionDetailList: nullable(
      Schema.Array(
        Schema.Struct({
          exceptionCode: nullable(Integer),
          exceptionDescription: text,
          details: nullable(Schema.Array(Schema.String))
        })
      )
    ),
    serviceCode: text
  })
})

const TooManyRequests = Schema.Struct({
  status: Schema.Struct({
    code: Schema.Literal(429),
    description: text,
    details: nullable(Schema.Array(Schema.String))
  })
})

const parsed = (body: string): unknown => {
  try {
    return readJson(body)
  } catch {
    return undefined
  }
}

const decoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (value: unknown): S["Type"] | undefined => Option.getOrUndefined(decode(value))
}

const decodeProblemDetails = decoder(ProblemDetails)
const decodeException = decoder(Exception)
const decodeTooManyRequests = decoder(TooManyRequests)

const fromProblemDetails = (json: unknown): Problem | undefined => {
  const problem = decodeProblemDetails(json)
  if (problem === undefined) return undefined
  return {
    format: "problem-details",
    title: problem.title,
    detail: problem.detail ?? undefined,
    errors: (problem.errors ?? []).map(({ code, description, details }) => ({
      code,
      description: description ?? undefined,
      details: details ?? []
    })),
    reasonCode: problem.reasonCode ?? undefined,
    missingPermissions: strings(problem.security?.["requiredAnyOfPermissions"]),
    traceId: problem.traceId ?? undefined
  }
}

const fromException = (json: unknown): Problem | undefined => {
  const exception = decodeException(json)?.exception
  if (exception === undefined) return undefined
  const errors = (exception.exceptionDetailList ?? []).map(({ details, exceptionCode, exceptionDescription }) => ({
    code: exceptionCode ?? 0,
    description: exceptionDescription ?? undefined,
    details: details ?? []
  }))
  return {
    ...nothing,
    format: "exception",
    detail: errors[0]?.description,
    errors,
    traceId: exception.serviceCode ?? undefined
  }
}

const fromTooManyRequests = (json: unknown): Problem | undefined => {
  const status = decodeTooManyRequests(json)?.status
  if (status === undefined) return undefined
  return {
    ...nothing,
    format: "too-many-requests",
    title: status.description ?? undefined,
    detail: status.details?.[0]
  }
}

const strings = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : []
