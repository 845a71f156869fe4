/** The headers of the Standard Webhooks specification, version 1: https://www.standardwebhooks.com. */
import { createHmac } from "node:crypto"

/**
 * Returns whether a secret can sign Standard Webhooks: the characters after its prefix are whole base64. Secrets of the first
 * format were base64url of 32 bytes, which the libraries of the specification reject or decode differently.
 */
export const canSign = (secret: string): boolean => /^whsec_(?:[A-Za-z0-9+/]{4}){8,}$/.test(secret)

/**
 * Signs one attempt. The signature covers the event id, the time in seconds and the body; its key is the base64 after
 * `whsec_`.
 */
export const signedHeaders = (message: {
  readonly id: string
  readonly now: number
  readonly body: string
  readonly secret: string
}): Record<string, string> => {
  const timestamp = String(Math.floor(message.now / 1000))
  const key = Buffer.from(message.secret.slice("whsec_".length), "base64")
  const mac = createHmac("sha256", key).update(`${message.id}.${timestamp}.${message.body}`).digest("base64")
  return { "webhook-id": message.id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` }
}
