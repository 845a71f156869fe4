/**
 * Encryption at rest: AES-256-GCM (NIST SP 800-38D) under a ring of keys. The first key encrypts, every key decrypts.
 *
 * A sealed value is bound to the place it was made for by associated data, so that a value copied to another row does
 * not open there.
 *
 * @since 0.1.0
 */
import { Context, Layer } from "effect"
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import type { EncryptionKey } from "../settings/Parsers.ts"

/**
 * The place of a sealed value: its table, column and row.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly column: "webhook_endpoints.secret" | "organizations.credential"
  readonly row: string
}

const version = 1
const nonceLength = 12
const tagLength = 16

const associatedData = ({ column, row }: Place): Buffer => Buffer.from(`${column}:${row}`)

/**
 * Service that seals and opens values.
 *
 * **Details**
 *
 * `seal` returns version, length of the key's id, the id, a nonce, the tag and the ciphertext. `open` throws when the
 * value was made elsewhere, was changed, or names a key that is not in the ring: all of them are defects.
 *
 * @category services
 * @since 0.1.0
 */
export class KeyRing extends Context.Service<
  KeyRing,
  {
    readonly seal: (plain: string, place: Place) => Uint8Array
    readonly open: (sealed: Uint8Array, place: Place) => string
    /** Whether a value was sealed with the first key. */
    readonly isCurrent: (sealed: Uint8Array) => boolean
  }
>()("@govoice/server/security/KeyRing") {}

const keyIdOf = (sealed: Uint8Array): string => {
  if (sealed[0] !== version) throw new Error("A sealed value has an unknown version")
  return Buffer.from(sealed.subarray(2, 2 + (sealed[1] ?? 0))).toString()
}

/**
 * Makes a ring of keys, of which there is at least one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (keys: ReadonlyArray<EncryptionKey>): KeyRing["Service"] => {
  const [current] = keys
  if (current === undefined) throw new Error("A ring of keys needs a key")
  const byId = new Map(keys.map((key) => [key.id, key.bytes]))
  const header = Buffer.concat([Uint8Array.of(version, Buffer.byteLength(current.id)), Buffer.from(current.id)])

  return {
    seal: (plain, place) => {
      const nonce = randomBytes(nonceLength)
      const cipher = createCipheriv("aes-256-gcm", current.bytes, nonce).setAAD(associatedData(place))
      const sealed = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()])
      return new Uint8Array(Buffer.concat([header, nonce, cipher.getAuthTag(), sealed]))
    },
    open: (sealed, place) => {
      const id = keyIdOf(sealed)
      const key = byId.get(id)
      if (key === undefined) throw new Error(`GOVOICE_ENCRYPTION_KEYS lacks the key ${JSON.stringify(id)}`)
      const body = sealed.subarray(2 + Buffer.byteLength(id))
      const decipher = createDecipheriv("aes-256-gcm", key, body.subarray(0, nonceLength), { authTagLength: tagLength })
        .setAAD(associatedData(place))
        .setAuthTag(body.subarray(nonceLength, nonceLength + tagLength))
      return decipher.update(body.subarray(nonceLength + tagLength), undefined, "utf8") + decipher.final("utf8")
    },
    isCurrent: (sealed) => keyIdOf(sealed) === current.id
  }
}

/**
 * Layer that provides a ring of these keys.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (keys: ReadonlyArray<EncryptionKey>): Layer.Layer<KeyRing> => Layer.succeed(KeyRing)(make(keys))
