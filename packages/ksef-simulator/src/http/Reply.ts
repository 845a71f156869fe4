/**
 * Answers as values, and the refusals that handlers throw.
 */
import type { ExceptionCode } from "./exceptions.ts"

/** A response. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

/** Answers with JSON. */
export const json = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value)
})

/** Answers without a body. */
export const empty = (status: number): Reply => ({ status })

/** Answers with an XML document and its hash. */
export const xml = (bytes: Uint8Array, sha256: string): Reply => ({
  status: 200,
  headers: { "content-type": "application/xml", "x-ms-meta-hash": sha256 },
  body: bytes
})

/** Why an access is forbidden, as the document lists the reasons. */
export type ForbiddenReason =
  | "missing-permissions"
  | "ip-not-allowed"
  | "insufficient-resource-access"
  | "auth-method-not-allowed"
  | "security-service-blocked"
  | "context-type-not-allowed"

/** A refusal: its status, and the facts for its body. */
export type Refused =
  | { readonly status: 400; readonly code: ExceptionCode; readonly details: ReadonlyArray<string> }
  | { readonly status: 401; readonly detail: string }
  | { readonly status: 403; readonly reason: ForbiddenReason; readonly detail: string; readonly security?: object }
  /** A JWT of another type: an empty body. */
  | { readonly status: 403; readonly reason: "wrong-token-type" }
  | { readonly status: 429; readonly detail: string; readonly retryAfterMs: number; readonly overLimit: boolean }
  | { readonly status: 404 | 405 | 408 | 413 | 415 | 501; readonly detail: string }

/** Ends a request without its operation. */
export class Refusal extends Error {
  readonly refused: Refused

  constructor(refused: Refused) {
    super(`Refused with ${refused.status}`)
    this.name = "Refusal"
    this.refused = refused
  }
}

/** Refuses with 400 and one of the codes. */
export const badRequest = (code: ExceptionCode, ...details: ReadonlyArray<string>): Refusal =>
  new Refusal({ status: 400, code, details })

/** Refuses with 401. */
export const unauthorized = (detail: string): Refusal => new Refusal({ status: 401, detail })

/** Refuses with 403 and one of the reasons. */
export const forbidden = (reason: ForbiddenReason, detail: string, security?: object): Refusal =>
  new Refusal({ status: 403, reason, detail, ...(security === undefined ? {} : { security }) })
