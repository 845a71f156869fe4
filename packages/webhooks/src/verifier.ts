/**
 * Verification of webhooks.
 *
 * @module
 * @since 0.1.0
 */
import { readBody, type WebhookBody } from "./body.ts"
import { check } from "./error.ts"
import type { WebhookEvent } from "./event.ts"
import { readHeaders, type WebhookHeaders } from "./headers.ts"
import { makeKey } from "./internal/key.ts"
import { decode, nodeCrypto } from "./internal/platform.ts"

/**
 * The options of {@link createVerifier}.
 *
 * @category models
 * @since 0.1.0
 */
export type VerifierOptions = (
  | {
      /** The complete secret of the endpoint, `whsec_…`. */
      readonly secret: string
      readonly secrets?: undefined
    }
  | {
      /** Several secrets, one of which must match: the old and the new one during a rotation. */
      readonly secrets: ReadonlyArray<string>
      readonly secret?: undefined
    }
) & {
  /**
   * The maximum difference between `Gov-Timestamp` and the clock in either direction, in seconds.
   *
   * @default 300
   */
  readonly toleranceSeconds?: number | undefined

  /**
   * The clock, in milliseconds since the epoch.
   *
   * @default Date.now
   */
  readonly now?: (() => number) | undefined
}

/**
 * A webhook whose signature, timestamp and id are valid.
 *
 * @category models
 * @since 0.1.0
 */
export interface VerifiedWebhook {
  /** The id of the event. The same event may arrive more than once: deduplicate by this id. */
  readonly id: string
  /** The time at which this attempt was signed. */
  readonly timestamp: Date
  /** The parsed body. */
  readonly event: WebhookEvent
}

/**
 * The part of `Request` that `verifyRequest` uses.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookRequest {
  readonly bodyUsed: boolean
  readonly headers: WebhookHeaders
  arrayBuffer(): Promise<ArrayBuffer>
}

/**
 * Returned by {@link createVerifier}. The operations do not use `this`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Verifier {
  /**
   * Verifies a webhook and resolves with its event.
   *
   * @throws {WebhookVerificationError} with the code of the check that failed.
   */
  readonly verify: (body: WebhookBody, headers: WebhookHeaders) => Promise<VerifiedWebhook>

  /**
   * Reads the body of a `Request`, then verifies like {@link Verifier.verify}. The size of the body is not limited: if the
   * server does not limit it, use the adapter `@govoice/webhooks/web`.
   *
   * @throws {WebhookVerificationError} `body_not_raw` if the body was read before, and as `verify`.
   */
  readonly verifyRequest: (request: WebhookRequest) => Promise<VerifiedWebhook>

  /**
   * Verifies synchronously. Requires `node:crypto`: Node (20.16 and newer), Bun, Deno, workerd with nodejs_compat.
   *
   * @throws {WebhookVerificationError} with the code of the check that failed.
   * @throws {Error} if the runtime has no `node:crypto`.
   */
  readonly verifySync: (body: WebhookBody, headers: WebhookHeaders) => VerifiedWebhook
}

/**
 * Creates a verifier for the webhooks of one endpoint.
 *
 * **When to use**
 *
 * Create one verifier when the program starts and use it for every request. The adapters (`@govoice/webhooks/express`,
 * `/fastify`, `/node`, `/web`) create one and also answer the request.
 *
 * **Details**
 *
 * The signature covers `Gov-Timestamp` as received, a period, and the bytes of the body. The body is decoded and parsed
 * only after a signature matched. Signatures are compared in constant time. At most 8 signatures of a header are checked;
 * versions other than `v1` are skipped.
 *
 * **Gotchas**
 *
 * `body` must be the body as received. A body that was parsed and serialized again, as after `express.json()`, fails with
 * `body_not_raw` or `no_match`.
 *
 * A valid webhook may be a repetition: the service delivers at least once, and a recorded request can be sent again while
 * its timestamp is within the tolerance. Store `id` and handle each id once.
 *
 * **Example** (Verifying a webhook)
 *
 * ```ts import.meta.vitest
 * import { createVerifier } from "@govoice/webhooks"
 *
 * const verifier = createVerifier({
 *   secret: "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw",
 *   now: () => Date.parse("2026-11-20T10:00:01Z")
 * })
 *
 * const { event } = await verifier.verify('{"id":"evt_1","type":"invoice.accepted"}', {
 *   "gov-event-id": "evt_1",
 *   "gov-timestamp": "2026-11-20T10:00:00.000Z",
 *   "gov-signature": "v1=786855e8fef493da5f0f5ffef0ae8b09fb9f9d06a1d8785481f0927f869a8288"
 * })
 *
 * event.type // => "invoice.accepted"
 * ```
 *
 * @throws {WebhookVerificationError} `bad_secret` if a secret is missing, has no `whsec_` or contains white space.
 * @category constructors
 * @since 0.1.0
 */
export const createVerifier = (options: VerifierOptions): Verifier => {
  // A program in JavaScript may pass none, and then lacks the secret.
  const { secret, secrets = [secret!], toleranceSeconds = 300, now = Date.now } = { ...options }
  const node = nodeCrypto()
  const keys = Array.from(secrets.length ? secrets : [undefined!], makeKey)

  const verify = (body: WebhookBody, headers: WebhookHeaders): VerifiedWebhook | Promise<VerifiedWebhook> => {
    // Web Crypto is asynchronous. It gets a copy, so that the caller cannot change the body between check and parsing.
    const raw = node ? readBody(body) : new Uint8Array(readBody(body))
    const [id, timestamp, time, signatures] = readHeaders(headers)
    const age = (now() - time) / 1000
    check(
      // False for NaN, from the clock or from the options.
      Math.abs(age) <= toleranceSeconds,
      age < 0 ? "timestamp_too_new" : "timestamp_too_old",
      Math.abs(age),
      toleranceSeconds
    )
    const open = (matches: ReadonlyArray<unknown>): VerifiedWebhook => {
      // Exactly `true`: a promise is truthy too.
      check(matches.includes(true), "no_match")
      let event: WebhookEvent | undefined
      try {
        event = JSON.parse(decode(raw)) as WebhookEvent
      } catch {
        // The message of JSON.parse quotes the body.
      }
      check(event?.id === id, event ? "id_mismatch" : "body_not_json", "gov-event-id")
      return { id, timestamp: new Date(time), event }
    }
    const matches = keys.map((key) => key(timestamp, raw, signatures))
    return node ? open(matches) : Promise.all(matches as ReadonlyArray<Promise<unknown>>).then(open)
  }

  return {
    verify: async (body, headers) => verify(body, headers),
    verifyRequest: async (request) =>
      verify((request.bodyUsed || (await request.arrayBuffer())) as ArrayBuffer, request.headers),
    verifySync: node
      ? (verify as Verifier["verifySync"])
      : () => {
          throw Error("verifySync requires node:crypto. Use verify.")
        }
  }
}
