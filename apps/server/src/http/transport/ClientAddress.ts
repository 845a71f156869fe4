/**
 * The address of a client: that of its connection, or the one that a trusted proxy reports in `X-Forwarded-For` (or
 * `Forwarded`, RFC 7239). Repeated headers are joined with commas.
 */
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
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

/** Returns the key of the client of a request. */
export const groupOf = ({ remoteAddress }: Pick<HttpServerRequest.HttpServerRequest, "remoteAddress">): string =>
  group(Option.getOrUndefined(remoteAddress))

// With a port, with brackets around IPv6, with quotes around either: the forms of RFC 7239 §6 and of common proxies.
const addressOfHop = (hop: string): string | undefined => {
  const text = hop.trim().replace(/^"(.*)"$/, "$1")
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? text.replace(/^([^:]*):\d{1,5}$/, "$1")
  return isIP(bare) === 0 ? undefined : bare.replace(mapped, "")
}

// A pair of RFC 7239 with the delimiter behind it: the end of the pair, of the element or of the header.
const pair = /[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=("(?:[^"\\]|\\.)*"|[^\s",;]*)[ \t]*)?([,;]|$)/y

/**
 * Returns what each element names as the client: an empty text if it names none.
 *
 * A header that cannot be read to its end has no elements. A client can leave a quotation open in its own part of the header,
 * and what a proxy appends would be quoted text.
 */
const hopsOf = (forwarded: string): ReadonlyArray<string> => {
  const hops: Array<string> = []
  let hop = ""
  pair.lastIndex = 0
  for (let isComplete = false; !isComplete;) {
    const match = pair.exec(forwarded)
    if (match === null) return []
    const [, name, value = "", delimiter = ""] = match
    if (name?.toLowerCase() === "for") hop = value
    if (delimiter !== ";") hops.push(hop)
    if (delimiter === ",") hop = ""
    isComplete = delimiter === ""
  }
  return hops
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
      const byForwarded = forwarded === undefined ? undefined : rightmostUntrusted(peer, hopsOf(forwarded))
      // A proxy maintains one of the two headers and may pass the client's own version of the other through.
      if (byList !== undefined && byForwarded !== undefined && byList !== byForwarded) return peer
      return byList ?? byForwarded ?? peer
    }
  }
}
