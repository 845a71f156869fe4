/** Answers that nobody reads, on real sockets. */
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { afterEach, assert, describe, it } from "vitest"
import * as SystemQueues from "../../../src/http/transport/SystemQueues.ts"
import * as UnreadAnswers from "../../../src/http/transport/UnreadAnswers.ts"
import { patienceMs } from "../../../../../test/support/patienceMs.ts"

const mebibyte = 1024 * 1024
const answerBytes = 8 * mebibyte
const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

describe("UnreadAnswers", () => {
  let server: Server
  const sockets: Array<Socket> = []

  const start = async (
    maxBytes: number,
    bytes = answerBytes,
    queuesOf: typeof SystemQueues.read = SystemQueues.read
  ): Promise<void> => {
    const unread = UnreadAnswers.make({ maxBytes, smallBytes: 1024 }, queuesOf)
    // Idle connections stay.
    server = createServer({ keepAliveTimeout: 0 }, ({ headers, socket }, response) => {
      const length = headers.host === "short" ? answerBytes : bytes
      unread.add(response, length, socket.remoteAddress!)
      response.end(Buffer.alloc(length, "a"), () => void server.emit("sent"))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
  }
  const open = async (localAddress = "127.0.0.1"): Promise<Socket> => {
    const socket = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", localAddress })
    sockets.push(socket)
    socket.on("error", () => {})
    await once(socket, "connect")
    return socket
  }
  /** Reads the beginning of an answer, and then nothing. */
  const begin = async (): Promise<Socket> => {
    const socket = await open()
    socket.write(request)
    await once(socket, "readable")
    return socket
  }
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5))
  /** Counts the bytes that a connection reads. */
  const count = (socket: Socket) => {
    const counted = { bytes: 0 }
    socket.on("data", (chunk: Buffer) => (counted.bytes += chunk.length))
    return {
      bytes: () => counted.bytes,
      until: async (bytes: number) => {
        while (counted.bytes < bytes && !socket.destroyed) await turn()
        assert.isAtLeast(counted.bytes, bytes)
      }
    }
  }
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) => {
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
    })
  const untilConnections = async (count: number): Promise<void> => {
    for (const deadline = Date.now() + patienceMs; (await connections()) !== count;) {
      assert.isBelow(Date.now(), deadline, `not ${count} connections`)
      await turn()
    }
  }

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    server.closeAllConnections()
    server.close()
  })

  it("of more bytes than may wait are reset, and as many as may wait stay", async () => {
    await start(3 * answerBytes)
    for (let unread = 0; unread < 12; unread++) await begin()
    // The last one is counted before any of it is sent.
    await untilConnections(3)
  })

  // The system takes all of these at once, and keeps them.
  it.skipIf(!existsSync("/proc/net/tcp"))("count while the system holds them, and not when they are read", async () => {
    await start(3 * mebibyte, mebibyte)
    const reader = await open()
    const read = count(reader)
    for (let answers = 1; answers <= 10; answers++) {
      reader.write(request)
      await read.until(answers * mebibyte)
    }
    for (let unread = 0; unread < 12; unread++) await begin()
    // The last one is counted before any of it is sent, and each client has received a little.
    while ((await connections()) > 6) await turn()
    reader.write(request)
    await read.until(11 * mebibyte)
  })

  it("are reset before that of a client that reads", async () => {
    await start(3 * answerBytes)
    const reader = await open()
    const read = count(reader)
    reader.write(request)
    await read.until(answerBytes / 2)
    reader.pause()
    for (let unread = 0; unread < 8; unread++) await begin()
    reader.resume()
    await read.until(answerBytes)
  })

  it("are reset of the network that has most of them, before a longer one of another", async () => {
    await start(6 * answerBytes, 2 * answerBytes)
    const reader = await open()
    const read = count(reader)
    reader.write(request)
    await read.until(mebibyte)
    reader.pause()
    for (let unread = 0; unread < 24; unread++) {
      const socket = await open("127.0.0.2")
      socket.write(request.replace("Host: x", "Host: short"))
      await once(socket, "readable")
    }
    reader.resume()
    await read.until(2 * answerBytes)
  })

  it("free their memory when they are read, or their client leaves", async () => {
    // What the system has not been told to be received yet is little.
    await start(2 * answerBytes + mebibyte)
    for (let time = 0; time < 5; time++) {
      const left = await begin()
      left.destroy()
      await untilConnections(0)
    }
    const socket = await open()
    const read = count(socket)
    for (let answers = 1; answers <= 10; answers++) {
      socket.write(request)
      await read.until(answers * answerBytes)
    }
    await begin()
    await begin()
    await untilConnections(3)
  })

  // It looks through all of its connections for an answer.
  it("have the system asked once at a time, and those that wait in the process are bounded meanwhile", async () => {
    let asked = 0
    const never = new Promise<undefined>(() => {})
    await start(3 * mebibyte, mebibyte, () => {
      asked++
      return never
    })
    const accepted: Array<Socket> = []
    server.on("connection", (socket: Socket) => accepted.push(socket))
    const waiting = () => accepted.reduce((sum, socket) => sum + SystemQueues.leftToTake(socket), 0)
    for (let unread = 0; unread < 30; unread++) {
      await begin()
      // The last one is counted before any of it is sent.
      assert.isAtMost(waiting(), 4 * mebibyte)
    }
    assert.strictEqual(asked, 1)
  })

  // Each is small, and a client can ask for any number of them.
  it.skipIf(!existsSync("/proc/net/tcp"))("count also where each is small", async () => {
    await start(2 * mebibyte, 1024)
    for (let unread = 0; unread < 12; unread++) {
      const socket = await begin()
      const closed = once(socket, "close")
      // One at a time, as the transport of the server takes them, and so many that the system has room for all.
      for (let answers = 1; answers < 600 && !socket.destroyed; answers++) {
        const ended = Promise.race([once(server, "sent"), closed])
        socket.write(request)
        await ended
      }
    }
    while ((await connections()) > 6) await turn()
  })

  it("leave no listener behind on connections that read many", async () => {
    // What a client has read counts until the system has been told.
    await start(8 * mebibyte, mebibyte)
    const accepted: Array<Socket> = []
    server.on("connection", (socket: Socket) => accepted.push(socket))
    const readers = [await open(), await open()].map((socket) => ({ socket, ...count(socket) }))
    const listeners = async (answers: number) => {
      for (const { socket, until } of readers) {
        socket.write(request)
        await until(answers * mebibyte)
      }
      return Math.max(...accepted.map((socket) => socket.listenerCount("close")))
    }
    const first = await listeners(1)
    for (let answers = 2; answers < 10; answers++) await listeners(answers)
    assert.isAtMost(await listeners(10), first)
  })
})
