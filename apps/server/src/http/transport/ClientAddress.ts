/**
 * The address of a client: that of its connection, or the one that a trusted proxy reports in `X-Forwarded-For` (or
 * `Forwarded`, RFC 7239). Repeated headers are joined with commas.
 */
import { BlockList, isIP } from "node:net"

const mapped = /^::ffff:(?=\d+\.)/i

// `::` stands for the groups of zeros that are missing.
const firstGroups = (address: string): string => {
  const [head = "", tail] = address.split("%", 1)[0]!.split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0")
  return [...left, ...zeros, ...right].slice(0, 4).join(":")
}

/**
 * Returns the key that the limits of an address are counted under: an IPv4 address alone, an IPv6 address with its network
 * of 64 bits, because a subscriber gets a whole network.
 */
export const group = (address: string | undefined): string => {
  if (address === undefined) return "unknown"
  const unmapped = address.replace(mapped, "")
  return unmapped.includes(":") ? `${firstGroups(unmapped.toLowerCase())}::/64` : unmapped
}

// With a port, with brackets around IPv6, with quotes around either: the forms of RFC 7239 §6 and of common proxies.
const addressOfHop = (hop: string): string | undefined => {
  const text = hop.trim().replace(/^"(.*)"$/, "$1")
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? text.replace(/^([^:]*):\d{1,5}$/, "$1")
  return isIP(bare) === 0 ? undefined : bare.replace(mapped, "")
}

const forwardedFor = (element: string): string =>
  /(?:^|;)\s*for\s*=\s*("(?:[^"\\]|\\.)*"|[^;\s]*)/i.exec(element)?.[1] ?? ""

// A comma inside quotes does not end an element. Scanned by hand: a regular expression would be quadratic.
const elementsOf = (forwarded: string): ReadonlyArray<string> => {
  const elements: Array<string> = []
  let start = 0
  let isQuoted = false
  for (let index = 0; index < forwarded.length; index++) {
    const character = forwarded[index]
    if (character === "\\" && isQuoted) index++
    else if (character === '"') isQuoted = !isQuoted
    else if (character === "," && !isQuoted) {
      elements.push(forwarded.slice(start, index))
      start = index + 1
    }
  }
  elements.push(forwarded.slice(start))
  return elements
}

// A longer chain of trusted proxies is not a deployment.
const maxProxies = 32

/** Finds the addresses of clients behind the proxies of one deployment. */
export interface ClientAddresses {
  /** Whether an address belongs to a trusted proxy. */
  readonly isProxy: (address: string | undefined) => boolean
  /** Returns the address of the client whose request arrived from `peer`. */
  readonly find: (peer: string, headers: Readonly<Record<string, string | undefined>>) => string
}

/** Makes the finder for the networks of the trusted proxies, in CIDR notation. */
export const make = (trustedProxies: ReadonlyArray<string>): ClientAddresses => {
  const proxies = new BlockList()
  for (const network of trustedProxies) {
    const [address = "", prefix = ""] = network.split("/")
    const family = isIP(address) === 6 ? "ipv6" : "ipv4"
    proxies.addSubnet(address, prefix === "" ? (family === "ipv6" ? 128 : 32) : Number(prefix), family)
  }

  const isProxy = (address: string | undefined): boolean => {
    const unmapped = address?.replace(mapped, "") ?? ""
    const version = isIP(unmapped)
    return version !== 0 && proxies.check(unmapped, version === 6 ? "ipv6" : "ipv4")
  }

  // Each proxy adds the address that it was called from on the right, so only what stands left of a trusted one is believed.
  const rightmostUntrusted = (peer: string, hops: ReadonlyArray<string>): string => {
    let client = peer
    for (const hop of hops.slice(-maxProxies).toReversed()) {
      const address = isProxy(client) ? addressOfHop(hop) : undefined
      if (address === undefined) return client
      client = address
    }
    return client
  }

  return {
    isProxy,
    find: (peer, { forwarded, "x-forwarded-for": forwardedForList }) => {
      if (!isProxy(peer)) return peer
      const byList = forwardedForList === undefined ? undefined : rightmostUntrusted(peer, forwardedForList.split(","))
      const byForwarded =
        forwarded === undefined
          ? undefined
          : rightmostUntrusted(peer, elementsOf(forwarded).slice(-maxProxies).map(forwardedFor))
      // A proxy maintains one of the two headers and may pass the client's own version of the other through.
      if (byList !== undefined && byForwarded !== undefined && byList !== byForwarded) return peer
      return byList ?? byForwarded ?? peer
    }
  }
}
