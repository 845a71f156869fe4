/**
 * Reaches a judged address through a forward proxy that the operator chose (RFC 9110 §9.3.6).
 *
 * The proxy is asked for the address and never for the name, so that it looks nothing up: what was judged is what it
 * connects to.
 */
import * as net from "node:net"
import { DispatcherError } from "../DispatcherError.ts"
import { codeError } from "./classify.ts"

export interface Proxy {
  readonly host: string
  readonly port: number
  readonly authorization: string | undefined
}

/** The most that is read of a proxy's answer, in bytes. */
const maxAnswerBytes = 8 * 1024

/** Reads the option, or throws a `DispatcherError`. The URL can hold a password, so it is not repeated. */
export const readProxy = (text: unknown): Proxy | undefined => {
  if (text === undefined) return undefined
  const url = typeof text === "string" ? URL.parse(text) : null
  if (url?.protocol !== "http:" || url.hostname === "" || url.pathname + url.search + url.hash !== "/") {
    throw new DispatcherError("invalid_options", "proxy is not a URL like http://user:password@host:port")
  }
  const { hostname, password, port, username } = url
  const credentials = [username, password].map(unescape).join(":")
  return {
    host: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: port === "" ? 80 : Number(port),
    authorization: credentials === ":" ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`
  }
}

// A percent sign that escapes nothing stands for itself.
const unescape = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => Buffer.from(escaped.replaceAll("%", ""), "hex").toString())

/** Calls back once `socket`, which is connected to the proxy, is a tunnel to the address. */
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
      // Nobody speaks before the client does, neither in HTTP/1.1 nor in TLS.
      return settle(received.length === end + 4 ? null : refused("sent more than its answer"))
    }
  }
  socket.on("readable", read)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`)
}

const take = (socket: net.Socket): Buffer | null => socket.read() as Buffer | null

const refused = (what: string) => codeError("GOVOICE_PROXY", `The proxy ${what}`)
