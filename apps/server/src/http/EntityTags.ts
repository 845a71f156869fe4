/** Strong validators of responses (RFC 9110 §8.8.3), and the condition of `If-None-Match`. */
import { createHash } from "node:crypto"

/** Returns the entity tag of a hash. */
export const ofHash = (sha256: Uint8Array): string => `"${Buffer.from(sha256).toString("hex")}"`

/** Returns the entity tag of these bytes. */
export const ofBytes = (bytes: Uint8Array): string => ofHash(createHash("sha256").update(bytes).digest())

/** Whether `If-None-Match` names the tag: by weak comparison, and `*` matches every tag (RFC 9110 §13.1.2). */
export const matches = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch.split(",").some((entry) => {
    const candidate = entry.trim()
    return candidate === "*" || candidate.replace(/^W\//, "") === etag
  })
