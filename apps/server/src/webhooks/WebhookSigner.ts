/** Signs the requests of attempts with the secrets of their endpoints. */
import type { DispatchRequest } from "@govoice/dispatcher"
import { signSync } from "@govoice/webhooks"
import type { KeyRing } from "../crypto/KeyRing.ts"
import { version } from "../version.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import * as StandardWebhooks from "./StandardWebhooks.ts"

// Decrypting a secret costs as much as sending a request.
const maxCachedSecrets = 1000

/** Decrypts and signs. */
export interface WebhookSigner {
  /** Returns the secret that signs at this time. Throws if the key ring does not open it. */
  readonly openSecret: (delivery: ClaimedDelivery, now: number) => string
  /** Returns the signed request. Throws if the secret cannot sign. */
  readonly sign: (delivery: ClaimedDelivery, secret: string, now: number) => Omit<DispatchRequest, "deadlineMs">
}

const activeSecret = (delivery: ClaimedDelivery, now: number): Uint8Array =>
  delivery.next_secret !== null && delivery.next_secret_at !== null && delivery.next_secret_at.getTime() <= now
    ? delivery.next_secret
    : delivery.secret

/** Makes a signer. It caches decrypted secrets. */
export const make = (keyRing: KeyRing["Service"]): WebhookSigner => {
  const cache = new Map<string, { readonly sealed: Uint8Array; readonly secret: string }>()
  return {
    openSecret: (delivery, now) => {
      const endpointId = delivery.endpoint_id
      const sealed = activeSecret(delivery, now)
      const cached = cache.get(endpointId)
      if (cached !== undefined && Buffer.compare(cached.sealed, sealed) === 0) return cached.secret
      const secret = keyRing.open(sealed, { column: "webhook_endpoints.secret", row: endpointId })
      // A map iterates in insertion order, so the first is the oldest.
      const [first] = cache.keys()
      if (cache.size >= maxCachedSecrets && first !== undefined) cache.delete(first)
      cache.set(endpointId, { sealed, secret })
      return secret
    },

    sign: (delivery, secret, now) => {
      const timestamp = new Date(now).toISOString()
      const standard = delivery.standard_webhooks
        ? StandardWebhooks.signedHeaders({ id: delivery.event_id, now, body: delivery.body, secret })
        : undefined
      return {
        url: delivery.url,
        body: delivery.body,
        headers: {
          "content-type": "application/json",
          "gov-event-id": delivery.event_id,
          "gov-timestamp": timestamp,
          "gov-signature": signSync({ secret, timestamp, body: delivery.body }),
          "user-agent": `Govoice-Webhooks/${version}`,
          ...standard
        }
      }
    }
  }
}
