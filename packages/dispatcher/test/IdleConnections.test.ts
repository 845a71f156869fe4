/** Connections without an attempt: what they may receive, and how many there may be. */
import { execFile } from "node:child_process"
import * as net from "node:net"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { makeAuthority } from "./support/certificates.ts"
import {
  cleanup,
  delivered,
  dispatcher,
  failed,
  leastOfThree,
  passTurns,
  serveHttp,
  serveHttps,
  serveRaw,
  sleep,
  stable,
  until
} from "./support/servers.ts"
import { serveTickets } from "./support/tickets.ts"
import { serveRawTls } from "./support/tlsServers.ts"

const authority = makeAuthority()
const certificate = authority.issue({ names: ["name.test"] })
const trusting = { tls: { ca: authority.cert } }

const answer = (status: number) => `HTTP/1.1 ${status} x\r\ncontent-length: 0\r\n\r\n`

interface Served {
  readonly url: string
  /** Sockets of the receiver, the last one last. */
  readonly sockets: ReadonlyArray<net.Socket>
  readonly open: () => number
}

/** Receivers that answer 200 to /first and 202 to all other requests. */
const serve: Readonly<Record<string, () => Promise<Served>>> = {
  "without TLS": async () => {
    const sockets: Array<net.Socket> = []
    const receiver = await serveRaw(() => {}, {
      onConnection: (socket) => {
        sockets.push(socket.setNoDelay(true))
        socket.on("data", (received) => socket.write(answer(received.includes("/first") ? 200 : 202)))
      }
    })
    return { url: `http://name.test:${receiver.port}`, sockets, open: () => receiver.open }
  },
  "with TLS": async () => {
    const sockets: Array<net.Socket> = []
    const receiver = await serveRawTls(certificate, (socket, received) => {
      if (!sockets.includes(socket)) sockets.push(socket.setNoDelay(true))
      socket.write(answer(received.includes("/first") ? 200 : 202))
    })
    return { url: `https://name.test:${receiver.port}`, sockets, open: () => receiver.open.size }
  }
}

/** Runs `callback` while the event loop handles a socket that is readable, just before `setImmediate`. */
const whilePolling = async <A>(callback: () => Promise<A>): Promise<A> => {
  const server = net.createServer((socket) => socket.end("x"))
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  cleanup(() => new Promise((done) => server.close(done)))
  const { port } = server.address() as net.AddressInfo
  return new Promise((resolve) => net.connect(port, "127.0.0.1").once("data", () => resolve(callback())))
}

describe("An idle connection", () => {
  it("is closed when it receives messages of TLS without data, and its network rests", async () => {
    const receiver = await serveTickets(
      certificate,
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=600\r\n\r\n"
    )
    const { send } = dispatcher(trusting)
    const url = `https://name.test:${receiver.port}/`
    for (const outcome of await Promise.all([1, 2, 3, 4].map(() => send({ url, body: "" }))))
      assert.deepEqual(stable(outcome), delivered(200))
    assert.strictEqual(receiver.open, 4)
    receiver.flood(8 * 1024 * 1024)
    await until(() => receiver.open === 0, "the connections to close")
    assert.deepEqual(stable(await send({ url, body: "" })), failed("connect", false))
  })

  for (const [how, start] of Object.entries(serve)) {
    for (const [what, bytes] of [
      ["a response", answer(299)],
      ["part of a response", "HTTP/1.1 2"],
      ["line breaks", "\r\n\r\n"],
      ["one byte", "x"]
    ] as const) {
      it(`${how} is closed as soon as it receives ${what}`, async () => {
        const { open, sockets, url } = await start()
        const { send } = dispatcher(trusting)
        assert.deepEqual(stable(await send({ url: `${url}/first`, body: "" })), delivered(200))
        await sleep(20)
        assert.strictEqual(open(), 1)
        sockets[0]!.write(bytes)
        // Long before the 4 seconds after which it would be closed for being idle.
        const started = performance.now()
        await until(() => open() === 0, "the connection to close")
        assert.isBelow(performance.now() - started, 3_000)
        assert.deepEqual(stable(await send({ url: `${url}/second`, body: "" })), delivered(202))
        assert.strictEqual(sockets.length, 2)
      })

      it(`${how} does not carry a request that is sent after ${what} arrived, in whichever phase of the event loop`, async () => {
        const { sockets, url } = await start()
        const { send } = dispatcher(trusting)
        const outcome = async (run: (callback: () => ReturnType<typeof send>) => ReturnType<typeof send>) => {
          assert.deepEqual(stable(await send({ url: `${url}/first`, body: "" })), delivered(200))
          await sleep(20)
          return run(() => {
            // On loopback, the bytes are in the receive buffer of the client when this returns.
            sockets.at(-1)!.write(bytes)
            return send({ url: `${url}/second`, body: "" })
          })
        }
        for (let round = 0; round < 5; round++) {
          assert.deepEqual(stable(await outcome(whilePolling)), delivered(202))
          assert.deepEqual(stable(await outcome((run) => run())), delivered(202))
          assert.deepEqual(
            stable(await outcome((run) => new Promise((done) => setImmediate(() => done(run()))))),
            delivered(202)
          )
        }
      })
    }

    it(`${how} that the receiver ends is not used again`, async () => {
      const { sockets, url } = await start()
      const { send } = dispatcher(trusting)
      for (let round = 0; round < 5; round++) {
        assert.deepEqual(stable(await send({ url: `${url}/first`, body: "" })), delivered(200))
        const again = await whilePolling(() => {
          sockets.at(-1)!.end()
          return send({ url: `${url}/second`, body: "" })
        })
        assert.deepEqual(stable(again), delivered(202))
      }
    })
  }

  it("with TLS does not keep a program from ending", async () => {
    const receiver = await serveHttps(certificate)
    const program = fileURLToPath(new URL("support/unclosed.ts", import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--conditions=source",
      program,
      `https://name.test:${receiver.port}/`,
      authority.cert
    ])
    const { outcome, stayedMs } = JSON.parse(stdout) as { readonly outcome: string; readonly stayedMs: number }
    assert.strictEqual(outcome, "Delivered")
    // An idle connection is kept for 4 seconds.
    assert.isBelow(stayedMs, 3_500)
  })
})

