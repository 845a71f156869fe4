import { execFile } from "node:child_process"
import { syncBuiltinESMExports } from "node:module"
import net from "node:net"
import { networkInterfaces } from "node:os"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import type { AttemptDiagnostics, Connected } from "@govoice/dispatcher"
import {
  blocked,
  cleanup,
  delivered,
  dispatcher,
  failed,
  later,
  leastOfThree,
  passTurns,
  sendOnce,
  serveHttp,
  serveRaw,
  sleep,
  stable,
  unusedPort,
  until
} from "./support/servers.ts"

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1")
)

describe("Connections", () => {
  it("carry attempts in a row: one connection carries 1,000", async () => {
    const receiver = await serveHttp()
    const { send } = dispatcher()
    for (let attempt = 0; attempt < 1_000; attempt++) {
      assert.deepEqual(
        stable(await send({ url: `http://name.test:${receiver.port}/${attempt}`, body: "{}" })),
        delivered()
      )
    }
    assert.strictEqual(receiver.connections, 1)
    assert.strictEqual(receiver.requests.length, 1_000)
  })

  it("opened for concurrent attempts carry all later attempts", async () => {
    const receiver = await serveHttp()
    const { send } = dispatcher()
    const worker = async () => {
      for (let attempt = 0; attempt < 100; attempt++) {
        await send({ url: `http://name.test:${receiver.port}/`, body: "{}" })
      }
    }
    await Promise.all(Array.from({ length: 10 }, worker))
    assert.strictEqual(receiver.requests.length, 1_000)
    assert.strictEqual(receiver.connections, 10)
  })

  it("of one pool are limited, and further attempts wait", async () => {
    let most = 0
    let now = 0
    const receiver = await serveHttp(async (_, response) => {
      most = Math.max(most, ++now)
      await sleep(5)
      now--
      response.end()
    })
    const { send } = dispatcher({ maxConnectionsPerTarget: 3 })
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, () => send({ url: `http://name.test:${receiver.port}/`, body: "{}" }))
    )
    assert.deepEqual(
      outcomes.map(stable),
      Array.from({ length: 60 }, () => delivered())
    )
    assert.strictEqual(most, 3)
    assert.strictEqual(receiver.connections, 3)
  })

  it("that are all in use make an attempt wait, which ends at its deadline unsent", async () => {
    const receiver = await serveRaw(() => {})
    const { send } = dispatcher({ maxConnectionsPerTarget: 1, deadlineMs: 4_000 })
    const url = `http://name.test:${receiver.port}/`
    const first = send({ url, body: "{}" })
    const second = await send({ url, body: "{}", deadlineMs: 100 })
    assert.deepEqual(stable(second), failed("timeout", false))
    assert.isBelow(second.durationMs, 3_000)
    assert.deepEqual(stable(await first), failed("timeout", true))
    assert.strictEqual(receiver.connections, 1)
  })

  it("to a receiver that hangs do not delay another receiver", async () => {
    const hanging = await serveRaw(() => {})
    const healthy = await serveHttp()
    const { send } = dispatcher({ maxConnectionsPerTarget: 2, deadlineMs: 5_000 })
    let ended = 0
    const stuck = Array.from({ length: 50 }, () =>
      send({ url: `http://hang.test:${hanging.port}/`, body: "" }).finally(() => ended++)
    )
    await until(() => hanging.open === 2, "the connections that hang")
    for (let attempt = 0; attempt < 20; attempt++) {
      const outcome = await send({ url: `http://well.test:${healthy.port}/`, body: "" })
      assert.deepEqual(stable(outcome), delivered())
    }
    assert.strictEqual(ended, 0, "the healthy receiver is served before the others time out")
    for (const outcome of await Promise.all(stuck)) assert.strictEqual(stable(outcome)["reason"], "timeout")
  })

  it("free their slot in the pool in each way in which they end", async () => {
    const ends: ReadonlyArray<(socket: net.Socket) => unknown> = [
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end(),
      (socket) => socket.write("garbage\r\n\r\n"),
      (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n"),
      (socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nok"),
      () => {}
    ]
    let turn = 0
    const receiver = await serveRaw((socket) => ends[turn++ % ends.length]!(socket))
    const { send } = dispatcher({ maxConnectionsPerTarget: 1, deadlineMs: 2_000 })
    const url = `http://name.test:${receiver.port}/`
    for (let attempt = 0; attempt < ends.length * 2; attempt++) {
      const outcome = await send({ url, body: "" })
      // If a connection kept its slot, the next attempt would time out unsent.
      assert.isTrue(outcome.attempted, `after ${attempt}`)
    }
    const port = await unusedPort()
    for (let attempt = 0; attempt < 3; attempt++) {
      const outcome = await send({ url: `http://name.test:${port}/`, body: "" })
      assert.deepEqual(stable(outcome), failed("connect", false))
    }
  })

  it("whose receiver answers without reading are not used again, which bounds memory", async () => {
    const sockets: Array<net.Socket> = []
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
    const receiver = await serveRaw((socket) => {
      sockets.push(socket.pause())
      socket.write(answer)
    })
    const { send } = dispatcher()
    const url = `http://name.test:${receiver.port}/`
    for (let attempt = 0; attempt < 3; attempt++) {
      // More than the kernel buffers of both sides.
      assert.deepEqual(stable(await send({ url, body: Buffer.alloc(20_000_000) })), delivered())
      await sleep(20)
    }
    assert.strictEqual(receiver.connections, 3)
    for (const socket of sockets) socket.destroy()
  })

  it("that discard a body are closed for a waiting attempt", async () => {
    const receiver = await serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"))
    const { send } = dispatcher({ maxConnectionsPerTarget: 1 })
    const url = `http://name.test:${receiver.port}/`
    await send({ url, body: "" })
    const durationMs = await leastOfThree(async () => {
      const outcome = await send({ url, body: "" })
      assert.deepEqual(stable(outcome), delivered())
      return outcome.durationMs
    })
    // Discarding takes 2 seconds.
    assert.isBelow(durationMs, 1_500)
  })

  it("that the receiver closes are replaced", async () => {
    const receiver = await serveHttp((_, response) => response.setHeader("connection", "close").end())
    const { send } = dispatcher()
    for (let attempt = 0; attempt < 5; attempt++) {
      assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
    }
    assert.strictEqual(receiver.connections, 5)
  })

  it("that the receiver closed while they were idle are replaced", async () => {
    const sockets: Array<net.Socket> = []
    const receiver = await serveHttp((request, response) => {
      sockets.push(request.socket)
      response.end()
    })
    const { send } = dispatcher()
    for (let attempt = 0; attempt < 5; attempt++) {
      assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
      await passTurns(2)
      sockets.at(-1)!.destroy()
      await passTurns()
    }
    assert.strictEqual(receiver.connections, 5)
  })

  it("whose keep-alive is about to end are not used again", async () => {
    const receiver = await serveHttp((_, response) => response.setHeader("keep-alive", "timeout=1").end())
    const { send } = dispatcher()
    const url = `http://name.test:${receiver.port}/`
    assert.deepEqual(stable(await send({ url, body: "" })), delivered())
    await sleep(10)
    assert.deepEqual(stable(await send({ url, body: "" })), delivered())
    assert.strictEqual(receiver.connections, 2)
  })

  it("are not kept when they are older than 5 minutes", async () => {
    const receiver = await serveHttp()
    const { close, send } = dispatcher()
    const url = `http://name.test:${receiver.port}/`
    await send({ url, body: "" })
    await send({ url, body: "" })
    assert.strictEqual(receiver.connections, 1)
    later(300_001)
    await send({ url, body: "" })
    assert.strictEqual(receiver.connections, 2)
    await until(() => receiver.open === 1, "the old connection to close")
    await send({ url, body: "" })
    assert.strictEqual(receiver.connections, 2)
    await close()
    await until(() => receiver.open === 0, "the new connection to close")
  })

  it("are shared by an address and its mapped form", async () => {
    const receiver = await serveHttp()
    const opened: Array<Connected> = []
    const { send } = dispatcher({
      resolve: async () => ["::ffff:127.0.0.1", "127.0.0.1"],
      onConnect: (connected) => opened.push(connected)
    })
    await send({ url: `http://name.test:${receiver.port}/`, body: "" })
    await send({ url: `http://name.test:${receiver.port}/`, body: "" })
    assert.deepEqual(opened, [{ address: "127.0.0.1", port: receiver.port, hostname: "name.test" }])
  })

  it.runIf(hasIpv6)("over IPv6 send the address in brackets in Host", async () => {
    const receiver = await serveHttp(undefined, { address: "::1" })
    const opened: Array<Connected> = []
    const { send } = dispatcher({
      allowNetworks: ["::1/128"],
      resolve: async () => ["0:0:0:0:0:0:0:1"],
      onConnect: (connected) => opened.push(connected)
    })
    assert.deepEqual(stable(await send({ url: `http://[0::1]:${receiver.port}/`, body: "" })), delivered())
    assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
    assert.deepEqual(opened, [
      { address: "::1", port: receiver.port, hostname: "::1" },
      { address: "::1", port: receiver.port, hostname: "name.test" }
    ])
    assert.deepEqual(
      receiver.requests.map(({ headers }) => headers.host),
      [`[::1]:${receiver.port}`, `name.test:${receiver.port}`]
    )
  })

  it("without TLS do not keep a program from ending while they are idle", async () => {
    const receiver = await serveHttp()
    const program = fileURLToPath(new URL("support/unclosed.ts", import.meta.url))
    const url = `http://name.test:${receiver.port}/`
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", program, url], {
      timeout: 50_000
    })
    const { outcome, stayedMs } = JSON.parse(stdout) as { readonly outcome: string; readonly stayedMs: number }
    assert.strictEqual(outcome, "Delivered")
    // An idle connection is kept for 4 seconds.
    assert.isBelow(stayedMs, 3_500)
  })

  it("are not shared by two names at one address", async () => {
    const receiver = await serveHttp()
    const { send } = dispatcher()
    await send({ url: `http://one.test:${receiver.port}/`, body: "" })
    await send({ url: `http://two.test:${receiver.port}/`, body: "" })
    assert.strictEqual(receiver.connections, 2)
    assert.deepEqual(
      receiver.requests.map(({ headers }) => headers.host),
      [`one.test:${receiver.port}`, `two.test:${receiver.port}`]
    )
  })

  it("use the next address if one refuses", async () => {
    const receiver = await serveHttp(undefined, { address: "127.0.0.3" })
    const opened: Array<string> = []
    const attempts: Array<AttemptDiagnostics> = []
    const outcome = await sendOnce(`http://name.test:${receiver.port}/`, {
      resolve: async () => ["127.0.0.4", "127.0.0.5", "127.0.0.3"],
      onConnect: ({ address }) => opened.push(address),
      onAttempt: (attempt) => attempts.push(attempt)
    })
    assert.deepEqual(stable(outcome), delivered())
    assert.deepEqual(opened, ["127.0.0.3"])
    await until(() => attempts.length === 1)
    assert.strictEqual(attempts[0]!.addressesTried, 3)
  })

  it("are tried at three addresses at most", async () => {
    const receiver = await serveHttp(undefined, { address: "127.0.0.9" })
    const outcome = await sendOnce(`http://name.test:${receiver.port}/`, {
      resolve: async () => ["127.0.0.6", "127.0.0.7", "127.0.0.8", "127.0.0.9"]
    })
    assert.deepEqual(stable(outcome), failed("connect", false))
    assert.strictEqual(receiver.connections, 0)
  })

  it("refused at every address are Failed connect", async () => {
    const port = await unusedPort()
    assert.deepEqual(stable(await sendOnce(`http://name.test:${port}/`)), failed("connect", false))
  })

  it("prefer the address of the answer that has an idle connection", async () => {
    const first = await serveHttp(undefined, { address: "127.0.0.1" })
    const second = await serveHttp(undefined, { address: "127.0.0.2", port: first.port })
    let answer = ["127.0.0.2"]
    const { send } = dispatcher({ resolve: async () => answer })
    const url = `http://name.test:${first.port}/`
    await send({ url, body: "" })
    answer = ["127.0.0.1", "127.0.0.2"]
    await send({ url, body: "" })
    assert.deepEqual([first.requests.length, second.requests.length], [0, 2])
    answer = ["127.0.0.1"]
    await send({ url, body: "" })
    assert.deepEqual([first.requests.length, second.requests.length], [1, 2])
  })

  it("to another address than the judged one carry no request", async () => {
    // A mistake in an option or in a layer below could connect to another address.
    const elsewhere = await serveHttp(undefined, { address: "127.0.0.2" })
    const { connect } = net
    net.connect = ((options: net.TcpNetConnectOpts) => connect({ ...options, host: "127.0.0.2" })) as typeof connect
    syncBuiltinESMExports()
    cleanup(() => {
      net.connect = connect
      syncBuiltinESMExports()
    })
    const opened: Array<Connected> = []
    const onConnect = (connected: Connected) => opened.push(connected)
    assert.deepEqual(
      stable(await sendOnce(`http://name.test:${elsewhere.port}/`, { onConnect })),
      blocked("peer-address")
    )
    assert.strictEqual(elsewhere.requests.length, 0)
    assert.deepEqual(opened, [])
  })

  it("reset at once are Failed connect, and the next address is tried", async () => {
    // The operating system knows no peer of a socket that was reset after it was connected.
    const receiver = await serveHttp()
    const { connect } = net
    let resets = 1
    net.connect = ((options: net.TcpNetConnectOpts) => {
      const socket = connect(options)
      if (resets-- > 0) Object.defineProperty(socket, "remoteAddress", { get: () => undefined })
      return socket
    }) as typeof connect
    syncBuiltinESMExports()
    cleanup(() => {
      net.connect = connect
      syncBuiltinESMExports()
    })
    const url = `http://name.test:${receiver.port}/`
    assert.deepEqual(stable(await sendOnce(url)), failed("connect", false))
    resets = 1
    await serveHttp(undefined, { address: "127.0.0.2", port: receiver.port })
    const resolve = async () => ["127.0.0.1", "127.0.0.2"]
    assert.deepEqual(stable(await sendOnce(url, { resolve })), delivered())
  })

  it("of the least recently used pool are closed over the limit of pools", async () => {
    const receiver = await serveHttp()
    const { send } = dispatcher({ maxTargets: 3 })
    for (const name of ["a", "b", "c", "a", "d"]) {
      await send({ url: `http://${name}.test:${receiver.port}/`, body: "" })
    }
    await until(() => receiver.open === 3)
    const before = receiver.connections
    for (const name of ["a", "c", "d"]) await send({ url: `http://${name}.test:${receiver.port}/`, body: "" })
    assert.strictEqual(receiver.connections, before)
    await send({ url: `http://b.test:${receiver.port}/`, body: "" })
    assert.strictEqual(receiver.connections, before + 1)
  })

  it("stay limited with more pools at once than are kept", async () => {
    const receiver = await serveHttp(async (_, response) => {
      await sleep(20)
      response.end()
    })
    const { send } = dispatcher({ maxTargets: 5 })
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) => send({ url: `http://n${index}.test:${receiver.port}/`, body: "" }))
    )
    for (const outcome of outcomes) assert.deepEqual(stable(outcome), delivered())
    await until(() => receiver.open <= 5)
  })

  it("are limited over 1,000 hosts", async () => {
    const receiver = await serveHttp()
    const { send } = dispatcher({ maxTargets: 50 })
    for (let host = 0; host < 1_000; host += 20) {
      const urls = Array.from({ length: 20 }, (_, index) => `http://h${host + index}.test:${receiver.port}/`)
      const outcomes = await Promise.all(urls.map((url) => send({ url, body: "" })))
      for (const outcome of outcomes) assert.strictEqual(outcome._tag, "Delivered")
    }
    assert.lengthOf(receiver.requests, 1_000)
    await until(() => receiver.open <= 50)
  })
})
