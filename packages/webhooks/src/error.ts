/**
 * The error of verification and signing, with one code and one message for each cause.
 *
 * @module
 * @since 0.1.0
 */

/**
 * The code of a {@link WebhookVerificationError}. Codes are stable. A minor release may add codes, so a `switch` over them
 * needs a `default`.
 *
 * @category errors
 * @since 0.1.0
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

// `$` stands for the detail of the error: a header name, the age of a webhook and its limit, or the fault of a secret.
const messages: Readonly<Record<WebhookVerificationErrorCode, string>> = {
  missing_header: "Header $ is missing. Pass all headers, and check that no proxy removes it.",
  malformed_header: "Header $ is not v1= and 64 lowercase hex digits. Check that no proxy changes it.",
  duplicate_header: "Header $ occurs more than once. Check that no proxy repeats it.",
  malformed_timestamp: "Header $ is not an ISO 8601 date in UTC. Check that no proxy changes it.",
  timestamp_too_old: "Signed $ s ago; toleranceSeconds is $. Check your clock.",
  timestamp_too_new: "Signed $ s from now; toleranceSeconds is $. Check your clock.",
  no_match:
    "No signature matches. Check that secret is the complete whsec_… value of this endpoint and that the body is unparsed.",
  id_mismatch: "Header $ is not the id of the signed event. Check that no proxy changes it.",
  body_not_raw: "The body was parsed or read before. Mount the handler before express.json(), or keep the raw body.",
  body_not_json: "The signature matches, but the body is not JSON. Check what the sender signs.",
  bad_secret: "secret $"
}

/**
 * Thrown if a webhook does not verify, or if a verifier or signer has an invalid secret.
 *
 * **Details**
 *
 * Compare `code`: it is stable, the message is not, and `instanceof` fails if two copies of this package are installed.
 * `_tag` is the tag for `Effect.catchTag`.
 *
 * Message, properties and stack contain no secret, no signature and no part of the body, so the error can be logged.
 *
 * @category errors
 * @since 0.1.0
 */
export class WebhookVerificationError extends Error {
  declare readonly _tag: "WebhookVerificationError"
  declare readonly name: "WebhookVerificationError"

  /** The check that failed. */
  declare readonly code: WebhookVerificationErrorCode

  /**
   * The HTTP status to answer with: 400 if the request is at fault, 500 if the receiver is (`body_not_raw`, `bad_secret`).
   * The service retries after 500, not after 400.
   */
  declare readonly status: 400 | 500

  /** The message is the code, the likely cause and the remedy. `details` are the header name or the values to insert. */
  constructor(code: WebhookVerificationErrorCode, ...details: Array<string | number>) {
    super(`${code}: ${messages[code].replace(/\$/g, () => details.shift() as string)}`)
    this.name = this._tag = "WebhookVerificationError"
    this.code = code
    this.status = /raw|secret/.test(code) ? 500 : 400
  }
}

/** Throws a `WebhookVerificationError` unless `condition` holds. */
export function check(
  condition: unknown,
  code: WebhookVerificationErrorCode,
  ...details: Array<string | number>
): asserts condition {
  if (!condition) throw new WebhookVerificationError(code, ...details)
}
