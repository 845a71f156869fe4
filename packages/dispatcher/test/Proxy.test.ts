import * as dns from "node:dns"
import * as http from "node:http"
import * as net from "node:net"
import { assert, describe, it } from "@effect/vitest"
import type { Connected } from "@govoice/dispatcher"
import { vi } from "vitest"
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
  unusedPort,
  until
} from "./support/servers.ts"

/** A proxy that opens tunnels and records their addresses. */
const serveProxy = async (to?: string) => {
  const asked: Array<string> = []
  const authorizations: Array<string | undefined> = []
  let open = 0
  const server = http.createServer((_, response) => response.writeHead(405).end())
  server.on("connect", (request: http.IncomingMessage, client: net.Socket) => {
    asked.push(request.url!)
    authorizations.push(request.headers["proxy-authorization"])
    const { port } = new URL(`http://${request.url}`)
    const upstream = net.connect(Number(port), to ?? "127.0.0.1", () => {
      open++
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n")
      upstream.pipe(client)
      client.pipe(upstream)
    })
    const close = () => {
      client.destroy()
      upstream.destroy()
    }
    client.on("error", close).on("close", close)
    upstream.on("error", close).on("close", () => open--)
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  cleanup(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as net.AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, asked, authorizations, open: () => open }
}

describe("The proxy of the option", () => {
  it("has its name looked up once for all connections that wait for it", async () => {
    const proxy = await serveProxy()
    const receiver = await serveHttp()
    const lookup = vi.spyOn(dns.promises, "lookup").mockImplementation(async () => {
      await sleep(100)
      return [{ address: "127.0.0.1", family: 4 }] as never
    })
    cleanup(() => lookup.mockRestore())
    const { send } = dispatcher({ proxy: `http://proxy.test:${proxy.port}` })
    const sends = [1, 2, 3, 4].map(() => send({ url: `http://name.test:${receiver.port}/`, body: "" }))
    for (const outcome of await Promise.all(sends)) assert.deepEqual(stable(outcome), delivered())
    assert.strictEqual(lookup.mock.calls.length, 1)
  })

  it("receives the judged address, for http: too, and connections are kept", async () => {
    const proxy = await serveProxy()
    const receiver = await serveHttp()
    const opened: Array<Connected> = []
    const { send } = dispatcher({ proxy: proxy.url, onConnect: (connected) => opened.push(connected) })
    for (let attempt = 0; attempt < 5; attempt++) {
      assert.deepEqual(stable(await send({ url: `http://name.test:${receiver.port}/hook`, body: "{}" })), delivered())
    }
    assert.deepEqual(proxy.asked, [`127.0.0.1:${receiver.port}`])
    assert.deepEqual(opened, [{ address: "127.0.0.1", port: receiver.port, hostname: "name.test" }])
    assert.strictEqual(receiver.connections, 1)
    assert.strictEqual(receiver.requests[0]!.url, "/hook")
    assert.strictEqual(receiver.requests[0]!.headers.host, `name.test:${receiver.port}`)
    assert.isUndefined(receiver.requests[0]!.headers["proxy-authorization"])
  })

  it("receives an IPv6 address in brackets", async () => {
    const proxy = await serveProxy()
    const receiver = await serveHttp()
    const options = { proxy: proxy.url, allowNetworks: ["::1"], resolve: async () => ["0::1"] }
    assert.deepEqual(stable(await sendOnce(`http://name.test:${receiver.port}/`, options)), delivered())
    assert.deepEqual(proxy.asked, [`[::1]:${receiver.port}`])
  })

  it("receives TLS records alone for https:, and the certificate is checked behind the proxy", async () => {
    const authority = makeAuthority()
    const proxy = await serveProxy()
    const receiver = await serveHttps(authority.issue({ names: ["name.test"] }))
    const { send } = dispatcher({ proxy: proxy.url, tls: { ca: authority.cert } })
    for (let attempt = 0; attempt < 5; attempt++) {
      assert.deepEqual(stable(await send({ url: `https://name.test:${receiver.port}/`, body: "" })), delivered())
    }
    assert.strictEqual(receiver.connections, 1)
    const wrong = await send({ url: `https://other.test:${receiver.port}/`, body: "" })
    assert.deepEqual(stable(wrong), failed("tls", false))
  })

  it("is asked for a receiver behind NAT64 while another one behind it rests", async () => {
    const authority = makeAuthority()
    const proxy = await serveProxy()
    const slow = await serveHttps(makeSlowChain("slow.test", 9))
    const usual = await serveHttps(authority.issue({ names: ["name.test"] }))
    const addresses: Record<string, string> = { "slow.test": "64:ff9b::101:101", "name.test": "64:ff9b::808:808" }
    const resolve = async (hostname: string) => [addresses[hostname]!]
    const { send } = dispatcher({ proxy: proxy.url, resolve, tls: { ca: authority.cert } })
    const toSlow = () => send({ url: `https://slow.test:${slow.port}/`, body: "" })
    assert.deepEqual(stable(await toSlow()), failed("tls", false))
    assert.deepEqual(stable(await toSlow()), failed("connect", false))
    assert.deepEqual(stable(await send({ url: `https://name.test:${usual.port}/`, body: "" })), delivered())
  })

  it("receives no request that is blocked", async () => {
    const proxy = await serveProxy()
    const options = { proxy: proxy.url, resolve: async () => ["10.0.0.1"] }
    assert.deepEqual(stable(await sendOnce("http://name.test/", options)), blocked("private"))
    assert.deepEqual(stable(await sendOnce("http://169.254.169.254/", options)), blocked("metadata"))
    assert.deepEqual(proxy.asked, [])
  })

  it("receives the credentials of the URL of the proxy", async () => {
    const proxy = await serveProxy()
    const receiver = await serveHttp()
    const url = proxy.url.replace("http://", "http://us%65r:p%40ss%zz@")
    assert.deepEqual(stable(await sendOnce(`http://name.test:${receiver.port}/`, { proxy: url })), delivered())
    assert.deepEqual(proxy.authorizations, [`Basic ${Buffer.from("user:p@ss%zz").toString("base64")}`])
  })

  it("that is unreachable, refuses or sends nonsense is Failed connect, and the next address is tried", async () => {
    const receiver = await serveHttp()
    const url = `http://name.test:${receiver.port}/`
    const gone = `http://127.0.0.1:${await unusedPort()}`
    assert.deepEqual(stable(await sendOnce(url, { proxy: gone })), failed("connect", false))
    for (const answer of [
      "HTTP/1.1 403 Forbidden\r\n\r\n",
      "HTTP/1.1 2000 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\nmore",
      "220 mail.example.com ESMTP\r\n\r\n",
      "x".repeat(9_000)
    ]) {
      const asked: Array<string> = []
      const proxy = await serveRaw((socket, received) => {
        asked.push(received.toString().split(" ")[1]!)
        socket.write(answer)
      })
      const options = { proxy: `http://127.0.0.1:${proxy.port}`, resolve: async () => ["127.0.0.1", "127.0.0.2"] }
      assert.deepEqual(stable(await sendOnce(url, options)), failed("connect", false), answer.slice(0, 20))
      assert.deepEqual(asked, [`127.0.0.1:${receiver.port}`, `127.0.0.2:${receiver.port}`])
      await until(() => proxy.open === 0, "the connection to close")
    }
    assert.strictEqual(receiver.connections, 0)
  })

  it("that hangs ends with the deadline", async () => {
    const proxy = await serveRaw(() => {})
    const options = { proxy: `http://127.0.0.1:${proxy.port}`, deadlineMs: 150 }
    const outcome = await sendOnce("http://name.test/", options)
    assert.deepEqual(stable(outcome), failed("timeout", false))
    assert.isBelow(outcome.durationMs, 10_000)
    await until(() => proxy.open === 0, "the connection to close")
  })

  it("has no connections after the dispatcher is closed", async () => {
    const authority = makeAuthority()
    const proxy = await serveProxy()
    const receiver = await serveHttps(authority.issue({ names: ["name.test"] }))
    const made = dispatcher({ proxy: proxy.url, tls: { ca: authority.cert } })
    await made.send({ url: `https://name.test:${receiver.port}/`, body: "" })
    assert.strictEqual(proxy.open(), 1)
    await made.close()
    await until(() => proxy.open() === 0 && receiver.open === 0, "connections to close")
  })

  for (const proxy of [
    "",
    "proxy",
    "https://proxy.test/",
    "socks5://proxy.test/",
    "http://",
    "http://proxy.test/path",
    1
  ]) {
    it(`cannot be ${JSON.stringify(proxy)}`, () => {
      assert.throws(() => dispatcher({ proxy: proxy as string }), "proxy must be a URL")
    })
  }
})
