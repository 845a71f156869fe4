/** Judges whether a host is this machine. */
import { isIPv4 } from "node:net"

/**
 * Whether a host, as `HOST` or a URL names it, is an address of this machine alone. Other names may lead to another machine,
 * whatever they begin with.
 */
export const isLoopback = (host: string): boolean => {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  return name === "localhost" || name === "::1" || (isIPv4(name) && name.startsWith("127."))
}
