/** Judges the networks of trusted proxies: a client in one of them chooses the address that its limits count under. */
import { judgeAddress } from "@govoice/dispatcher"
import { isIPv6 } from "node:net"

// A public network of a proxy is never so large. The private ones are 10.0.0.0/8, fc00::/7 and smaller.
const isBroad = (network: string): boolean => {
  const [address = "", prefix = ""] = network.split("/")
  const bits = prefix === "" ? Infinity : Number(prefix)
  const { always, ifPublic } = isIPv6(address) ? { always: 6, ifPublic: 16 } : { always: 7, ifPublic: 8 }
  return bits <= always || (bits <= ifPublic && judgeAddress(address).ok)
}

/** Returns the networks that are so large that they contain clients. */
export const broadNetworks = (networks: ReadonlyArray<string>): ReadonlyArray<string> => networks.filter(isBroad)
