/** Opens a socket to one judged address, directly or through the proxy, with TLS where the URL asks for it. */
import * as net from "node:net"
import * as tls from "node:tls"
import type { buildConnector } from "undici"
import { format, parse } from "./address.ts"
import { codeError, PeerAddressError } from "./classify.ts"
import { type Handshakes, Transport } from "./handshakes.ts"
import type { Proxy } from "./optionReaders.ts"
import { unmapIpv4 } from "./policy.ts"
import { proxyLookup } from "./proxyLookup.ts"
import { openTunnel } from "./tunnel.ts"

/** Where a socket is opened to. */
export interface Endpoint {
  readonly secure: boolean
  readonly hostname: string
  readonly port: number
  /** A judged address. */
  readonly address: string
  /** The TLS session to resume. Host names share none, because a resumed session is not checked against a name again. */
  session: Buffer | undefined
}

export interface SocketSettings {
  readonly secureContext: tls.SecureContext
  readonly handshakes: Handshakes
  readonly proxy: Proxy | undefined
}

export interface SocketObserver {
  /**
   * Called as soon as there is a socket, so that it can be destroyed before it is connected: first with the TCP socket twice,
   * then with the one with TLS over it as the second.
   */
  readonly onSocket: (tcp: net.Socket, socket: net.Socket) => void
  /** The TCP connection, or the tunnel through the proxy, is established. */
  readonly onConnected: () => void
  readonly onSecured: (transport: Transport) => void
  /** Too much arrives below TLS, which was established. */
  readonly onFlood: () => void
}

/** The largest TLS session that is kept, in bytes. A receiver chooses its size, and one is kept for each pool. */
const maxSessionBytes = 16 * 1024

/** Opens a socket and calls back once, with the socket that carries HTTP or with an error. */
export const openSocket = (
  endpoint: Endpoint,
  { handshakes, proxy, secureContext }: SocketSettings,
  observer: SocketObserver,
  callback: buildConnector.Callback
): void => {
  if (endpoint.secure && handshakes.isResting(endpoint.address)) {
    const error = codeError("GOVOICE_HANDSHAKE", "The last TLS handshakes with this network took too long")
    return process.nextTick(() => callback(error, null))
  }
  let pending = true
  const settle = (error: Error | null, socket: net.Socket) => {
    if (!pending) return
    pending = false
    if (error === null) return callback(null, socket)
    endpoint.session = undefined
    socket.destroy()
    callback(error, null)
  }
  const watch = (socket: net.Socket) => {
    observer.onSocket(tcp, socket)
    socket.on("error", (error) => settle(error, socket))
    // A socket that is destroyed without an error emits `close` alone.
    socket.once("close", () => settle(new Error("The socket was closed"), socket))
  }
  const tcp = net.connect(
    proxy === undefined
      ? { host: endpoint.address, port: endpoint.port }
      : { host: proxy.host, port: proxy.port, lookup: proxyLookup }
  )
  watch(tcp)
  tcp.setNoDelay(true)
  tcp.setKeepAlive(true, 60_000)

  const onConnected = () => {
    observer.onConnected()
    if (!endpoint.secure) return settle(null, tcp)
    const transport = new Transport(tcp, {
      isResting: () => handshakes.isResting(endpoint.address),
      onWork: (before, milliseconds) => handshakes.note(endpoint.address, before, milliseconds),
      onFlood: observer.onFlood
    })
    const socket = startTls(endpoint, secureContext, transport)
    // An idle connection does not keep the process alive. Node does not pass that on to a stream.
    socket.ref = () => (tcp.ref(), socket)
    socket.unref = () => (tcp.unref(), socket)
    watch(socket)
    socket.once("secureConnect", () => {
      transport.beginPhase()
      observer.onSecured(transport)
      settle(null, socket)
    })
  }
  tcp.once("connect", () => {
    if (proxy !== undefined) {
      openTunnel(tcp, proxy, endpoint, (error) => (error === null ? onConnected() : settle(error, tcp)))
      return
    }
    const { remoteAddress } = tcp
    // The operating system knows no peer of a connection that was reset in the meantime.
    if (remoteAddress === undefined) settle(codeError("ECONNRESET", "The connection was reset at once"), tcp)
    // Checked after every connect, so that a mistake in an option or in a layer below cannot lead elsewhere.
    else if (canonical(remoteAddress) === endpoint.address) onConnected()
    else settle(new PeerAddressError("The socket is connected to another address"), tcp)
  })
}

const startTls = (endpoint: Endpoint, secureContext: tls.SecureContext, transport: Transport): tls.TLSSocket => {
  const socket = tls.connect({
    socket: transport,
    host: endpoint.address,
    // An address has no name to send; its certificate is checked against the address.
    ...(net.isIP(endpoint.hostname) === 0 ? { servername: endpoint.hostname } : undefined),
    ...(endpoint.session === undefined ? undefined : { session: endpoint.session }),
    ALPNProtocols: ["http/1.1"],
    secureContext,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
    rejectUnauthorized: true
  })
  transport.beginHandshake(socket)
  socket.on("session", (session) => {
    if (session.byteLength <= maxSessionBytes) endpoint.session = session
  })
  return socket
}

/** An address as Node reports it, in the form that judged addresses have. */
const canonical = (text: string): string | undefined => {
  const address = parse(text)
  return address === undefined ? undefined : format(unmapIpv4(address))
}
