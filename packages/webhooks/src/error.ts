/**
 * The ways in which a webhook can fail verification.
 *
 * @module
 */

/**
 * Stable codes of a {@link WebhookVerificationError}. A minor release may add codes, so a `switch` over them needs a
 * `default`.
 */
export type WebhookVerificationErrorCode =
  | "missing_header"
  | "malformed_header"
  | "duplicate_header"
  | "malformed_timestamp"
  | "timestamp_too_old"
  | "timestamp_too_new"
  | "no_match"
  | "id_mismatch"
  | "body_not_raw"
  | "body_not_json"
  | "bad_secret"

/**
 * Thrown when a webhook is not what it claims to be, or when a verifier or signer was set up wrongly.
 *
 * **Details**
 *
 * Compare `code`: unlike the message it does not change, and unlike `instanceof` it holds when two copies of this
 * package are installed. `_tag` is the literal by which `Effect.catchTag` and the like find it.
 *
 * Neither the message nor a property nor the stack contains a secret, a signature or a part of the body, so the error
 * may be logged as it is.
 */
export class WebhookVerificationError extends Error {
  declare readonly _tag: "WebhookVerificationError"
  declare readonly name: "WebhookVerificationError"

  /** Which check failed. */
  declare readonly code: WebhookVerificationErrorCode

  /**
   * The HTTP status to answer with: 400 where the request is at fault; 500 where this side is (`body_not_raw`,
   * `bad_secret`), since the service gives up after a 400 and tries again after a 500.
   */
  declare readonly status: 400 | 500

  /** The message is the code and a hint: the header in question, or what is most often done wrong. */
  constructor(code: WebhookVerificationErrorCode, hint = "needs raw body, whole trimmed secret") {
    super(`${code}: ${hint}`)
    this.name = this._tag = "WebhookVerificationError"
    this.code = code
    this.status = /raw|secret/.test(code) ? 500 : 400
  }
}

/** Refuses what does not hold. */
export function check(holds: unknown, code: WebhookVerificationErrorCode, hint?: string): asserts holds {
  if (!holds) throw new WebhookVerificationError(code, hint)
}
