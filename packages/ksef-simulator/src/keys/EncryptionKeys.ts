/**
 * The public keys of the simulated Ministry: one for tokens and one for session keys, in certificates of their own, with
 * rotation.
 */
import { createHash, createPrivateKey, type KeyObject } from "node:crypto"
import { Oaep } from "@govoice/ksef/crypto"
import type { Collection } from "../state/Collection.ts"
import type { EncryptionKey } from "../state/records.ts"
import { day, minute } from "../time/Clock.ts"
import type { Authority } from "./Authority.ts"
import type { GenerateRsa } from "./rsa.ts"

/** The use of a key. */
export type Usage = EncryptionKey["usage"]

const usages: ReadonlyArray<Usage> = ["KsefTokenEncryption", "SymmetricKeyEncryption"]

/**
 * How keys change. `planned`: new keys are published beside the old ones, which go on working. `emergency`: the old ones are
 * withdrawn. `unannounced`: the old ones are taken, and what is encrypted for them cannot be decrypted.
 */
export type Rotation = "planned" | "emergency" | "unannounced"

/** Decrypts with one of the keys, or returns `undefined` where that is impossible. */
export type Decrypt = (bytes: Uint8Array) => Buffer | undefined

interface Parts {
  readonly keys: Collection<EncryptionKey>
  readonly authority: Authority
  readonly now: () => number
  readonly generate: GenerateRsa
}

/** All keys, also those that are not published any more. */
export class EncryptionKeys {
  readonly #keys: Collection<EncryptionKey>
  readonly #authority: Authority
  readonly #now: () => number
  readonly #generate: GenerateRsa
  readonly #parsed = new Map<string, KeyObject>()

  private constructor({ authority, generate, keys, now }: Parts) {
    this.#keys = keys
    this.#authority = authority
    this.#now = now
    this.#generate = generate
  }

  /** Takes the keys of an earlier process, or generates the first ones. */
  static async open(parts: Parts): Promise<EncryptionKeys> {
    const opened = new EncryptionKeys(parts)
    if (parts.keys.size === 0) await opened.#issue(parts.now() - day)
    return opened
  }

  /** The keys that are published. */
  listed(): ReadonlyArray<EncryptionKey> {
    return Array.from(this.#keys.values()).filter(({ state }) => state === "listed")
  }

  /** Publishes new keys for both usages. */
  async rotate(rotation: Rotation): Promise<void> {
    const old = this.listed()
    // The keys that begin last are the new ones, however quickly rotations follow each other.
    const begin = Math.max(this.#now() - minute, ...old.map(({ validFrom }) => validFrom + 1000))
    await this.#issue(begin)
    if (rotation === "planned") return
    const state = rotation === "emergency" ? "withdrawn" : "unreadable"
    for (const { id } of old) this.#keys.update(id, { state })
  }

  /**
   * Returns what decrypts for the key that a client names, or `undefined` where there is none with this id. A client that
   * names none means the oldest one that is published.
   */
  choose(usage: Usage, id: string | null | undefined): Decrypt | undefined {
    const named =
      id === undefined || id === null ? this.listed().find((key) => key.usage === usage) : this.#keys.get(id)
    if (named === undefined || named.usage !== usage || named.state === "withdrawn") return undefined
    return (bytes) => (named.state === "unreadable" ? undefined : Oaep.decrypt(this.#privateKey(named), bytes))
  }

  #privateKey({ id, privateKey }: EncryptionKey): KeyObject {
    const known = this.#parsed.get(id)
    if (known !== undefined) return known
    const parsed = createPrivateKey(privateKey)
    this.#parsed.set(id, parsed)
    return parsed
  }

  async #issue(validFrom: number): Promise<void> {
    const pairs = await Promise.all(usages.map(() => this.#generate()))
    for (const [index, usage] of usages.entries()) {
      const { privateKey, publicKey } = pairs[index]!
      const validTo = validFrom + 2 * 365 * day
      const certificate = this.#authority.certify({
        subject: { commonName: `KSeF simulator ${usage}`, organization: "KSeF simulator", country: "PL" },
        validFrom,
        validTo,
        publicKey,
        usages: ["keyEncipherment"]
      })
      const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("base64")
      const id = sha256(publicKey.export({ type: "spki", format: "der" }))
      this.#keys.set(id, {
        id,
        certificateId: sha256(certificate),
        usage,
        certificate: certificate.toString("base64"),
        privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
        validFrom,
        validTo,
        state: "listed"
      })
    }
  }
}
