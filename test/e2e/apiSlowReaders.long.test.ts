/**
 * Clients that do not read their responses, or open connections without end, beside a victim: they end by themselves, and
 * nobody else waits for them.
 */
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { limits } from "../../apps/server/src/http/transport/NodeServer.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant } from "./support/client.ts"
import { type Server, startServer } from "./support/server.ts"
import { latencies, percentile } from "./support/slow.ts"

const perAddress = 64

// Not the address of the victim.
const stranger = "127.0.0.2"

// Together more than the kernel buffers of a connection hold.
const request = "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n"
const requests = 8

describe("slow readers", () => {
  let server: Server
  let call: Call
  let victim: Tenant
  let docsBytes: number
  let sockets: Array<Socket> = []

  beforeAll(async () => {
    server = await startServer({
      GOVOICE_DATA_DIR: "memory",
      GOVOICE_CONNECTIONS_PER_ADDRESS: String(perAddress),
      GOVOICE_RATE_LIMIT_PER_SECOND: "10000",
      GOVOICE_RATE_LIMIT_BURST: "10000"
    })
    call = makeCall(() => server.url, await readAgreement(server.url))
    victim = await signUp(call)
    const docs = await fetch(`${server.url}/docs`, { headers: { "accept-encoding": "identity" } })
    docsBytes = (await docs.arrayBuffer()).byteLength
  })
  afterEach(() => {
    for (const socket of sockets) socket.destroy()
    sockets = []
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = async (text = ""): Promise<Socket> => {
    const socket = connect({ port: server.port, host: "127.0.0.1", localAddress: stranger })
    sockets.push(socket)
    socket.on("error", () => {})
    await once(socket, "connect")
    socket.write(text)
    return socket
  }
  const submitOne = async () => assert.strictEqual((await submit(call, victim.testKey)).status, 201)

  it("end after 30 seconds without progress; one that reads on does not, and a victim keeps its latency", async () => {
    const calm = await latencies(2000, submitOne)
    const idle = await Promise.all(Array.from({ length: perAddress - 4 }, () => open(request.repeat(requests))))
    for (const socket of idle) socket.pause()

    let read = 0
    const steady = await open(request.repeat(requests))
    steady.on("data", (chunk: Buffer) => {
      read += chunk.length
      steady.pause()
      setTimeout(() => steady.resume(), 250)
    })

    const attacked = await latencies(4000, submitOne)
    assert.isBelow(percentile(attacked, 0.99), Math.max(500, 8 * percentile(calm, 0.99)))
    await sleep(limits.stalledMs + 3 * limits.connectionsCheckingInterval)

    assert.isFalse(steady.destroyed)
    const before = read
    await sleep(1000)
    assert.isAbove(read, before)

    const received = await Promise.all(
      idle.map(async (socket) => {
        let bytes = 0
        socket.on("data", (chunk: Buffer) => (bytes += chunk.length))
        socket.resume()
        // Not `events.once`, which rejects when the server resets the connection.
        if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve))
        return bytes
      })
    )
    assert.isBelow(Math.max(...received), requests * docsBytes, "the responses were cut off")
    await submitOne()
  }, 240_000)

  it("of one address have a limited number of connections, and the log names the address once", async () => {
    const opened = await Promise.all(Array.from({ length: 2 * perAddress }, () => open()))
    const isOpen = (socket: Socket) => !socket.destroyed
    for (const socket of opened) socket.resume()
    const deadline = Date.now() + 50_000
    while (opened.filter(isOpen).length > perAddress && Date.now() < deadline) await sleep(50)
    await sleep(200)
    assert.strictEqual(opened.filter(isOpen).length, perAddress)
    await submitOne()
    const warnings = server.log().filter(({ message }) => message.includes("GOVOICE_CONNECTIONS_PER_ADDRESS"))
    assert.deepStrictEqual(
      warnings.map(({ annotations }) => annotations["client_address"]),
      [stranger]
    )
  })
})
