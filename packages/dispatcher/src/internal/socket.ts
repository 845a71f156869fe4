/** Opens a socket to the judged address of a target and to nothing else. */
import * as net from "node:net"
import * as tls from "node:tls"
import type { buildConnector } from "undici"
import { type Address, format, ipv4At, parse } from "./address.ts"
import type { Attempt } from "./attempt.ts"
import { PeerAddressError } from "./classify.ts"
import type { Target } from "./target.ts"

export const open = (
  target: Target,
  attempt: () => Attempt | undefined,
  callback: buildConnector.Callback
): net.Socket => {
  const socket = target.secure ? openTls(target) : net.connect({ host: target.address, port: target.port })
  let pending = true
  const settle = (error: Error | null) => {
    if (!pending) return
    pending = false
    if (error === null) return callback(null, socket)
    target.session = undefined
    callback(error, null)
  }
  socket.setNoDelay(true)
  socket.setKeepAlive(true, 60_000)
  socket.on("error", settle)
  // A socket that is destroyed without an error says so by closing.
  socket.once("close", () => settle(new Error("The socket was closed")))
  socket.once("connect", () => {
    // Whatever led here: a socket to an address that was not judged carries nothing.
    if (canonical(socket.remoteAddress) !== target.address) {
      socket.destroy(new PeerAddressError("The socket is connected to another address"))
      return
    }
    attempt()?.onConnected(target.secure)
    target.engine.connected(target)
    if (!target.secure) settle(null)
  })
  if (target.secure) {
    socket.once("secureConnect", () => {
      attempt()?.onSecured()
      settle(null)
    })
  }
  return socket
}

const openTls = (target: Target): tls.TLSSocket => {
  const socket = tls.connect({
    host: target.address,
    port: target.port,
    // An address has no name to send; its certificate is checked against the address.
    ...(net.isIP(target.hostname) === 0 ? { servername: target.hostname } : undefined),
    ...(target.session === undefined ? undefined : { session: target.session }),
    ALPNProtocols: ["http/1.1"],
    secureContext: target.engine.secureContext,
    // Said here because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
    rejectUnauthorized: true
  })
  socket.on("session", (session) => {
    target.session = session
  })
  return socket
}

/** An address as Node reports it, in the form that judged addresses have. */
const canonical = (text: string | undefined): string | undefined => {
  const address = text === undefined ? undefined : parse(text)
  return address === undefined ? undefined : format(unmapped(address))
}

const unmapped = (address: Address): Address =>
  address.family === 6 && address.groups[5] === 0xffff && address.groups.slice(0, 5).every((group) => group === 0)
    ? ipv4At(address, 6)
    : address
