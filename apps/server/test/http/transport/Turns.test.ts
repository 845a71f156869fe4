/** Requests that a connection sends ahead, on real sockets. */
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { afterEach, assert, describe, it, vi } from "vitest"
import * as NodeServer from "../../../src/http/transport/NodeServer.ts"

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const get = (path: string, headers = ""): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`

const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const postChunks = (path: string, ...chunks: ReadonlyArray<string>): string =>
  [
    `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`,
    ...[...chunks, ""].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
  ].join("")

const last = get("/last", "Connection: close\r\n")

describe("a connection that sends requests ahead", () => {
  let server: Server
  const sockets: Array<Socket> = []

  const serve = async (listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<void> => {
    server = NodeServer.make(NodeServer.limits)
    server.on("request", listener).listen(0, "127.0.0.1")
    await once(server, "listening")
  }

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    server.closeAllConnections()
    server.close()
  })

  const open = async (): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
    sockets.push(socket)
    socket.on("error", () => {})
    await once(socket, "connect")
    return socket.setNoDelay(true)
  }

  /** Sends pieces, each in a packet of its own if the system allows, and returns everything until the server closes. */
  const exchange = async (pieces: ReadonlyArray<string | Buffer>): Promise<string> => {
    const socket = await open()
    let text = ""
    socket.on("data", (chunk) => (text += chunk.toString("latin1")))
    const closed = once(socket, "close")
    for (const piece of pieces) {
      socket.write(piece)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await closed
    return text
  }

  const bodies = (text: string): ReadonlyArray<string> =>
    text
      .split(/HTTP\/1\.1 200 OK\r\n[^]*?\r\n\r\n/)
      .slice(1)
      .map((body) => body.replaceAll(/^[\da-f]+\r\n|\r\n0\r\n\r\n$/g, ""))

  /** Answers later with the path and the body, and counts how many requests it serves at once. */
  const echo = async () => {
    const seen = { now: 0, most: 0, all: 0 }
    await serve((request, response) => {
      seen.all += 1
      seen.most = Math.max(seen.most, ++seen.now)
      let body = ""
      request.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")))
      request.on("end", () =>
        setTimeout(() => {
          seen.now -= 1
          const text = `${request.url} ${body}`
          response.writeHead(200, { "Content-Length": text.length }).end(text)
        }, 1)
      )
    })
    return seen
  }

  it("is served one request at a time, in order", async () => {
    const seen = await echo()
    const paths = Array.from({ length: 100 }, (_, index) => `/${index}`)
    const text = await exchange([paths.map((path) => get(path)).join("") + last])
    assert.deepStrictEqual(
      bodies(text),
      [...paths, "/last"].map((path) => `${path} `)
    )
    assert.deepStrictEqual(seen, { now: 0, most: 1, all: 101 })
  })

  const mixed = [
    post("/a", "one\r\n\r\ntwo"),
    postChunks("/b", "\r\n\r\n", "0\r\n\r\n", "x".repeat(20)),
    `\r\n${get("/c")}`,
    post("/d", "\r\n\r\n\r\n\r\n"),
    post("/e", ""),
    last
  ].join("")
  const answers = [
    "/a one\r\n\r\ntwo",
    `/b \r\n\r\n0\r\n\r\n${"x".repeat(20)}`,
    "/c ",
    "/d \r\n\r\n\r\n\r\n",
    "/e ",
    "/last "
  ]

  it("gets the same answers wherever its bytes are cut", async () => {
    const seen = await echo()
    const cuts = Array.from({ length: mixed.length - 1 }, (_, index) => index + 1)
    for (let at = 0; at < cuts.length; at += 25) {
      await Promise.all(
        cuts
          .slice(at, at + 25)
          .map(async (cut) =>
            assert.deepStrictEqual(
              bodies(await exchange([mixed.slice(0, cut), mixed.slice(cut)])),
              answers,
              `cut after ${cut}`
            )
          )
      )
    }
    assert.strictEqual(seen.all, cuts.length * answers.length)
    assert.deepStrictEqual(bodies(await exchange(mixed.split(""))), answers, "byte for byte")
  })

  // The head of the second request arrives while the first is served, and it is parsed no further.
  it("has as much as a head waiting, and ends after the answer with more", async () => {
    const answer: Array<() => void> = []
    await serve((request, response) => answer.push(() => response.end(request.url)))
    const { maxHeaderSize } = NodeServer.limits
    const held = get("/held").repeat(Math.floor(maxHeaderSize / get("/held").length) - 1)

    const within = await open()
    within.write(get("/first") + held)
    while (answer.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
    const beyond = exchange([get("/first") + held + held])
    while (answer.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.lengthOf(answer, 2)

    answer[0]!()
    while (answer.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.isFalse(within.destroyed)
    answer[1]!()
    const text = await beyond
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n(?:[^\r]+\r\n)*Connection: close\r\n/)
    assert.lengthOf(bodies(text), 1)
    assert.lengthOf(answer, 3)
  })

  it("gets no answer before it has read the one before", async () => {
    // More than the kernel buffers of a loopback connection hold.
    const large = Buffer.alloc(16 * 1024 * 1024, "a")
    const served: Array<string | undefined> = []
    await serve((request, response) => {
      served.push(request.url)
      response.end(large)
    })
    const socket = await open()
    socket.pause()
    socket.write(get("/large").repeat(100))
    while (served.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.lengthOf(served, 1)
    socket.resume()
    while (served.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  })

  it("has a body that nobody reads, and another request behind it, answered in order", async () => {
    await serve((request, response) => response.writeHead(200, { "Content-Length": 2 }).end(request.url))
    const text = await exchange([
      post("/1", "x".repeat(100_000)) + post("/2", "\r\n\r\n".repeat(100)) + last.replace("last", "3")
    ])
    assert.deepStrictEqual(bodies(text), ["/1", "/2", "/3"])
  })

  it("has a body in chunks that nobody reads, and another request behind it, answered in order", async () => {
    await serve((request, response) => response.writeHead(200, { "Content-Length": 2 }).end(request.url))
    const body = postChunks("/1", ...Array<string>(500).fill("x"))
    assert.deepStrictEqual(bodies(await exchange([body + get("/2") + last.replace("last", "3")])), ["/1", "/2", "/3"])
  })

  it("ends after an answer that many chunks follow", async () => {
    await serve((request, response) => response.writeHead(200, { "Content-Length": 2 }).end(request.url))
    const body = postChunks("/1", ...Array<string>(50_000).fill("x"))
    assert.deepStrictEqual(bodies(await exchange([body + get("/2") + last.replace("last", "3")])), ["/1"])
  })

  it("has an answer read by a client that sends all of a body in chunks before", async () => {
    await serve((request, response) => response.writeHead(200, { "Content-Length": 2 }).end(request.url))
    const socket = await open()
    const faults: Array<unknown> = []
    socket.on("error", (error) => faults.push(error))
    socket.write(postChunks("/1", ...Array<string>(10_000).fill("x")).slice(0, -5))
    for (let n = 0; n < 15; n++) {
      await sleep(100)
      socket.write("1\r\nx\r\n".repeat(1000))
    }
    let text = ""
    socket.on("data", (chunk) => (text += chunk.toString("latin1")))
    while (!text.endsWith("/1") && faults.length === 0) await sleep(10)
    assert.isEmpty(faults)
    assert.deepStrictEqual(bodies(text), ["/1"])
  })

  it("has a body in chunks parsed only as far as it is read", async () => {
    const bytes = 100_000
    const requests: Array<IncomingMessage> = []
    await serve((request, response) => {
      requests.push(request)
      request.on("end", () => response.end("read"))
    })
    const socket = await open()
    socket.write(postChunks("/", ...Array<string>(bytes).fill("a")))
    await vi.waitFor(() => assert.isTrue(requests[0]?.socket.isPaused()), 50_000)
    const [request] = requests as [IncomingMessage]
    assert.isBelow(request.readableLength, 1000)

    // In parts, between which nobody reads.
    let received = 0
    request.on("data", (chunk: Buffer) => {
      received += chunk.length
      if (received % 10_000 !== 0) return
      request.pause()
      setImmediate(() => {
        assert.isBelow(request.readableLength, 1000)
        request.resume()
      })
    })
    const [answer] = (await once(socket, "data")) as [Buffer]
    assert.match(answer.toString(), /read$/)
    assert.strictEqual(received, bytes)
  })

  it("keeps nothing of an answer that is read, while the connection stays open", async () => {
    const answers: Array<WeakRef<object>> = []
    await serve((_request, response) => {
      const answer = { text: "a".repeat(1000) }
      answers.push(new WeakRef(answer))
      response.on("close", () => answer.text.at(0))
      response.end(answer.text)
    })
    for (let count = 0; count < 5; count++) {
      const socket = await open()
      socket.write(get("/"))
      await once(socket, "data")
    }
    await vi.waitFor(() => {
      collectGarbage()
      assert.lengthOf(
        answers.filter((answer) => answer.deref() !== undefined),
        0
      )
    })
    assert.isTrue(sockets.every((socket) => !socket.destroyed))
  })

  it("waits until the connections that come are accepted, however busy others are", async () => {
    const begun = { others: 0, comers: 0 }
    const haveCome = Promise.withResolvers<number>()
    await serve(({ url }, response) => {
      if (url === "/other") {
        begun.others++
        const until = performance.now() + 2
        while (performance.now() < until);
      } else if (++begun.comers === 100) haveCome.resolve(begun.others)
      response.end()
    })
    for (let index = 0; index < 10; index++) {
      const socket = await open()
      socket.on("data", () => socket.write(get("/other")))
      socket.write(get("/other"))
    }
    await vi.waitUntil(() => begun.others >= 100, 50_000)

    const before = begun.others
    await Promise.all(Array.from({ length: 100 }, async () => (await open()).write(get("/comer"))))
    const meanwhile = (await haveCome.promise) - before
    // A turn for each connection would have begun a thousand.
    assert.isBelow(meanwhile, 300)
  })
})

// The system holds all of such an answer, and would after a close.
describe("an answer that its client does not read", () => {
  const bytes = 512 * 1024
  let server: Server
  let socket: Socket

  const request = async (headers: string, limits: Partial<NodeServer.Limits> = {}): Promise<void> => {
    server = NodeServer.make({ ...NodeServer.limits, ...limits })
    const sent = Promise.withResolvers<void>()
    server.on("request", (_request, response) => {
      response.once("close", () => sent.resolve())
      response.end(Buffer.alloc(bytes, "a"))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
    socket.on("error", () => {})
    await once(socket, "connect")
    socket.write(get("/", headers))
    await sent.promise
  }
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) => {
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
    })
  const untilClosed = async (): Promise<void> => {
    while ((await connections()) > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  afterEach(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })

  it("keeps its connection counted until it is read, after the last request too", async () => {
    await request("Connection: close\r\n")
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve))
    assert.strictEqual(await connections(), 1)
    let read = 0
    socket.on("data", (chunk: Buffer) => (read += chunk.length))
    await once(socket, "close")
    assert.isAbove(read, bytes)
    await untilClosed()
  })

  it.each(["Connection: close\r\n", ""])("is discarded after a time, with the headers %j", async (headers) => {
    await request(headers, { keepAliveTimeout: 50 })
    await untilClosed()
    let read = 0
    socket.on("data", (chunk: Buffer) => (read += chunk.length))
    const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException]
    assert.strictEqual(error.code, "ECONNRESET")
    assert.isBelow(read, bytes)
  })
})
