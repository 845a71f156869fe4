/** Opens a socket to the judged address of a target and to nothing else. */
import * as net from "node:net"
import * as tls from "node:tls"
import type { buildConnector } from "undici"
import { type Address, format, ipv4At, parse } from "./address.ts"
import type { Attempt } from "./attempt.ts"
import { PeerAddressError } from "./classify.ts"
import type { Target } from "./target.ts"
import { openTunnel, type Proxy } from "./tunnel.ts"

export interface Holder {
  /** Who waits for the socket now. */
  readonly attempt: Attempt | undefined
  /** Is given every socket as soon as there is one, so that it can be destroyed before it is connected. */
  readonly hold: (socket: net.Socket) => void
}

export const open = (target: Target, holder: Holder, callback: buildConnector.Callback): void => {
  const { proxy } = target.engine
  let pending = true
  const settle = (error: Error | null, socket: net.Socket) => {
    if (!pending) return
    pending = false
    if (error === null) return callback(null, socket)
    target.session = undefined
    socket.destroy()
    callback(error, null)
  }
  const watch = (socket: net.Socket) => {
    holder.hold(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 60_000)
    socket.on("error", (error) => settle(error, socket))
    // A socket that is destroyed without an error says so by closing.
    socket.once("close", () => settle(new Error("The socket was closed"), socket))
    socket.once("secureConnect", () => {
      holder.attempt?.onSecured()
      settle(null, socket)
    })
  }
  const onConnected = (socket: net.Socket) => {
    holder.attempt?.onConnected(target.secure)
    target.engine.connected(target)
    if (!target.secure) settle(null, socket)
  }
  if (proxy !== undefined) return openThrough(proxy, target, { watch, settle, onConnected })

  const address = { host: target.address, port: target.port }
  const socket = target.secure ? secured(target, address) : net.connect(address)
  watch(socket)
  socket.once("connect", () => {
    // Whatever led here: a socket to an address that was not judged carries nothing.
    if (canonical(socket.remoteAddress) === target.address) onConnected(socket)
    else settle(new PeerAddressError("The socket is connected to another address"), socket)
  })
}

interface Steps {
  readonly watch: (socket: net.Socket) => void
  readonly settle: (error: Error, socket: net.Socket) => void
  readonly onConnected: (socket: net.Socket) => void
}

const openThrough = (proxy: Proxy, target: Target, { onConnected, settle, watch }: Steps): void => {
  const { host, port } = proxy
  const socket = net.connect({ host, port })
  watch(socket)
  socket.once("connect", () =>
    openTunnel(socket, proxy, target, (error) => {
      if (error !== null) return settle(error, socket)
      if (target.secure) watch(secured(target, { socket, host: target.address }))
      onConnected(socket)
    })
  )
}

const secured = (target: Target, where: tls.ConnectionOptions): tls.TLSSocket => {
  const socket = tls.connect({
    ...where,
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
