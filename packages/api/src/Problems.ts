/**
 * The error envelope: one shape for every answer with a status of 400 or more.
 *
 * A problem is plain data, made from a row of the catalogue and the identifier of the request. It knows nothing of the
 * domain errors it stands for; handlers translate.
 *
 * @since 0.1.0
 */
import { ErrorCatalogue, Ids } from "@govoice/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CurrentRequestId } from "./RequestId.ts"

/**
 * A stable error code.
 *
 * @category models
 * @since 0.1.0
 */
export type Code = ErrorCatalogue.ErrorCode

/**
 * The envelope of one error.
 *
 * @category models
 * @since 0.1.0
 */
export interface Problem<C extends Code = Code> {
  readonly error: {
    readonly type: ErrorCatalogue.ErrorType
    readonly code: C
    readonly message: string
    readonly param: string | null
    readonly request_id: Ids.RequestId
    readonly retryable: boolean
  }
}

/**
 * What an answer may say better than the catalogue: what exactly is wrong, and with which parameter.
 *
 * @category models
 * @since 0.1.0
 */
export interface Details {
  readonly message?: string | undefined
  readonly param?: string | undefined
}

/**
 * Makes the envelope of an error.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const C extends Code>(code: C, requestId: Ids.RequestId, details: Details = {}): Problem<C> => {
  const { message, param, retryable, type } = ErrorCatalogue.catalogue[code]
  return {
    error: {
      type,
      code,
      message: details.message ?? message,
      param: param === "*" ? (details.param ?? null) : param,
      request_id: requestId,
      retryable
    }
  }
}

/**
 * Fails with the envelope of an error, for the current request.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fail = <const C extends Code>(code: C, details?: Details): Effect.Effect<never, Problem<C>> =>
  Effect.flatMap(CurrentRequestId, (requestId) => Effect.fail(make(code, requestId, details)))

/**
 * The HTTP status of an error.
 *
 * @category getters
 * @since 0.1.0
 */
export const status = (problem: Problem): number => ErrorCatalogue.catalogue[problem.error.code].status

/**
 * The name of an error in the OpenAPI document: `InvoiceNotFoundError` for `invoice_not_found`.
 *
 * @category getters
 * @since 0.1.0
 */
export const identifier = (code: Code): string =>
  `${code.replace(/_error$/, "").replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Error`

const members = {
  message: Schema.String.annotate({ description: "A sentence for people. Its wording may change." }),
  param: Schema.NullOr(Schema.String).annotate({ description: "The parameter or header at fault, if there is one." }),
  request_id: Ids.schema("req").annotate({ description: "Equals the `Request-Id` response header." })
}

const makeSchema = <const C extends Code>(code: C) => {
  const entry = ErrorCatalogue.catalogue[code]
  return Schema.Struct({
    error: Schema.Struct({
      type: Schema.Literal(entry.type),
      code: Schema.Literal(code),
      ...members,
      retryable: Schema.Literal(entry.retryable)
    })
  }).annotate({
    identifier: identifier(code),
    description: `\`${code}\`: ${entry.message}`,
    httpApiStatus: entry.status
  })
}

type ProblemSchema<C extends Code> = Schema.Codec<Problem<C>, Problem<C>>

const cache = new Map<Code, unknown>()

/**
 * The schema of one error, with its HTTP status.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schema = <const C extends Code>(code: C): ProblemSchema<C> => {
  if (!cache.has(code)) cache.set(code, makeSchema(code))
  return cache.get(code) as ProblemSchema<C>
}

type Schemas<Codes extends ReadonlyArray<Code>> = { readonly [I in keyof Codes]: ProblemSchema<Codes[I]> }

/**
 * The schemas of several errors.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schemas = <const Codes extends ReadonlyArray<Code>>(...codes: Codes): Schemas<Codes> =>
  codes.map((code) => schema(code)) as unknown as Schemas<Codes>

/**
 * The schemas of the errors that an endpoint can answer with: its own, and those that any endpoint can.
 *
 * @category schemas
 * @since 0.1.0
 */
export const errors = <const Codes extends ReadonlyArray<Code>>(...codes: Codes) =>
  schemas(...codes, "api_disabled", "internal_error", "service_unavailable")

/**
 * Any error of the catalogue, for the reader of the OpenAPI document and for generated clients.
 *
 * @category schemas
 * @since 0.1.0
 */
export const AnyProblem = Schema.Struct({
  error: Schema.Struct({
    type: ErrorCatalogue.ErrorType,
    code: Schema.Literals(ErrorCatalogue.codes).annotate({
      description: "A stable code. New codes may be added, so a program needs a branch for those it does not know."
    }),
    ...members,
    retryable: Schema.Boolean.annotate({
      description:
        "Whether the same request may be sent again later. It does not say that a new body or a new idempotency key is safe."
    })
  })
}).annotate({ identifier: "Error", description: "The envelope of every answer with a status of 400 or more." })

/**
 * Tells whether a value is the envelope of an error of the catalogue, such as one in the error channel of a client.
 *
 * @category guards
 * @since 0.1.0
 */
export const is: (value: unknown) => value is Problem = Schema.is(AnyProblem) as (value: unknown) => value is Problem
