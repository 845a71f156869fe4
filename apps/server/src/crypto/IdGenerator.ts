/** New identifiers, from a point in time and the platform's randomness. */
import { Ids } from "@govoice/core"
import { randomFillSync } from "node:crypto"

// Ten random bytes cost as much as a thousand, so they are taken from a buffer.
const pool = new Uint8Array(Ids.randomLength * 512)
let used = pool.length

const random = (): Uint8Array => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += Ids.randomLength
  return pool.subarray(used - Ids.randomLength, used)
}

/**
 * Makes an identifier for a point in time, in milliseconds since the epoch. What belongs to an organization gets the bucket of
 * its identifier.
 */
export const at = <P extends Ids.Prefix>(prefix: P, timestamp: number, owner?: Ids.OrganizationId): Ids.Id<P> =>
  Ids.make(prefix, timestamp, random(), owner === undefined ? undefined : Ids.bucket(owner))
