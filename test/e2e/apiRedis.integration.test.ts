/** Rate limits that processes share in Redis, and their behavior while Redis is unavailable. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeCall, readAgreement, signUp, type Tenant } from "./support/client.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"
import { patienceMs } from "../support/patienceMs.ts"

const hasRedis = spawnSync("redis-server", ["--version"]).error === undefined
if (!hasRedis) console.warn("SKIPPED: shared rate limits need redis-server, which this machine lacks")

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  return typeof address === "object" && address !== null ? address.port : 0
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false))
    setTimeout(() => socket.destroy(), 100)
  })

describe.skipIf(!hasRedis)("rate limits in a Redis", () => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-redis-"))
  let port: number
  let redis: ChildProcess
  let database: TestDatabase
  let settings: Record<string, string>
  let servers: ReadonlyArray<Server> = []
  let tenant: Tenant

  const startRedis = async () => {
    redis = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder])
    for (let time = 0; time < 1000 && !(await answers(port)); time++) await new Promise((done) => setTimeout(done, 50))
  }
  const stopRedis = async () => {
    redis.kill("SIGKILL")
    if (redis.exitCode === null && redis.signalCode === null) await once(redis, "exit")
  }
  const ask = (server: Server | undefined, auth: string) =>
    fetch(`${server!.url}/v1/me`, { headers: { authorization: `Bearer ${auth}` } })

  const warnings = (server: Server | undefined) =>
    server!
      .output()
      .split("\n")
      .filter((line) => /"level":"(?:WARN|ERROR)"/.test(line))

  beforeAll(async () => {
    port = await freePort()
    await startRedis()
    database = await openMigrated()
    settings = {
      ...database.settings,
      GOVOICE_ROLE: "api",
      REDIS_URL: `redis://127.0.0.1:${port}`,
      GOVOICE_RATE_LIMIT_PER_SECOND: "1",
      GOVOICE_RATE_LIMIT_BURST: "6"
    }
    const first = await startServer(settings)
    servers = [first, await startServer(settings)]
    tenant = await signUp(makeCall(() => first.url, await readAgreement(first.url)))
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    await database?.drop()
    await stopRedis()
    rmSync(folder, { recursive: true, force: true })
  })

  it("count the requests of a key over all processes", async () => {
    const statuses: Array<number> = []
    for (let time = 0; time < 6; time++) statuses.push((await ask(servers[time % 2], tenant.testKey)).status)
    assert.deepStrictEqual(statuses, Array<number>(6).fill(200))
    const more = await Promise.all(Array.from({ length: 20 }, (_, time) => ask(servers[time % 2], tenant.testKey)))
    statuses.push(...more.map(({ status }) => status))
    assert.include(statuses.slice(6), 429)
  })

  it("count the calls of an address over all processes", async () => {
    const refresh = async (server: Server | undefined) => {
      const response = await fetch(`${server!.url}/v1/control-plane/auth/refresh`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ refresh_token: "of nobody" })
      })
      await response.arrayBuffer()
      return response
    }
    // A process counts alone for a second when Redis has not answered within 250 ms. Two that always do allow 200.
    let allowed = 0
    while (allowed < 190 && (await refresh(servers[allowed % 2])).status === 401) allowed++
    assert.isAtLeast(allowed, 100)
    assert.isBelow(allowed, 190)
    for (const server of servers) {
      const refused = await refresh(server)
      assert.strictEqual(refused.status, 429)
      assert.isAtMost(Number(refused.headers.get("retry-after")), 60)
    }
  })

  it("are counted by each process alone while Redis hangs or is down, with throttled log lines", async () => {
    redis.kill("SIGSTOP")
    const begun = Date.now()
    for (let time = 0; time < 4; time++) assert.strictEqual((await ask(servers[0], tenant.liveKey)).status, 200)
    assert.isBelow(Date.now() - begun, 15_000)
    await stopRedis()
    for (const server of servers) {
      const statuses = await Promise.all(
        Array.from({ length: 40 }, async () => (await ask(server, tenant.testKey)).status)
      )
      assert.isAtLeast(statuses.filter((status) => status === 200).length, 6)
      assert.include(statuses, 429)
    }
    assert.lengthOf(warnings(servers[0]), 1)
    assert.include(warnings(servers[0])[0], "Redis unavailable")
  })

  it("count again after Redis recovers, and log the recovery", async () => {
    await startRedis()
    const deadline = Date.now() + patienceMs
    while (!servers[0]!.output().includes("Redis available again") && Date.now() < deadline) {
      await ask(servers[0], tenant.testKey)
      await new Promise((done) => setTimeout(done, 100))
    }
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => (await ask(servers[0], tenant.testKey)).status)
    )
    assert.include(statuses, 429)
    assert.lengthOf(servers[0]!.output().match(/Redis available again/g) ?? [], 1)
    assert.isAtMost(warnings(servers[0]).length, 3)
  })

  it("start without it, with a line that has the reason and no secret", async () => {
    const server = await startServer({ ...settings, REDIS_URL: "redis://:hidden-password@127.0.0.1:1" })
    servers = [...servers, server]
    assert.lengthOf(warnings(server), 1)
    assert.include(warnings(server)[0], "ECONNREFUSED")
    assert.notInclude(server.output(), "hidden-password")
    assert.strictEqual((await ask(server, tenant.testKey)).status, 200)
  })
})
