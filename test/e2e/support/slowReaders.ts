/** Clients that do not read their responses beside a victim, which submits over an address of its own. */
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterAll, afterEach, assert, beforeAll } from "vitest"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant } from "./client.ts"
import { type Server, startServer } from "./server.ts"

export const perAddress = 64

/** Not the address of the victim. */
export const stranger = "127.0.0.2"

export const request = "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n"

/** Together their responses are more than the kernel buffers of a connection hold. */
export const requests = 8

/** Registers the hooks of a suite, which has a server of its own. */
export const setUp = () => {
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

  /** Connections that read nothing, and one that reads a little four times a second. */
  const openSlow = async () => {
    const idle = await Promise.all(Array.from({ length: perAddress - 4 }, () => open(request.repeat(requests))))
    for (const socket of idle) socket.pause()

    let read = 0
    const steady = await open(request.repeat(requests))
    steady.on("data", (chunk: Buffer) => {
      read += chunk.length
      steady.pause()
      setTimeout(() => steady.resume(), 250)
    })
    return { idle, steady, read: () => read }
  }

  /**
   * Fails unless each of these connections has a response to read, and some read all of it: the server ended only those whose
   * responses had no room among those that wait.
   */
  const assertWereSlow = async (idle: ReadonlyArray<Socket>): Promise<void> => {
    const whole = requests * docsBytes
    const read = await Promise.all(
      idle.map(async (socket) => {
        assert.isBelow(socket.bytesRead, whole / 2, "it reads")
        const ended = socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once("close", resolve))
        const complete = new Promise<void>((resolve) =>
          socket.on("data", () => {
            if (socket.bytesRead >= whole) resolve()
          })
        )
        socket.resume()
        await Promise.race([ended, complete])
        socket.destroy()
        return socket.bytesRead
      })
    )
    assert.isAtLeast(Math.max(...read), whole, "the server ended them all")
  }

  return {
    open,
    openSlow,
    assertWereSlow,
    /** Submits an invoice of the victim. */
    submitOne: async () => assert.strictEqual((await submit(call, victim.testKey)).status, 201),
    /** The size of the response to one of the requests. */
    docsBytes: () => docsBytes,
    log: () => server.log()
  }
}
