/**
 * Which names a server on a loopback address answers to.
 *
 * A page of another site can point its own name to 127.0.0.1, and is of the same origin as the server then (DNS rebinding). Its
 * name is a public one: it has a dot. So names without one, `*.localhost` and addresses are served. A proxy passes on the name
 * that clients use, so what a trusted one sends is served as well.
 */
import { isIP } from "node:net"
import { isLoopback } from "../../settings/loopback.ts"

/** Makes the check of `Host` for a server that listens on `listening`. Elsewhere, every name is served. */
export const make = (listening: string): ((host: string | undefined) => boolean) => {
  if (!isLoopback(listening)) return () => true
  return (host = "") => {
    const name = host
      .replace(/:\d*$/, "")
      .replace(/^\[(.*)\]$/, "$1")
      .replace(/\.$/, "")
      .toLowerCase()
    return !name.includes(".") || isIP(name) !== 0 || name.endsWith(".localhost")
  }
}

/** What a client learns whose `Host` is not served. */
export const refusal = (host: string): string =>
  `The Host header names ${JSON.stringify(host.slice(0, 128))}, and this server listens only on this machine. Call it by localhost or by its address. Behind a proxy, set GOVOICE_TRUSTED_PROXIES to the network of the proxy.`
