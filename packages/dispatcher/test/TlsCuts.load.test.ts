/** Connections to receivers over TLS that end at any byte of what the receiver sends, in each way that a connection ends. */
import { randomBytes, randomInt } from "node:crypto"
import * as net from "node:net"
import { assert, it } from "vitest"
import { makeAuthority } from "./support/certificates.ts"
import { cleanup, dispatcher, serveHttps } from "./support/servers.ts"

const authority = makeAuthority()
const requests = 10_000
// The handshake, and a response of 2,000 bytes.
const bytesOfConnection = 6000

/** Passes a connection on until the receiver has sent a random number of bytes. */
const startCutter = async (port: number): Promise<number> => {
  const ends: ReadonlyArray<(socket: net.Socket) => void> = [
    (socket) => socket.resetAndDestroy(),
    (socket) => socket.end(),
    (socket) => socket.destroy(),
    (socket) => socket.end(randomBytes(50))
  ]
  const server = net.createServer((client) => {
    const receiver = net.connect(port, "127.0.0.1")
    let left = randomInt(bytesOfConnection)
    for (const socket of [client, receiver]) socket.on("error", () => {})
    client.on("close", () => receiver.destroy())
    receiver.on("close", () => client.destroy())
    client.on("data", (chunk) => receiver.write(chunk))
    receiver.on("data", (chunk) => {
      if (left <= 0) return
      client.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left > 0) return
      ends[randomInt(ends.length)]!(client)
      receiver.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  cleanup(() => server.close())
  return (server.address() as net.AddressInfo).port
}

it(`${requests} requests have an outcome, and nothing is thrown`, async () => {
  const receiver = await serveHttps(authority.issue({ names: ["good.test"] }), (_request, response) =>
    response.end("x".repeat(2000))
  )
  const port = await startCutter(receiver.port)
  const { send } = dispatcher({ tls: { ca: authority.cert }, allowPorts: [port] })
  const outcomes = new Map<string, number>()
  let sent = 0
  const sendAll = async () => {
    while (sent++ < requests) {
      const outcome = await send({ url: `https://good.test:${port}/`, body: "{}" })
      const name = outcome._tag === "Failed" ? outcome.reason : outcome._tag
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 30 }, sendAll))
  for (const name of ["Delivered", "reset", "tls"]) assert.isAbove(outcomes.get(name) ?? 0, requests / 20, name)
})
