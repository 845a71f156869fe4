/** Looks the name of a forward proxy up. */
import * as dns from "node:dns"
import type { LookupFunction } from "node:net"

const pending = new Map<string, Promise<Array<dns.LookupAddress>>>()

const lookUp = async (hostname: string): Promise<Array<dns.LookupAddress>> => {
  try {
    return await dns.promises.lookup(hostname, { all: true })
  } finally {
    pending.delete(hostname)
  }
}

/**
 * Asks the operating system, once for all connections that wait for a name: a lookup that hangs has one of the two threads that the
 * whole process has for lookups, and one for each connection would keep all others waiting.
 */
export const proxyLookup: LookupFunction = (hostname, { all }, callback) => {
  const answer = pending.get(hostname) ?? lookUp(hostname)
  pending.set(hostname, answer)
  answer.then(
    (addresses) => {
      if (all === true) callback(null, addresses)
      else callback(null, addresses[0]!.address, addresses[0]!.family)
    },
    (error: NodeJS.ErrnoException) => callback(error, [])
  )
}
