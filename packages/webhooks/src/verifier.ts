/**
 * Verification of webhooks.
 *
 * @module
 */
import { readBody, type WebhookBody } from "./body.ts"
import { check } from "./error.ts"
import type { WebhookEvent } from "./event.ts"
import type { WebhookHeaders } from "./headers.ts"
import { decode, readHeaders } from "./internal/fast.ts"
import { makeKey } from "./internal/key.ts"
import { nodeCrypto } from "./internal/platform.ts"

/** What a verifier needs to know. */
export type VerifierOptions = (
  | {
      /** The secret of the endpoint, `whsec_…`, all of it. */
      readonly secret: string
      readonly secrets?: undefined
    }
  | {
      /** Several secrets, of which one has to fit: the old and the new one while a secret is rotated. */
      readonly secrets: ReadonlyArray<string>
      readonly secret?: undefined
    }
) & {
  /**
   * How many seconds `Gov-Timestamp` may differ from the clock, in either direction.
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

/** A webhook that is what it claims to be. */
export interface VerifiedWebhook {
  /** The id of the event. The same event may arrive more than once: de-duplicate by it. */
  readonly id: string
  /** When this attempt was signed. */
  readonly timestamp: Date
  readonly event: WebhookEvent
}

/** What `verifyRequest` reads of a `Request`. */
export interface WebhookRequest {
  readonly bodyUsed: boolean
  readonly headers: WebhookHeaders
  arrayBuffer(): Promise<ArrayBuffer>
}

/** Made by {@link createVerifier}. No operation needs `this`. */
export interface Verifier {
  /**
   * Resolves with the webhook when it was signed with one of the secrets, recently; rejects otherwise.
   *
   * @throws {WebhookVerificationError} with a `code` that names the check that failed.
   */
  readonly verify: (body: WebhookBody, headers: WebhookHeaders) => Promise<VerifiedWebhook>

  /**
   * As {@link Verifier.verify}, for a `Request`, whose body it reads to the end. It sets no limit to the body: where
   * the server sets none either, use the adapter `@govoice/webhooks/web`.
   *
   * @throws {WebhookVerificationError} `body_not_raw` when the body was read before, and as `verify`.
   */
  readonly verifyRequest: (request: WebhookRequest) => Promise<VerifiedWebhook>

  /**
   * As {@link Verifier.verify}, at once. Works on Node (20.16 and newer), Bun, Deno and workerd with nodejs_compat.
   *
   * @throws {WebhookVerificationError} with a `code` that names the check that failed.
   * @throws {Error} that names `verify`, where the runtime has no `node:crypto`.
   */
  readonly verifySync: (body: WebhookBody, headers: WebhookHeaders) => VerifiedWebhook
}

/**
 * Prepares the secrets of an endpoint, once, for the verification of the webhooks that arrive there.
 *
 * **When to use**
 *
 * Use wherever webhooks are received, before anything in them is read: make one verifier at the start of the program.
 * The adapters (`@govoice/webhooks/express`, `/fastify`, `/node`, `/web`) do it for you and answer the request too.
 *
 * **Details**
 *
 * What is verified is `Gov-Timestamp` as received, a period, and the bytes of the body. They are decoded and parsed
 * only once a signature fits, and signatures are compared by the platform in constant time. The timestamp may differ
 * from the clock by `toleranceSeconds` in either direction. Up to 8 signatures of a header are looked at; versions
 * other than `v1` are skipped.
 *
 * **Gotchas**
 *
 * `body` has to be what was received. A body that was parsed and serialised again, as `express.json()` leaves it,
 * fails with `body_not_raw` or `no_match`.
 *
 * A webhook that verifies may be a repetition: the service delivers at least once, and whoever recorded a webhook can
 * send it again while its timestamp is fresh. Remember `id`, and handle each id once.
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
 * @throws {WebhookVerificationError} `bad_secret`, unless every secret begins with `whsec_` and is free of white space.
 */
export const createVerifier = ({
  secret,
  secrets = [secret!],
  toleranceSeconds = 300,
  now = Date.now
}: VerifierOptions): Verifier => {
  const node = nodeCrypto()
  const keys = Array.from(secrets[0] ? secrets : [""], makeKey)

  const verify = (body: WebhookBody, headers: WebhookHeaders): VerifiedWebhook | Promise<VerifiedWebhook> => {
    // Web Crypto takes a while. It gets a copy, so that nobody changes the body between the check and the parsing.
    const raw = node ? readBody(body) : new Uint8Array(readBody(body))
    const [id, timestamp, time, signatures] = readHeaders(headers)
    const age = now() - time
    check(
      // What is not a number, of the clock or in the options, is refused.
      Math.abs(age) <= toleranceSeconds * 1000,
      age < 0 ? "timestamp_too_new" : "timestamp_too_old",
      "gov-timestamp"
    )
    const open = (matches: ReadonlyArray<unknown>): VerifiedWebhook => {
      // Not merely truthy, as a promise is.
      check(matches.includes(true), "no_match")
      let event: WebhookEvent | undefined
      try {
        event = JSON.parse(decode(raw)) as WebhookEvent
      } catch {
        // What JSON.parse throws quotes the body.
      }
      check(event?.id === id, event ? "id_mismatch" : "body_not_json", "but signed")
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
          throw Error("no node:crypto: use verify")
        }
  }
}
