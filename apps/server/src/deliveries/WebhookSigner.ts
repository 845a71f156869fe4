/** Signs the requests of attempts with the secrets of their endpoints. */
import type { DispatchRequest } from "@govoice/dispatcher"
import { signSync } from "@govoice/webhooks"
import type { KeyRing } from "../crypto/KeyRing.ts"
import { version } from "../version.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import * as EndpointHeaders from "./EndpointHeaders.ts"
import * as StandardWebhooks from "./StandardWebhooks.ts"

// Decrypting a secret costs as much as sending a request.
const maxCachedSecrets = 1000

/** What an endpoint keeps secret. */
export interface EndpointSecrets {
  /** Signs at this time. */
  readonly secret: string
  readonly headers: EndpointHeaders.EndpointHeaders
}

/** Decrypts and signs. */
export interface WebhookSigner {
  /** Returns the secrets at this time. Throws if the key ring does not open them. */
  readonly openSecrets: (delivery: ClaimedDelivery, now: number) => EndpointSecrets
  /** Returns the signed request. Throws if the secret cannot sign. */
  readonly sign: (
    delivery: ClaimedDelivery,
    secrets: EndpointSecrets,
    now: number
  ) => Omit<DispatchRequest, "deadlineMs">
}

const activeSecret = (delivery: ClaimedDelivery, now: number): Uint8Array =>
  delivery.next_secret !== null && delivery.next_secret_at !== null && delivery.next_secret_at.getTime() <= now
    ? delivery.next_secret
    : delivery.secret

interface Cached {
  readonly sealedSecret: Uint8Array
  readonly sealedHeaders: Uint8Array | null
  readonly secrets: EndpointSecrets
}

const isSame = (one: Uint8Array | null, other: Uint8Array | null): boolean =>
  one === null || other === null ? one === other : Buffer.compare(one, other) === 0

/** Makes a signer. It caches decrypted secrets. */
export const make = (keyRing: KeyRing["Service"]): WebhookSigner => {
  const cache = new Map<string, Cached>()
  return {
    openSecrets: (delivery, now) => {
      const { endpoint_id: endpointId, headers: sealedHeaders } = delivery
      const sealedSecret = activeSecret(delivery, now)
      const cached = cache.get(endpointId)
      if (
        cached !== undefined &&
        isSame(cached.sealedSecret, sealedSecret) &&
        isSame(cached.sealedHeaders, sealedHeaders)
      )
        return cached.secrets
      const secrets = {
        secret: keyRing.open(sealedSecret, { column: "webhook_endpoints.secret", row: endpointId }),
        headers: sealedHeaders === null ? {} : EndpointHeaders.open(keyRing, endpointId, sealedHeaders)
      }
      // A map iterates in insertion order, so the first is the oldest.
      const [first] = cache.keys()
      if (cache.size >= maxCachedSecrets && first !== undefined) cache.delete(first)
      cache.set(endpointId, { sealedSecret, sealedHeaders, secrets })
      return secrets
    },

    sign: (delivery, { headers, secret }, now) => {
      const timestamp = new Date(now).toISOString()
      const standard = delivery.standard_webhooks
        ? StandardWebhooks.signedHeaders({ id: delivery.event_id, now, body: delivery.body, secret })
        : undefined
      return {
        url: delivery.url,
        body: delivery.body,
        headers: {
          ...headers,
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
