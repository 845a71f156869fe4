/**
 * Errors in the form that screens show.
 */
import { isGovoiceError } from "@govoice/client"

/** An error of the API, of the session, or of the connection. */
export interface Problem {
  readonly code: string
  readonly message: string
  /** The member or header at fault. */
  readonly param?: string | undefined
  readonly requestId?: string | undefined
  readonly retryable: boolean
  readonly retryAfterMs?: number | undefined
  readonly status?: number | undefined
}

/** An error response of the routes of the session, which are not part of the client. */
export class SessionError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.message)
    this.name = "SessionError"
    this.problem = problem
  }
}

/** Returns the problem of anything that was thrown. */
export const problemOf = (error: unknown): Problem => {
  if (error instanceof SessionError) return error.problem
  if (isGovoiceError(error)) {
    const { code, message, requestId, retryable } = error
    const shared = { code, message, requestId, retryable }
    if (error._tag !== "ApiError") return shared
    const { param, retryAfterMs, status } = error
    return { ...shared, param: param ?? undefined, retryAfterMs, status }
  }
  return { code: "page_error", message: error instanceof Error ? error.message : String(error), retryable: false }
}
