/**
 * Opens a tunnel to a judged address through the forward proxy of the operator (RFC 9110 §9.3.6).
 *
 * For a dispatcher, the proxy receives the address and never the name, so that it connects to what was judged and looks nothing
 * up.
 */
import * as net from "node:net"
import { codeError } from "./classify.ts"
import type { Proxy } from "./optionReaders.ts"

/** The largest answer of a proxy that is read, in bytes. */
const maxAnswerBytes = 8 * 1024

/** Calls back when `socket`, which is connected to the proxy, is a tunnel to the address or name. */
export const openTunnel = (
  socket: net.Socket,
  { authorization }: Proxy,
  { address, port }: { readonly address: string; readonly port: number },
  callback: (error: Error | null) => void
): void => {
  const authority = `${net.isIPv6(address) ? `[${address}]` : address}:${port}`
  const credentials = authorization === undefined ? "" : `Proxy-Authorization: ${authorization}\r\n`
  let received = Buffer.alloc(0)
  const settle = (error: Error | null) => {
    socket.off("readable", read)
    callback(error)
  }
  const read = () => {
    for (let chunk = take(socket); chunk !== null; chunk = take(socket)) {
      received = Buffer.concat([received, chunk])
      const end = received.indexOf("\r\n\r\n")
      if (end === -1) {
        if (received.length > maxAnswerBytes) return settle(refused("has an answer that does not end"))
        continue
      }
      const accepted = /^HTTP\/1\.[01] 2\d\d[ \r]/.test(received.toString("latin1", 0, end + 2))
      if (!accepted) return settle(refused("refused the tunnel"))
      // In HTTP/1.1 and in TLS, the client sends first.
      return settle(received.length === end + 4 ? null : refused("sent more than its answer"))
    }
  }
  socket.on("readable", read)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`)
}

const take = (socket: net.Socket): Buffer | null => socket.read() as Buffer | null

const refused = (what: string) => codeError("GOVOICE_PROXY", `The proxy ${what}`)
