/**
 * Encryption at rest: AES-256-GCM (NIST SP 800-38D) with a ring of keys. The first key encrypts, and every key decrypts.
 *
 * A sealed value is bound to its table, column and row by associated data: copied to another row, it does not open.
 */
import { Context, Layer } from "effect"
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import type { EncryptionKey } from "../settings/Parsers.ts"

/** The table, column and row of a sealed value. */
export interface Place {
  readonly column:
    | "webhook_endpoints.secret"
    | "webhook_endpoints.headers"
    | "organizations.credential"
    | "offline_certificates.private_key"
    | "national_logins.access_token"
    | "national_logins.refresh_token"
  readonly row: string
}

/**
 * A sealed value that the ring cannot open: its key is missing, or the key of that id is not the one that sealed it. Both
 * are faults of the deployment, and opening succeeds when the key is back.
 */
export class KeyUnavailable extends Error {
  readonly _tag = "KeyUnavailable"
  readonly keyId: string
  readonly reason: "missing" | "wrong"

  constructor(keyId: string, reason: "missing" | "wrong") {
    super(
      reason === "missing"
        ? `GOVOICE_ENCRYPTION_KEYS lacks the key ${JSON.stringify(keyId)}`
        : `The key ${JSON.stringify(keyId)} of GOVOICE_ENCRYPTION_KEYS is not the one that sealed a stored value`
    )
    this.name = this._tag
    this.keyId = keyId
    this.reason = reason
  }
}

const version = 1
const nonceLength = 12
const tagLength = 16

const associatedData = ({ column, row }: Place): Buffer => Buffer.from(`${column}:${row}`)

/** Service that seals and opens values. */
export class KeyRing extends Context.Service<
  KeyRing,
  {
    /** Encrypts with the first key: version, length of the key id, key id, nonce, tag, ciphertext. */
    readonly seal: (plain: string, place: Place) => Uint8Array
    /** Decrypts. Throws `KeyUnavailable`, or an error for a value of an unknown version. */
    readonly open: (sealed: Uint8Array, place: Place) => string
    /** Tells whether a value was sealed with the first key. */
    readonly isCurrent: (sealed: Uint8Array) => boolean
  }
>()("@govoice/server/crypto/KeyRing") {}

/** Returns the id of the key that sealed a value. */
export const keyIdOf = (sealed: Uint8Array): string => {
  if (sealed[0] !== version) throw new Error("A sealed value has an unknown version")
  return Buffer.from(sealed.subarray(2, 2 + (sealed[1] ?? 0))).toString()
}

/** Makes a ring of at least one key. */
export const make = (keys: ReadonlyArray<EncryptionKey>): KeyRing["Service"] => {
  const [current] = keys
  if (current === undefined) throw new Error("A key ring needs a key")
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
      if (key === undefined) throw new KeyUnavailable(id, "missing")
      const body = sealed.subarray(2 + Buffer.byteLength(id))
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, body.subarray(0, nonceLength), {
          authTagLength: tagLength
        })
          .setAAD(associatedData(place))
          .setAuthTag(body.subarray(nonceLength, nonceLength + tagLength))
        return decipher.update(body.subarray(nonceLength + tagLength), undefined, "utf8") + decipher.final("utf8")
      } catch {
        throw new KeyUnavailable(id, "wrong")
      }
    },

    isCurrent: (sealed) => keyIdOf(sealed) === current.id
  }
}

/** Provides a ring of these keys. */
export const layer = (keys: ReadonlyArray<EncryptionKey>): Layer.Layer<KeyRing> => Layer.succeed(KeyRing)(make(keys))
