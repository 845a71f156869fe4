import { assert, describe, it } from "@effect/vitest"
import type { DispatcherOptions } from "@govoice/dispatcher"
import { makeDispatcher } from "@govoice/dispatcher"
import { generateKeyPairSync } from "node:crypto"
import * as net from "node:net"
import type * as tls from "node:tls"
import { makeAuthority, makeSlowChain } from "./support/certificates.ts"
import {
  blocked,
  cleanup,
  delivered,
  dispatcher,
  failed,
  sendOnce,
  serveHttp,
  serveHttps,
  serveRaw,
  sleep,
  stable,
  until
} from "./support/servers.ts"
import { serveRawTls } from "./support/tlsServers.ts"

const authority = makeAuthority()
const trusting = { tls: { ca: authority.cert } } satisfies DispatcherOptions
const good = authority.issue({ names: ["good.test"], addresses: ["127.0.0.1"] })

const serverName = (request: { readonly socket: unknown }) => (request.socket as tls.TLSSocket).servername

describe("Over TLS", () => {
  it("name and certificate are checked against the name, not the address", async () => {
    const receiver = await serveHttps(authority.issue({ names: ["good.test"] }))
    assert.deepEqual(stable(await sendOnce(`https://good.test:${receiver.port}/`, trusting)), delivered())
    assert.strictEqual(serverName(receiver.requests[0]!), "good.test")
    assert.strictEqual(receiver.requests[0]!.headers.host, `good.test:${receiver.port}`)
  })

  it("a trailing dot is omitted from SNI and Host", async () => {
    const asked: Array<string> = []
    const receiver = await serveHttps(authority.issue({ names: ["good.test"] }))
    const resolve = async (hostname: string) => {
      asked.push(hostname)
      return ["127.0.0.1"]
    }
    const outcome = await sendOnce(`https://good.test.:${receiver.port}/`, { ...trusting, resolve })
    assert.deepEqual(stable(outcome), delivered())
    assert.strictEqual(serverName(receiver.requests[0]!), "good.test")
    assert.strictEqual(receiver.requests[0]!.headers.host, `good.test:${receiver.port}`)
    assert.deepEqual(asked, ["good.test"])
  })

  it("an address has no SNI and needs its address in the certificate", async () => {
    const receiver = await serveHttps(good)
    assert.deepEqual(stable(await sendOnce(`https://127.0.0.1:${receiver.port}/`, trusting)), delivered())
    assert.isFalse(serverName(receiver.requests[0]!))
    const other = await serveHttps(authority.issue({ names: ["good.test"] }))
    assert.deepEqual(stable(await sendOnce(`https://127.0.0.1:${other.port}/`, trusting)), failed("tls", false))
  })

  it("two names on one address and port have separate connections, each checked", async () => {
    const both = await serveHttps(authority.issue({ names: ["one.test", "two.test"] }))
    const { send } = dispatcher(trusting)
    for (let attempt = 0; attempt < 20; attempt++) {
      const name = attempt % 2 === 0 ? "one.test" : "two.test"
      assert.deepEqual(stable(await send({ url: `https://${name}:${both.port}/`, body: "" })), delivered())
      assert.strictEqual(serverName(both.requests.at(-1)!), name)
    }
    assert.strictEqual(both.connections, 2)
  })

  it("a session of one name is not resumed for another", async () => {
    const receiver = await serveHttps(authority.issue({ names: ["one.test"] }))
    const { send } = dispatcher(trusting)
    assert.deepEqual(stable(await send({ url: `https://one.test:${receiver.port}/`, body: "" })), delivered())
    assert.deepEqual(stable(await send({ url: `https://two.test:${receiver.port}/`, body: "" })), failed("tls", false))
    assert.strictEqual(receiver.requests.length, 1)
  })

  it("a session is resumed for the next connection", async () => {
    const reused: Array<boolean> = []
    const receiver = await serveHttps(good, (request, response) => {
      reused.push((request.socket as tls.TLSSocket).isSessionReused())
      response.setHeader("connection", "close").end()
    })
    const { send } = dispatcher(trusting)
    for (let attempt = 0; attempt < 3; attempt++) {
      await send({ url: `https://good.test:${receiver.port}/`, body: "" })
      await sleep(20)
    }
    assert.deepEqual(reused, [false, true, true])
  })

  it("sessions of more pools than are kept do not prevent the reuse of connections", async () => {
    const names = Array.from({ length: 6 }, (_, index) => `n${index}.test`)
    const receiver = await serveHttps(authority.issue({ names }), async (_, response) => {
      await sleep(50)
      response.end()
    })
    const { send } = dispatcher({ ...trusting, maxTargets: 2 })
    const sendTo = (name: string) => send({ url: `https://${name}:${receiver.port}/`, body: "" })
    for (const outcome of await Promise.all(names.map(sendTo))) assert.deepEqual(stable(outcome), delivered())
    const before = receiver.connections
    for (let attempt = 0; attempt < 5; attempt++) assert.deepEqual(stable(await sendTo("n0.test")), delivered())
    assert.isAtMost(receiver.connections - before, 1)
  })

  for (const [what, certificate] of [
    ["another name", authority.issue({ names: ["evil.test"] })],
    ["a name below it", authority.issue({ names: ["sub.good.test"] })],
    ["no name", authority.issue({})],
    ["a date that has passed", authority.issue({ names: ["good.test"], from: -10, until: -1 })],
    ["a date to come", authority.issue({ names: ["good.test"], from: 1, until: 10 })],
    ["another authority", makeAuthority("Somebody else").issue({ names: ["good.test"] })],
    ["an authority of the same name", makeAuthority().issue({ names: ["good.test"] })]
  ] as const) {
    it(`a certificate with ${what} fails, and nothing is sent`, async () => {
      const receiver = await serveHttps(certificate)
      assert.deepEqual(stable(await sendOnce(`https://good.test:${receiver.port}/`, trusting)), failed("tls", false))
      assert.strictEqual(receiver.requests.length, 0)
    })
  }

  it("a self-signed certificate fails", async () => {
    const self = makeAuthority("good.test")
    const receiver = await serveHttps(self)
    assert.deepEqual(stable(await sendOnce(`https://good.test:${receiver.port}/`, trusting)), failed("tls", false))
  })

  it("an untrusted authority fails, also with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    const receiver = await serveHttps(good)
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0"
    try {
      assert.deepEqual(stable(await sendOnce(`https://good.test:${receiver.port}/`)), failed("tls", false))
      assert.strictEqual(receiver.requests.length, 0)
    } finally {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before
    }
  })

  it("versions below TLS 1.2 are not used", async () => {
    const old = { ...good, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const
    const receiver = await serveHttps(old)
    assert.deepEqual(stable(await sendOnce(`https://good.test:${receiver.port}/`, trusting)), failed("tls", false))
  })

  it("TLS 1.2 is used with a receiver that has no later version", async () => {
    const receiver = await serveHttps({ ...good, maxVersion: "TLSv1.2" })
    assert.deepEqual(stable(await sendOnce(`https://good.test:${receiver.port}/`, trusting)), delivered())
  })

  it("finite-field Diffie-Hellman, whose groups a receiver can make slow, is not offered", async () => {
    const slow = {
      ...authority.issue({ names: ["good.test"], keys: generateKeyPairSync("rsa", { modulusLength: 2048 }) }),
      maxVersion: "TLSv1.2",
      dhparam: "auto",
      ciphers: "DHE-RSA-AES128-GCM-SHA256"
    } as const
    const receiver = await serveHttps(slow)
    assert.deepEqual(stable(await sendOnce(`https://good.test:${receiver.port}/`, trusting)), failed("tls", false))
    const usual = await serveHttps({ ...slow, ciphers: "ECDHE-RSA-AES128-GCM-SHA256" })
    assert.deepEqual(stable(await sendOnce(`https://good.test:${usual.port}/`, trusting)), delivered())
  })

  it("a chain that takes long to check ends the handshake before it is checked", async () => {
    const receiver = await serveHttps(makeSlowChain("good.test", 60))
    const { send } = dispatcher(trusting)
    const url = `https://good.test:${receiver.port}/`
    const before = process.threadCpuUsage()
    assert.deepEqual(stable(await send({ url, body: "" })), failed("tls", false))
    const { system, user } = process.threadCpuUsage(before)
    // Checked, it takes 400 ms.
    assert.isBelow((system + user) / 1000, 150)
  })

  it("a receiver whose handshake took long is not connected to for a time, and another one is", async () => {
    const slow = await serveHttps(makeSlowChain("slow.test", 9))
    const usual = await serveHttps(good, undefined, { address: "127.0.0.2" })
    const addresses: Record<string, string> = { "slow.test": "127.0.0.1", "good.test": "127.0.0.2" }
    const { send } = dispatcher({ ...trusting, resolve: async (hostname) => [addresses[hostname]!] })
    const toSlow = () => send({ url: `https://slow.test:${slow.port}/`, body: "" })
    assert.deepEqual(stable(await toSlow()), failed("tls", false))
    assert.strictEqual(slow.connections, 1)
    for (let count = 0; count < 20; count++) assert.deepEqual(stable(await toSlow()), failed("connect", false))
    assert.strictEqual(slow.connections, 1)
    assert.deepEqual(stable(await send({ url: `https://good.test:${usual.port}/`, body: "" })), delivered())
  })

  it("of handshakes with a network that begin together and take long, few are checked", async () => {
    const count = 12
    const slow = await serveHttps(makeSlowChain("slow.test", 9))
    // Answers nobody until all are connected.
    const passOn: Array<() => void> = []
    const front = await serveRaw(() => {}, {
      onConnection: (client) => {
        const behind = net.connect(slow.port, "127.0.0.1").on("error", () => {})
        client.pipe(behind)
        client.once("close", () => behind.destroy())
        passOn.push(() => behind.pipe(client))
      }
    })
    const codes: Array<string | undefined> = []
    const { send } = dispatcher({ ...trusting, onAttempt: ({ code }) => codes.push(code) })
    const sent = Array.from({ length: count }, (_, index) =>
      send({ url: `https://slow${index}.test:${front.port}/`, body: "" })
    )
    await until(() => passOn.length === count, "all to be connected")
    for (const pass of passOn) pass()
    for (const outcome of await Promise.all(sent)) assert.deepEqual(stable(outcome), failed("tls", false))
    // Several may be checked before the first one that took long.
    assert.isAtLeast(codes.filter((code) => code === "GOVOICE_HANDSHAKE").length, count / 2, codes.join())
  })

  it("a receiver cannot renegotiate", async () => {
    let handshakes = 0
    const renegotiated: Array<Error | null> = []
    const receiver = await serveRawTls({ ...good, maxVersion: "TLSv1.2" }, (socket) => {
      socket.on("secure", () => handshakes++)
      socket.renegotiate({}, (error) => renegotiated.push(error))
    })
    const outcome = stable(await sendOnce(`https://good.test:${receiver.port}/`, { ...trusting, deadlineMs: 1_000 }))
    assert.strictEqual(outcome["_tag"], "Failed")
    assert.strictEqual(handshakes, 0)
    assert.isTrue(renegotiated.every((error) => error !== null))
  })

  it("records with hardly any data are limited by their bytes on the wire", async () => {
    let sent = 0
    const receiver = await serveRawTls(good, (socket) => {
      // One write for each turn of the event loop, so that each is a record.
      const next = () => {
        if (socket.destroyed) return
        sent += 2
        socket.write("\r\n")
        setImmediate(next)
      }
      next()
    })
    assert.deepEqual(stable(await sendOnce(`https://good.test:${receiver.port}/`, trusting)), failed("protocol", true))
    await until(() => receiver.open.size === 0, "the connection to close")
    // 256 KiB on the wire are less than 25,000 bytes in records of two.
    assert.isBelow(sent, 100_000)
  })

  it("HTTP/2 is not offered", async () => {
    const receiver = await serveHttps({ ...good, ALPNProtocols: ["h2", "http/1.1"] })
    assert.deepEqual(stable(await sendOnce(`https://good.test:${receiver.port}/`, trusting)), delivered())
    assert.strictEqual((receiver.requests[0]!.socket as tls.TLSSocket).alpnProtocol, "http/1.1")
  })

  it("plain HTTP, garbage and silence are a failed TLS session", async () => {
    const plain = await serveHttp()
    assert.deepEqual(stable(await sendOnce(`https://good.test:${plain.port}/`, trusting)), failed("tls", false))
    const garbage = await serveRaw((socket) => socket.write("220 mail.example.com ESMTP\r\n"))
    assert.deepEqual(stable(await sendOnce(`https://good.test:${garbage.port}/`, trusting)), failed("tls", false))
    const closing = await serveRaw((socket) => socket.end())
    assert.deepEqual(stable(await sendOnce(`https://good.test:${closing.port}/`, trusting)), failed("tls", false))
    const silent = await serveRaw(() => {})
    const outcome = await sendOnce(`https://good.test:${silent.port}/`, { ...trusting, deadlineMs: 200 })
    assert.deepEqual(stable(outcome), failed("timeout", false))
    assert.isBelow(outcome.durationMs, 10_000)
  })

  it("an https: URL never becomes an http: one", async () => {
    const plain = await serveHttp()
    await sendOnce(`https://good.test:${plain.port}/`, trusting)
    assert.strictEqual(plain.requests.length, 0)
  })

  it("http: URLs are refused unless the option allowHttp is set", async () => {
    const made = makeDispatcher({ allowNetworks: ["127.0.0.0/8"], resolve: async () => ["127.0.0.1"] })
    cleanup(() => made.close())
    assert.deepEqual(stable(await made.send({ url: "http://good.test/", body: "" })), blocked("scheme"))
  })
})
