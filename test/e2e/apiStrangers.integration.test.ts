/** What a stranger can do before a request has an owner: admission by address and by host, and requests sent ahead. */
import { randomBytes, randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as ApiKeySecret from "../../apps/server/src/accounts/ApiKeySecret.ts"
import { problemOf } from "./support/agreement.ts"
import { type Call, makeCall, password, readAgreement, signUp, type Tenant } from "./support/client.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { exchange, parse } from "./support/raw.ts"
import { type Server, startServer } from "./support/server.ts"

const control = "/v1/control-plane"

describe("a stranger", () => {
  let database: TestDatabase
  let first: Server
  let server: Server
  let call: Call
  let tenant: Tenant

  beforeAll(async () => {
    database = await openMigrated()
    const settings = { ...database.settings, GOVOICE_ROLE: "api" }
    first = await startServer(settings)
    server = await startServer({ ...settings, GOVOICE_METRICS_PORT: "0", NODE_OPTIONS: "--max-old-space-size=160" })
    const agreement = await readAgreement(server.url)
    call = makeCall(() => server.url, agreement)
    tenant = await signUp(makeCall(() => first.url, agreement))
  })
  afterAll(async () => {
    await Promise.all([first?.stop(), server?.stop()])
    await database?.drop()
  })

  it("does not have valid keys refused that the process never saw, by keys of the same address", async () => {
    const me = async (auth: string) => call("GET", "/v1/me", { auth })
    for (let key = 0; key < 100; key++)
      assert.strictEqual((await me(ApiKeySecret.generate("live", "org_00000000000000000000000000"))).status, 401)
    assert.strictEqual(
      problemOf(await me(ApiKeySecret.generate("live", "org_00000000000000000000000000"))).code,
      "rate_limit_exceeded"
    )
    assert.strictEqual((await me(tenant.testKey)).status, 200)
  })

  const head = (path: string, length: number, type = "application/json") =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`

  it.each([
    ["login", "/auth/login"],
    ["refresh", "/auth/refresh"],
    ["logout", "/auth/logout"],
    ["signup", "/accounts"]
  ])("has each answer to a %s count, and the one beyond the limit comes before the body", async (_, path) => {
    const bodies = ["", "{", "{}", '{"unknown":1}', "[]"]
    for (let time = 0; time < 100; time++) {
      const { status } = await call("POST", `${control}${path}`, { raw: bodies[time % bodies.length]! })
      assert.include([400, 415, 422], status)
    }
    const { bytes } = await exchange(server.port, [head(`${control}${path}`, 10_000, "text/plain")], 5000)
    const [refused] = parse(bytes)
    assert.strictEqual(problemOf(refused!).code, "rate_limit_exceeded")
    assert.isAtLeast(Number(refused!.headers.get("retry-after")), 1)
    assert.isAtMost(Number(refused!.headers.get("retry-after")), 60)
  })

  it("has each end of a session of the console that there is not count", async () => {
    const fresh = await startServer({ ...database.settings, GOVOICE_ROLE: "api" })
    try {
      const end = async () => {
        const cookie = `__Host-govoice=s.${randomUUID()}.${randomBytes(32).toString("base64url")}`
        const headers = { "sec-fetch-site": "same-origin", cookie }
        return (await fetch(`${fresh.url}/console/session`, { method: "DELETE", headers })).status
      }
      for (let time = 0; time < 100; time++) assert.strictEqual(await end(), 204)
      assert.strictEqual(await end(), 429)
    } finally {
      await fresh.stop()
    }
  })

  it.each([
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site", Origin: "https://other.example.com" },
    { Origin: "https://other.example.com" },
    { Origin: "null" }
  ])("does not use up the limit of a reader's address with a page that sends %j", async (headers) => {
    const fresh = await startServer({ ...database.settings, GOVOICE_ROLE: "api" })
    try {
      const form = { "content-type": "text/plain;charset=UTF-8", ...headers }
      const post = (path: string) => fetch(`${fresh.url}${path}`, { method: "POST", headers: form, body: "{}" })
      for (let time = 0; time < 110; time++) {
        assert.strictEqual((await post(`${control}/auth/login`)).status, 415)
        assert.strictEqual((await post("/console/session")).status, 403)
      }
      const { email } = tenant
      const answer = await fetch(`${fresh.url}${control}/auth/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email, password })
      })
      assert.strictEqual(answer.status, 200)
      // What a page cannot send without being allowed to counts.
      const statuses: Array<number> = []
      while (!statuses.includes(429)) {
        const json = { "content-type": "application/json", ...headers }
        statuses.push(
          (await fetch(`${fresh.url}${control}/auth/login`, { method: "POST", headers: json, body: "[]" })).status
        )
        assert.isAtMost(statuses.length, 100)
      }
    } finally {
      await fresh.stop()
    }
  })

  it.each(["rebound.example.com", "rebound.example.com:3000"])("is refused that calls it %s", async (host) => {
    for (const target of ["/console", "/v1/me", "/openapi.json", `http://${host}/v1/me`]) {
      const name = target.startsWith("/") ? host : "localhost"
      const { bytes } = await exchange(server.port, [
        `GET ${target} HTTP/1.1\r\nHost: ${name}\r\nAuthorization: Bearer ${tenant.testKey}\r\nConnection: close\r\n\r\n`
      ])
      const [answer] = parse(bytes)
      assert.strictEqual(answer?.status, 400)
      const { code, message } = problemOf(answer!)
      assert.strictEqual(code, "malformed_request")
      assert.include(message, "rebound.example.com")
      assert.include(message, "GOVOICE_TRUSTED_PROXIES")
    }
  })

  // As the doctor asks.
  const unnamedProxy = async (): Promise<string | undefined> => {
    const [, url] = /Metrics are served at (\S+\/metrics)/.exec(server.output()) ?? []
    return /^govoice_unnamed_proxy (\d)$/m.exec(await (await fetch(url!)).text())?.[1]
  }

  it("that forwards requests without being named is noticed once, and measured for the doctor", async () => {
    assert.strictEqual(await unnamedProxy(), "0")
    const before = server.log().length
    for (let time = 0; time < 250; time++) {
      await call("GET", "/v1/me", { auth: tenant.testKey, headers: { "x-forwarded-for": `192.0.2.${time}` } })
    }
    const warnings = server
      .log()
      .slice(before)
      .filter(({ message }) => message.includes("X-Forwarded-For"))
    assert.lengthOf(warnings, 1)
    assert.include(warnings[0]!.message, "set GOVOICE_TRUSTED_PROXIES to its network")
    assert.strictEqual(warnings[0]!.annotations["peer"], "127.0.0.1")
    assert.strictEqual(await unnamedProxy(), "1")
  })

  // In KiB.
  const mostMemory = async () =>
    Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${server.process.pid}/status`, "utf8"))?.[1])

  // Reads nothing but what the kernel buffers.
  const flood = (request: string, bytes: number): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.pause()
        socket.write(request.repeat(Math.ceil(bytes / request.length)))
        resolve(socket)
      })
      socket.on("error", () => {})
    })

  it("that sends thousands of requests ahead takes neither the memory nor the turns of others", async () => {
    const before = await mostMemory()
    const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`
    const sockets = [
      ...(await Promise.all(Array.from({ length: 8 }, () => flood(get("/openapi.json"), 2 ** 20)))),
      await flood(get("/v1/me", `Authorization: Bearer ${tenant.testKey}\r\n`), 8 * 2 ** 20),
      await flood(get("/nothing"), 8 * 2 ** 20)
    ]
    for (let time = 0; time < 50; time++) assert.strictEqual((await fetch(`${server.url}/healthz`)).status, 200)
    for (const socket of sockets) socket.destroy()
    assert.isNull(server.process.exitCode)
    assert.isBelow((await mostMemory()) - before, 150_000, "24 MiB of requests were sent")
  })
})