describe("Idle connections", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `n${index}.test`)

  it("are limited in total, over all pools", async () => {
    // Answers when all 30 requests have arrived, so that each needs a connection.
    const waiting: Array<() => unknown> = []
    const receiver = await serveHttp((_, response) => {
      waiting.push(() => response.end())
      if (waiting.length === 30) for (const answer of waiting) answer()
    })
    const { send } = dispatcher({ maxIdleConnections: 5 })
    const sends = many(10).flatMap((name) =>
      [1, 2, 3].map(() => send({ url: `http://${name}:${receiver.port}/`, body: "" }))
    )
    for (const outcome of await Promise.all(sends)) assert.deepEqual(stable(outcome), delivered())
    assert.strictEqual(receiver.connections, 30)
    await until(() => receiver.open <= 5, "connections to close")
    await passTurns(10)
    assert.strictEqual(receiver.open, 5)
  })

  it("are limited together with those that discard a body", async () => {
    const receiver = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"))
    const { send } = dispatcher({ maxIdleConnections: 3 })
    const closeAfter = async () => {
      for (const name of many(10)) {
        assert.deepEqual(stable(await send({ url: `http://${name}:${receiver.port}/`, body: "" })), delivered())
      }
      const started = performance.now()
      await until(() => receiver.open <= 3, "connections to close")
      return performance.now() - started
    }
    // Discarding takes 2 seconds.
    assert.isBelow(await leastOfThree(closeAfter), 1_500)
  })

  it("over the limit are closed in the order in which they became idle", async () => {
    const receiver = await serveHttp()
    const { send } = dispatcher({ maxIdleConnections: 2 })
    const sendTo = (name: string) => send({ url: `http://${name}.test:${receiver.port}/`, body: "" })
    for (const name of ["a", "b", "a", "c"]) {
      await sendTo(name)
      await sleep(20)
    }
    // The connection to b was idle for longest.
    await until(() => receiver.open === 2, "a connection to close")
    await sendTo("a")
    await sendTo("c")
    assert.strictEqual(receiver.connections, 3)
    await sendTo("b")
    assert.strictEqual(receiver.connections, 4)
  })

  it("that went silent together fail one attempt alone", async () => {
    const silent = new Set<unknown>()
    const waiting: Array<{ readonly socket: unknown; readonly answer: () => void }> = []
    const receiver = await serveHttp((_, response) => {
      if (silent.has(response.socket)) return
      const answer = () => void response.setHeader("keep-alive", "timeout=60").end()
      if (silent.size > 0) return answer()
      waiting.push({ socket: response.socket, answer })
      if (waiting.length === 5) for (const { answer } of waiting) answer()
    })
    const { send } = dispatcher({ deadlineMs: 500 })
    const sendOne = () => send({ url: `http://name.test:${receiver.port}/`, body: "" })
    for (const outcome of await Promise.all([1, 2, 3, 4, 5].map(sendOne)))
      assert.deepEqual(stable(outcome), delivered())
    for (const { socket } of waiting) silent.add(socket)
    assert.deepEqual(stable(await sendOne()), failed("timeout", true))
    assert.deepEqual(stable(await sendOne()), delivered())
  })

  it("do not count while they carry an attempt", async () => {
    const receiver = await serveHttp(async (_, response) => {
      await sleep(30)
      response.end()
    })
    const { send } = dispatcher({ maxIdleConnections: 1 })
    const outcomes = await Promise.all(
      many(20).map((name) => send({ url: `http://${name}:${receiver.port}/`, body: "" }))
    )
    for (const outcome of outcomes) assert.deepEqual(stable(outcome), delivered())
    await until(() => receiver.open === 1, "connections to close")
  })
})
