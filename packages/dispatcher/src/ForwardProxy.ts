/**
 * A forward proxy for the connections of another client, which does its own HTTP and TLS.
 *
 * @since 0.1.0
 */
import * as net from "node:net"
import { readProxy } from "./internal/optionReaders.ts"
import { proxyLookup } from "./internal/proxyLookup.ts"
import { openTunnel } from "./internal/tunnel.ts"

/**
 * Opens a tunnel. The socket that is returned becomes one when `callback` is called without an error.
 *
 * **Details**
 *
 * - `proxy`: `http://user:password@host:port`, as the option `proxy` of a dispatcher.
 * - `host`: a name or an address without brackets. The proxy looks a name up.
 *
 * An error of the socket is emitted by the socket, before as after the tunnel is open. The caller sets the deadline, and
 * destroys the socket after an error.
 *
 * @throws {TypeError} when `proxy` is not such a URL. The message does not contain it.
 * @category connecting
 * @since 0.1.0
 */
export const connect = (
  proxy: string,
  target: { readonly host: string; readonly port: number },
  callback: (error: Error | null) => void
): net.Socket => {
  const read = readProxy(proxy)
  if (!read.ok) throw new TypeError(`proxy ${read.fault}`)
  const { host, port } = read.value
  const socket = net.connect({ host, port, lookup: proxyLookup })
  socket.once("connect", () => {
    openTunnel(socket, read.value, { address: target.host, port: target.port }, callback)
  })
  return socket
}
