/** Slow readers and too many connections, on real sockets with small limits. */
import { createServer, type Server } from "node:http"
import { EventEmitter, once } from "node:events"
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, assert, describe, it, vi } from "vitest"
import * as ConnectionLimits from "../../../src/http/transport/ConnectionLimits.ts"
import { patienceMs } from "../../../../../test/support/patienceMs.ts"

// More than the kernel buffers of a loopback connection hold.
const large = Buffer.alloc(32 * 1024 * 1024, "a")
const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

describe("ConnectionLimits", () => {
  let server: Server
  const sockets: Array<Socket> = []

  const listen = async (made: Server): Promise<void> => {
    server = made.listen(0, "127.0.0.1")
    await once(server, "listening")
  }
  const open = async (text = "", localAddress = "127.0.0.1"): Promise<{ socket: Socket; closed: Promise<number> }> => {
    const { port } = server.address() as { readonly port: number }
    const begun = performance.now()
    const socket = connect({ port, host: "127.0.0.1", localAddress })
    sockets.push(socket)
    socket.on("error", () => {})
    const closed = new Promise<number>((resolve) => {
      socket.once("close", () => resolve(performance.now() - begun))
    })
    await once(socket, "connect")
    socket.write(text)
    return { socket, closed }
  }

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    server.closeAllConnections()
    server.close()
  })

  describe("endStalled", () => {
    const start = (answer: Buffer, stalledMs = 400) => {
      const made = createServer((_request, response) => response.end(answer))
      ConnectionLimits.endStalled(made, { stalledMs, checkMs: 50 })
      return listen(made)
    }

    it("ends a connection whose client does not read", async () => {
      await start(large)
      const { closed, socket } = await open(request)
      socket.pause()
      await untilConnections(server, 0)
      socket.resume()
      await closed
    })

    it("ends a connection whose client does not read, although it keeps sending", async () => {
      await start(large)
      const { socket } = await open(request)
      socket.pause()
      const timer = setInterval(() => socket.write("G"), 50)
      await untilConnections(server, 0)
      clearInterval(timer)
    })

    it("ends a connection whose client does not read many small answers", async () => {
      await start(Buffer.alloc(64 * 1024, "a"))
      const { socket } = await open(request.repeat(1000))
      socket.pause()
      await untilConnections(server, 0)
    })

    it("does not close the connection of a slow reader", async () => {
      // The client takes some five seconds.
      await start(large, 10_000)
      const { socket } = await open(request)
      let received = 0
      socket.on("data", (chunk: Buffer) => {
        received += chunk.length
        socket.pause()
        setTimeout(() => socket.resume(), 10)
      })
      while (received < large.length && !socket.destroyed) await sleep(50)
      assert.isAtLeast(received, large.length)
    })

    it("does not close an idle connection", async () => {
      await start(Buffer.from("small"))
      const { socket } = await open(request)
      await once(socket, "data")
      await sleep(1000)
      socket.write(request)
      await once(socket, "data")
    })
  })

  describe("limitByAddress", () => {
    const start = (isExempt: (address: string | undefined) => boolean = () => false) => {
      const refused: Array<string> = []
      const made = createServer((_request, response) => response.end("ok"))
      ConnectionLimits.limitByAddress(made, {
        perAddress: 3,
        isExempt,
        onRefused: (address) => void refused.push(address)
      })
      return listen(made).then(() => refused)
    }
    const isOpen = async (socket: Socket): Promise<boolean> => {
      await sleep(100)
      return !socket.destroyed && !socket.readableEnded
    }

    it("closes the connections of an address beyond its limit, and no others", async () => {
      const refused = await start()
      const kept = [await open(), await open(), await open()]
      const fourth = await open()
      fourth.socket.resume()
      await fourth.closed
      const other = await open("", "127.0.0.2")
      for (const { socket } of [...kept, other]) assert.isTrue(await isOpen(socket))
      assert.deepStrictEqual(refused, ["127.0.0.1"])
    })

    it("accepts another connection after one has closed", async () => {
      await start()
      const kept = [await open(), await open(), await open()]
      kept[0]!.socket.destroy()
      await untilConnections(server, 2)
      const { socket } = await open(request)
      await once(socket, "data")
    })

    it("counts the connections of the wider networks of IPv6, which a subscriber has whole", () => {
      const made = createServer()
      server = made
      const refused: Array<string> = []
      ConnectionLimits.limitByAddress(made, {
        perAddress: 3,
        isExempt: () => false,
        onRefused: (network) => void refused.push(network)
      })
      const arrive = (remoteAddress: string) => {
        const socket = Object.assign(new EventEmitter(), { remoteAddress, destroy: vi.fn() })
        made.emit("connection", socket)
        return socket
      }
      // Two of each network of 64 bits.
      const arrived = Array.from({ length: 100 }, (_, network) =>
        [0, 1].map(() => arrive(`2001:db8:0:${network.toString(16)}::1`))
      ).flat()
      const kept = arrived.filter(({ destroy }) => destroy.mock.calls.length === 0)
      assert.lengthOf(kept, 2 * 3)
      assert.deepStrictEqual([...new Set(refused)], ["2001:db8:0:0::/56"])

      for (let network = 0x100; network < 0x2000; network += 0x100) arrive(`2001:db8:0:${network.toString(16)}::1`)
      assert.deepStrictEqual([...new Set(refused)], ["2001:db8:0:0::/56", "2001:db8:0::/48"])
      assert.isFalse(arrive("2001:db8:1::1").destroy.mock.calls.length > 0)
      assert.isFalse(arrive("192.0.2.1").destroy.mock.calls.length > 0)

      for (const socket of kept) socket.emit("close")
      assert.isFalse(arrive("2001:db8:0:1::1").destroy.mock.calls.length > 0)
    })

    it("accepts any number of connections of a trusted proxy", async () => {
      const refused = await start((address) => address === "127.0.0.1")
      for (let count = 0; count < 20; count++) assert.isTrue(!(await open()).socket.destroyed)
      await untilConnections(server, 20)
      assert.deepStrictEqual(refused, [])
    })
  })
})

const connectionCount = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })

const untilConnections = async (server: Server, count: number): Promise<void> => {
  for (const deadline = Date.now() + patienceMs; (await connectionCount(server)) !== count; await sleep(20)) {
    assert.isBelow(Date.now(), deadline, `not ${count} connections`)
  }
}
