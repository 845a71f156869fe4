/**
 * The AES-256 key and initialization vector of one session.
 *
 * KSeF uses the same pair for every document of a session, so a session needs a pair of its own. The vector travels in
 * the request that opens the session and is never put in front of encrypted bytes.
 *
 * @since 0.1.0
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto"
import * as Oaep from "./Oaep.ts"

/**
 * One pair. Its bytes are private, so it neither serializes nor prints them.
 *
 * @category models
 * @since 0.1.0
 */
export class SessionKey {
  readonly #key: Buffer
  readonly #vector: Buffer
  #wiped = false

  private constructor(key: Buffer, vector: Buffer) {
    this.#key = key
    this.#vector = vector
  }

  /**
   * Returns a new random pair.
   */
  static generate(): SessionKey {
    return new SessionKey(randomBytes(32), randomBytes(16))
  }

  /**
   * Returns the pair of these bytes, which are copied.
   *
   * @throws {RangeError} when the key has not 32 bytes or the vector not 16.
   */
  static from(key: Uint8Array, vector: Uint8Array): SessionKey {
    if (key.length !== 32) throw new RangeError(`Expected a key of 32 bytes, got ${key.length}`)
    if (vector.length !== 16)
      throw new RangeError(`Expected an initialization vector of 16 bytes, got ${vector.length}`)
    return new SessionKey(Buffer.from(key), Buffer.from(vector))
  }

  /**
   * The initialization vector in Base64, as the opening request carries it.
   */
  get initializationVector(): string {
    return this.#usable(this.#vector).toString("base64")
  }

  /**
   * Returns the key, encrypted for KSeF with its public key, in Base64.
   */
  wrappedFor(publicKey: KeyObject): string {
    return Oaep.encrypt(publicKey, this.#usable(this.#key)).toString("base64")
  }

  /**
   * Encrypts with AES-256-CBC and PKCS#7 padding: 1 to 16 bytes longer, a multiple of 16.
   */
  encrypt(bytes: Uint8Array): Buffer {
    const cipher = createCipheriv("aes-256-cbc", this.#usable(this.#key), this.#vector)
    return Buffer.concat([cipher.update(bytes), cipher.final()])
  }

  /**
   * Decrypts, or returns `undefined` where the length or the padding is wrong.
   */
  decrypt(bytes: Uint8Array): Buffer | undefined {
    const decipher = createDecipheriv("aes-256-cbc", this.#usable(this.#key), this.#vector)
    try {
      return Buffer.concat([decipher.update(bytes), decipher.final()])
    } catch {
      return undefined
    }
  }

  /**
   * Overwrites the key with zeros. Using the pair afterwards throws.
   */
  wipe(): void {
    this.#wiped = true
    this.#key.fill(0)
    this.#vector.fill(0)
  }

  // A key of zeros would encrypt without complaint.
  #usable(bytes: Buffer): Buffer {
    if (this.#wiped) throw new Error("The session key was wiped")
    return bytes
  }
}
