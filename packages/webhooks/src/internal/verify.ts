/**
 * Verification itself, which the promise face and the Effect face share. It has no clock.
 *
 * @module
 */
import { readBody, type WebhookBody } from "../body.ts"
import { check } from "../error.ts"
import type { WebhookEvent } from "../event.ts"
import { readHeaders, readSignatures, readTimestamp, type WebhookHeaders } from "../headers.ts"
import { checkSecret } from "../secret.ts"
import type { VerifiedWebhook, VerifierOptions } from "../verifier.ts"
import { nodeSignature, signedBytes, webKey } from "./mac.ts"
import { decoder, encoder, nodeCrypto, subtle, type WebKey } from "./platform.ts"

/** Verifies at `now`, in milliseconds: at once where there is `node:crypto`, through Web Crypto elsewhere. */
export type Verify = (
  body: WebhookBody,
  headers: WebhookHeaders,
  now: number
) => VerifiedWebhook | Promise<VerifiedWebhook>

const kept = () => {
  const bytes = new Uint8Array(67)
  return (signature: string) => {
    encoder.encodeInto(signature, bytes)
    return bytes
  }
}

// Kept, because making two buffers for `timingSafeEqual` would take as long as the comparison of everything else.
const expectedBytes = kept()
const receivedBytes = kept()

export const makeVerify = ({ secret, secrets = [secret!], toleranceSeconds = 300 }: VerifierOptions) => {
  const keys = Array.from(secrets, checkSecret)
  checkSecret(keys[0])
  const node = nodeCrypto()
  const nodeKeys = node && keys.map((key) => node.createSecretKey(key, "utf8"))
  const webKeys: Array<WebKey> = []

  const verify: Verify = (body, headers, now) => {
    const raw = readBody(body)
    const [id, timestamp, signature] = readHeaders(headers) as [string, string, string]
    const signatures = readSignatures(signature)
    const time = readTimestamp(timestamp)
    const age = now - time.getTime()
    // Whatever is not a number, here or in the options, refuses everything.
    check(
      Math.abs(age) <= toleranceSeconds * 1000,
      age < 0 ? "timestamp_too_new" : "timestamp_too_old",
      "gov-timestamp"
    )

    const open = (matches: boolean, received: Uint8Array): VerifiedWebhook => {
      check(matches, "no_match")
      let event: WebhookEvent | null
      try {
        event = JSON.parse(decoder.decode(received)) as WebhookEvent | null
      } catch {
        // Not handed on: what JSON.parse throws quotes the body.
        check(false, "body_not_json", "the signature matches")
      }
      check(event?.id === id, "id_mismatch", "gov-event-id")
      return { id, timestamp: time, event }
    }

    if (node) {
      const matches = nodeKeys!.some((key) => {
        const expected = expectedBytes(nodeSignature(node, key, timestamp, raw))
        return signatures.some((signature) => node.timingSafeEqual(expected, receivedBytes(signature)))
      })
      return open(matches, raw)
    }

    // A copy, so that nobody changes between the check and the parsing what both have to see.
    const data = signedBytes(timestamp, raw)
    return (async () => {
      let matches = false
      for (const index of keys.keys()) {
        for (const signature of signatures) {
          // The key is kept and not the promise of it: workerd refuses to await what another request began.
          webKeys[index] ??= await webKey(keys[index]!)
          const mac = Uint8Array.from(signature.slice(3).match(/../g)!, (byte) => parseInt(byte, 16))
          matches ||= await subtle().verify("HMAC", webKeys[index], mac, data)
        }
      }
      return open(matches, data.subarray(timestamp.length + 1))
    })()
  }
  return { verify, sync: node !== undefined }
}
