/**
 * Looks host names up and judges every address, so that a host of KSeF that resolves to a private address is not connected
 * to.
 */
import dns from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { judgeAddress } from "@govoice/dispatcher"

/** Returns the addresses of a host name. */
export type Resolve = (hostname: string) => Promise<ReadonlyArray<string>>

/** There was no connection, so nothing of the request was sent. */
export class ConnectError extends Error {
  readonly reason: "lookup-failed" | "address-refused" | "connect-failed" | "tls-failed"
  readonly code: string | undefined

  constructor(reason: ConnectError["reason"], code: string | undefined) {
    super(reason)
    this.reason = reason
    this.code = code
  }

  static from(error: NodeJS.ErrnoException, reason?: ConnectError["reason"]): ConnectError {
    return new ConnectError(
      reason ?? (error.syscall === "getaddrinfo" ? "lookup-failed" : "connect-failed"),
      error.code
    )
  }
}

/**
 * Asks the operating system by `dns.lookup`, as all sockets do. A process can replace it, to look a name up once for all that wait for
 * it: hence the default import, which sees the replacement.
 */
export const resolveWithSystem: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    dns.lookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses.map(({ address }) => address))
      else reject(error)
    })
  })

/** A lookup for sockets. Where `isPublic`, one address that is not public refuses all of them. */
export const guardedLookup =
  (resolve: Resolve, isPublic: boolean): LookupFunction =>
  (hostname, options, callback) => {
    const answer = async () => {
      const addresses = await resolve(hostname)
      if (addresses.length === 0) throw new ConnectError("lookup-failed", "ENODATA")
      if (isPublic && !addresses.every((address) => judgeAddress(address).ok)) {
        throw new ConnectError("address-refused", undefined)
      }
      return addresses.map((address) => ({ address, family: isIP(address) }))
    }
    answer().then(
      (addresses) => {
        if (options.all === true) callback(null, addresses)
        else callback(null, addresses[0]!.address, addresses[0]!.family)
      },
      (error: NodeJS.ErrnoException) =>
        callback(error instanceof ConnectError ? error : new ConnectError("lookup-failed", error.code), [])
    )
  }
