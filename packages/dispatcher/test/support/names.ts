/** A name server on loopback (RFC 1035), with the records that a test gives it. */
import { createSocket } from "node:dgram"
import { cleanup } from "./servers.ts"

/** The answer: addresses, a response code, or none. */
export type Records = ReadonlyArray<string> | "NXDOMAIN" | "SERVFAIL" | "silence"

const codes = { NXDOMAIN: 3, SERVFAIL: 2 } as const
const types = { 1: "A", 28: "AAAA" } as const

const data = (address: string): Buffer =>
  address.includes(":")
    ? Buffer.from(
        address
          .split(":")
          .map((group) => group.padStart(4, "0"))
          .join(""),
        "hex"
      )
    : Buffer.from(address.split(".").map(Number))

/** IPv6 addresses have to be written out in eight groups. Returns the `address:port` of the server and its queries. */
export const serveNames = async (answer: (name: string, type: "A" | "AAAA") => Records) => {
  const asked: Array<string> = []
  const socket = createSocket("udp4")
  socket.on("message", (query, from) => {
    const labels: Array<string> = []
    let at = 12
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.subarray(at + 1, at + 1 + length).toString())
      at += 1 + length
    }
    const question = query.subarray(12, at + 5)
    const type = types[query.readUInt16BE(at + 1) as keyof typeof types]
    const name = labels.join(".")
    asked.push(`${type} ${name}`)
    const records = answer(name, type)
    if (records === "silence") return
    const addresses = typeof records === "string" ? [] : records
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (typeof records === "string" ? codes[records] : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    const resources = addresses.map((address) => {
      const content = data(address)
      const fixed = Buffer.from([0xc0, 12, 0, type === "A" ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, content.length])
      return Buffer.concat([fixed, content])
    })
    socket.send(Buffer.concat([header, question, ...resources]), from.port, from.address)
  })
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done))
  cleanup(() => new Promise<void>((done) => socket.close(done)))
  return { server: `127.0.0.1:${socket.address().port}`, asked }
}
