/**
 * How a call failed.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type { Operation } from "../protocol/Operation.ts"
import type { Problem } from "../protocol/Problem.ts"

/**
 * A call: an operation of the API, or one at an address that KSeF handed out.
 *
 * @category models
 * @since 0.1.0
 */
export type Call = Operation | "uploadPart" | "downloadUpo" | "beacon"

/**
 * Why a call failed.
 *
 * **Details**
 *
 * Without an answer:
 * - `lookup-failed`, `address-refused`, `connect-failed`, `tls-failed`: there was no connection. `address-refused` also
 *   stands for a handed-out address that may not be called.
 * - `timeout`, `connection-lost`: the deadline passed, or the connection broke.
 *
 * With an answer:
 * - `redirect`: never followed.
 * - `rate-limited`: 429.
 * - `unauthorized`, `forbidden`, `gone`, `rejected`: 401, 403, 410, another 4xx.
 * - `server-error`: 5xx, or a status that is none.
 * - `html`, `unreadable`, `too-large`, `hash-mismatch`: a 2xx whose body is not what it should be.
 *
 * @category models
 * @since 0.1.0
 */
export type Reason =
  | "lookup-failed"
  | "address-refused"
  | "connect-failed"
  | "tls-failed"
  | "timeout"
  | "connection-lost"
  | "redirect"
  | "rate-limited"
  | "unauthorized"
  | "forbidden"
  | "gone"
  | "rejected"
  | "server-error"
  | "html"
  | "unreadable"
  | "too-large"
  | "hash-mismatch"

/**
 * A failed call. It holds no token, no key, no address with a signature, and no body but for what `problem` reads.
 *
 * **Details**
 *
 * - `outcome`: `unsent` when nothing of the request left; `unknown` when KSeF may have acted on it; `answered` when its
 *   answer was received, as far as `reason` says.
 * - `code`: of the system or of undici, such as `ECONNREFUSED`.
 * - `retryAfterMs`: how long KSeF asks to wait.
 *
 * @category errors
 * @since 0.1.0
 */
export class KsefError extends Data.TaggedError("KsefError")<{
  readonly call: Call
  readonly reason: Reason
  readonly outcome: "unsent" | "unknown" | "answered"
  readonly status?: number | undefined
  readonly problem?: Problem | undefined
  readonly retryAfterMs?: number | undefined
  readonly code?: string | undefined
  readonly message: string
}> {}
