/** A TLS receiver that floods its clients with session tickets (RFC 8446 §4.6.1), which carry no data. */
import { createCipheriv, createHmac } from "node:crypto"
import * as net from "node:net"
import * as tls from "node:tls"
import type { Certificate } from "./certificates.ts"
import { cleanup } from "./servers.ts"

const expandLabel = (secret: Buffer, label: string, length: number): Buffer => {
  const info = Buffer.concat([
    Buffer.from([0, length, label.length + 6]),
    Buffer.from(`tls13 ${label}`),
    Buffer.from([0, 1])
  ])
  return createHmac("sha256", secret).update(info).digest().subarray(0, length)
}

/** A record of TLS 1.3 with AES-128-GCM and SHA-256 (RFC 8446 §5.2). */
const seal = (secret: Buffer, sequence: number, messages: Buffer): Buffer => {
  const iv = Buffer.from(expandLabel(secret, "iv", 12))
  iv.writeUInt32BE((iv.readUInt32BE(8) ^ sequence) >>> 0, 8)
  const inner = Buffer.concat([messages, Buffer.from([22])])
  const header = Buffer.from([23, 3, 3, (inner.length + 16) >>> 8, (inner.length + 16) & 255])
  const cipher = createCipheriv("aes-128-gcm", expandLabel(secret, "key", 16), iv).setAAD(header)
  return Buffer.concat([header, cipher.update(inner), cipher.final(), cipher.getAuthTag()])
}

// As short as they may be: a lifetime of an hour, and a ticket of one byte.
const ticket = Buffer.from([4, 0, 0, 14, 0, 0, 14, 16, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0])
const tickets = Buffer.concat(Array.from({ length: 900 }, () => ticket))

export interface FloodingReceiver {
  readonly port: number
  /** How many connections were made, and how many are open. */
  readonly connections: number
  readonly open: number
  /** The bytes of tickets that were sent. */
  readonly sent: number
  /** Begins to flood every connection, up to so many bytes each. */
  readonly flood: (maxBytes: number) => void
}

/** Answers each request with 200, and with what follows the head. */
export const serveTickets = async (certificate: Certificate, answer: string): Promise<FloodingReceiver> => {
  const floods: Array<(maxBytes: number) => void> = []
  const sockets = new Set<net.Socket>()
  let sent = 0
  const options = { ...certificate, minVersion: "TLSv1.3", ciphers: "TLS_AES_128_GCM_SHA256" } as const
  const secrets = new Map<number, Buffer>()
  const server = tls.createServer(options, (socket) => {
    socket.on("error", () => {})
    socket.on("data", () => socket.write(answer))
  })
  server.on("tlsClientError", () => {})
  server.on("keylog", (line: Buffer, socket: tls.TLSSocket) => {
    const [label, , secret] = line.toString().trim().split(" ")
    if (label === "SERVER_TRAFFIC_SECRET_0") secrets.set(socket.remotePort!, Buffer.from(secret!, "hex"))
  })
  const front = net.createServer((client) => {
    const behind = net.connect((server.address() as net.AddressInfo).port, "127.0.0.1")
    sockets.add(client)
    for (const socket of [client, behind]) socket.on("error", () => {})
    client.on("close", () => (sockets.delete(client), behind.destroy()))
    behind.on("close", () => client.destroy())
    let fromClient = 0
    let sequence = 0
    let rest = Buffer.alloc(0)
    client.on("data", (bytes) => (fromClient++, behind.write(bytes)))
    behind.on("data", (bytes: Buffer) => {
      client.write(bytes)
      // Records after the end of the handshake have one key, and are numbered.
      rest = Buffer.concat([rest, bytes])
      for (
        ;
        rest.length >= 5 && rest.length >= 5 + rest.readUInt16BE(3);
        rest = rest.subarray(5 + rest.readUInt16BE(3))
      ) {
        if (fromClient > 1) sequence++
      }
    })
    floods.push((maxBytes) => {
      const secret = secrets.get(behind.localPort!)!
      const write = (left: number) => {
        if (left <= 0 || client.destroyed) return
        const record = seal(secret, sequence++, tickets)
        sent += record.length
        client.write(record, () => write(left - record.length))
      }
      write(maxBytes)
    })
  })
  for (const each of [server, front]) {
    await new Promise<void>((done) => each.listen(0, "127.0.0.1", done))
    cleanup(() => new Promise((done) => each.close(done)))
  }
  cleanup(() => sockets.forEach((socket) => socket.destroy()))
  return {
    port: (front.address() as net.AddressInfo).port,
    get connections() {
      return floods.length
    },
    get open() {
      return sockets.size
    },
    get sent() {
      return sent
    },
    flood: (maxBytes) => {
      for (const each of floods) each(maxBytes)
    }
  }
}
