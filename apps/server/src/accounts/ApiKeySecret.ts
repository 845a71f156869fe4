/**
 * The secrets of API keys: their format, their generation, and the hash that is stored of them.
 *
 * A secret is `sk_test_` or `sk_live_`, the bucket of its organization in 2 characters, 33 random letters and digits (196 bits),
 * and a checksum of 6 characters. The checksum rejects mistyped keys without a query, and lets secret scanners recognize leaked ones.
 */
import { Ids, type Mode } from "@govoice/core"
import * as crypto from "node:crypto"
import { crc32 } from "node:zlib"
import { alphanumeric, randomText } from "../crypto/OpaqueToken.ts"

const checksum = (body: string): string => {
  let text = ""
  for (let rest = crc32(body); text.length < 6; rest = Math.floor(rest / 62))
    text = alphanumeric.charAt(rest % 62) + text
  return text
}

/** Generates a secret for a key of an organization. */
export const generate = (mode: Mode.Mode, owner: Ids.OrganizationId): string => {
  const body = `sk_${mode}_${Ids.bucket(owner)}${randomText(33)}`
  return body + checksum(body)
}

/** Returns whether a text has the format and the checksum of a secret. */
export const isWellFormed = (secret: string): boolean =>
  /^sk_(?:test|live)_[0-9A-Za-z]{41}$/.test(secret) && checksum(secret.slice(0, -6)) === secret.slice(-6)

/** Returns the SHA-256 of a secret. Secrets have enough entropy to need no slower hash. */
export const hash = (secret: string): Buffer => crypto.hash("sha256", secret, "buffer")
