/**
 * The error envelope of each response with a status of 400 or more.
 *
 * A problem is plain data: a row of the catalog and the identifier of the request. Handlers translate domain errors to
 * problems.
 *
 * @since 0.1.0
 */
import { ErrorCatalog, Ids } from "@govoice/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CurrentRequestId } from "./RequestId.ts"

/**
 * A stable error code.
 *
 * @category models
 * @since 0.1.0
 */
export type Code = ErrorCatalog.ErrorCode

/**
 * The envelope of one error.
 *
 * @category models
 * @since 0.1.0
 */
export interface Problem<C extends Code = Code> {
  readonly error: {
    readonly type: ErrorCatalog.ErrorType
    readonly code: C
    readonly message: string
    readonly param: string | null
    readonly request_id: Ids.RequestId
    readonly retryable: boolean
  }
}

/**
 * A message that is more precise than that of the catalog, and the parameter at fault.
 *
 * @category models
 * @since 0.1.0
 */
export interface Details {
  readonly message?: string | undefined
  readonly param?: string | undefined
}

/**
 * Returns the envelope of an error.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const C extends Code>(code: C, requestId: Ids.RequestId, details: Details = {}): Problem<C> => {
  const { message, param, retryable, type } = ErrorCatalog.catalog[code]
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
 * Fails with the envelope of an error for the current request.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fail = <const C extends Code>(code: C, details?: Details): Effect.Effect<never, Problem<C>> =>
  Effect.flatMap(CurrentRequestId, (requestId) => Effect.fail(make(code, requestId, details)))

/**
 * Returns the HTTP status of an error.
 *
 * @category getters
 * @since 0.1.0
 */
export const status = (problem: Problem): number => ErrorCatalog.catalog[problem.error.code].status

/**
 * Returns the name of an error in the OpenAPI document: `InvoiceNotFoundError` for `invoice_not_found`.
 *
 * @category getters
 * @since 0.1.0
 */
export const identifier = (code: Code): string =>
  `${code.replace(/_error$/, "").replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Error`

/**
 * Returns the path of the page about a code: `/docs/errors/invoice_not_found`.
 *
 * @category getters
 * @since 0.1.0
 */
export const docsPath = (code: Code): `/docs/errors/${Code}` => `/docs/errors/${code}`

const members = {
  message: Schema.String.annotate({ description: "A sentence for people. It may change." }),
  param: Schema.NullOr(Schema.String).annotate({
    description: "The parameter or header at fault. Null if there is none."
  }),
  request_id: Ids.schema("req").annotate({ description: "Equals the `Request-Id` response header." })
}

const makeSchema = <const C extends Code>(code: C) => {
  const entry = ErrorCatalog.catalog[code]
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
 * Returns the schema of one error, with its HTTP status.
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
 * Returns the schemas of several errors.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schemas = <const Codes extends ReadonlyArray<Code>>(...codes: Codes): Schemas<Codes> =>
  codes.map((code) => schema(code)) as unknown as Schemas<Codes>

/**
 * Returns the schemas of the errors of an endpoint: its own, and those of all endpoints.
 *
 * @category schemas
 * @since 0.1.0
 */
export const errors = <const Codes extends ReadonlyArray<Code>>(...codes: Codes) =>
  schemas(...codes, "api_disabled", "wrong_cell", "internal_error", "service_unavailable")

/**
 * The schema of any error, for the OpenAPI document and generated clients.
 *
 * @category schemas
 * @since 0.1.0
 */
export const AnyProblem = Schema.Struct({
  error: Schema.Struct({
    type: ErrorCatalog.ErrorType,
    code: Schema.Literals(ErrorCatalog.codes).annotate({
      description: "A stable code. New codes may be added, so handle unknown codes."
    }),
    ...members,
    retryable: Schema.Boolean.annotate({
      description:
        "Whether the same request may succeed later. Does not apply to a request with another body or idempotency key."
    })
  })
}).annotate({ identifier: "Error", description: "The body of each response with a status of 400 or more." })

/**
 * Returns whether a value is the envelope of an error of the catalog.
 *
 * @category guards
 * @since 0.1.0
 */
export const is: (value: unknown) => value is Problem = Schema.is(AnyProblem) as (value: unknown) => value is Problem
