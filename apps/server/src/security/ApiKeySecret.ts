/**
 * API keys: how they look, how they are made, and the only form in which they are stored.
 *
 * A key is `sk_test_` or `sk_live_`, 33 characters of base62 for 192 random bits, and 6 characters of checksum, so that
 * a mistyped key is known without asking the database, and a leaked one can be found by scanners.
 *
 * @since 0.1.0
 */
import type { Mode } from "@govoice/core"
import { createHash, randomBytes } from "node:crypto"
import { crc32 } from "node:zlib"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const base62 = (value: bigint, length: number): string => {
  let text = ""
  for (let rest = value; text.length < length; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text
  return text
}

// The same of a number of 32 bits, for every request: bigints are slow.
const checksum = (body: string): string => {
  let text = ""
  for (let rest = crc32(body); text.length < 6; rest = Math.floor(rest / 62)) text = alphabet.charAt(rest % 62) + text
  return text
}

/**
 * Makes a key of 192 random bits.
 *
 * @category constructors
 * @since 0.1.0
 */
export const generate = (mode: Mode.Mode): string => {
  const body = `sk_${mode}_${base62(BigInt(`0x${randomBytes(24).toString("hex")}`), 33)}`
  return body + checksum(body)
}

/**
 * Tells whether a text can be a key at all.
 *
 * @category guards
 * @since 0.1.0
 */
export const isWellFormed = (secret: string): boolean =>
  /^sk_(?:test|live)_[0-9A-Za-z]{39}$/.test(secret) && checksum(secret.slice(0, -6)) === secret.slice(-6)

/**
 * The SHA-256 of a key, which is all that is stored. Keys are random enough to need no slower hash.
 *
 * @category constructors
 * @since 0.1.0
 */
export const hash = (secret: string): Uint8Array => createHash("sha256").update(secret).digest()
