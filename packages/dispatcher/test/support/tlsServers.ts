/** TLS receivers that write bytes of the test's choice. */
import type { AddressInfo, Socket } from "node:net"
import * as tls from "node:tls"
import { cleanup } from "./servers.ts"

export interface TlsReceiver {
  readonly port: number
  /** TLS sockets that are open. */
  readonly open: ReadonlySet<Socket>
  /** TLS sessions that were established, ever. */
  readonly connections: number
}

/** Calls `onRequest` with the bytes of each `data` event. */
export const serveRawTls = async (
  options: tls.TlsOptions,
  onRequest: (socket: tls.TLSSocket, received: Buffer) => void
): Promise<TlsReceiver> => {
  const open = new Set<Socket>()
  let connections = 0
  const server = tls.createServer(options, (socket) => {
    connections++
    open.add(socket)
    socket.on("error", () => {})
    socket.once("close", () => open.delete(socket))
    socket.on("data", (received) => onRequest(socket, received))
  })
  server.on("tlsClientError", () => {})
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  cleanup(() => {
    for (const socket of open) socket.destroy()
    return new Promise((done) => server.close(done))
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    open,
    get connections() {
      return connections
    }
  }
}
