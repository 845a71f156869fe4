/**
 * Verification of webhooks.
 *
 * @module
 */
import type { WebhookBody } from "./body.ts"
import type { WebhookEvent } from "./event.ts"
import type { WebhookHeaders } from "./headers.ts"
import { makeVerify } from "./internal/verify.ts"

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

/** Made by {@link createVerifier}. None of its operations needs `this`. */
export interface Verifier {
  readonly verify: (body: WebhookBody, headers: WebhookHeaders) => Promise<VerifiedWebhook>
  readonly verifyRequest: (request: WebhookRequest) => Promise<VerifiedWebhook>
  readonly verifySync: (body: WebhookBody, headers: WebhookHeaders) => VerifiedWebhook
}

export const createVerifier = (options: VerifierOptions): Verifier => {
  const { verify, sync } = makeVerify(options)
  const { now = Date.now } = options
  return {
    verify: async (body, headers) => verify(body, headers, now()),
    verifyRequest: async (request) =>
      verify(request.bodyUsed ? undefined! : await request.arrayBuffer(), request.headers, now()),
    verifySync: (body, headers) => {
      if (!sync) throw new Error("There is no node:crypto here: use verify")
      return verify(body, headers, now()) as VerifiedWebhook
    }
  }
}
