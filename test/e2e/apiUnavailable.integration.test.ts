/** Postgres refuses the server's connections or writes: every way an operator can cause it is a 503, never a 500. */
import { readdirSync } from "node:fs"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { createMigrated } from "../support/databases.ts"
import { problemOf } from "./support/agreement.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant } from "./support/client.ts"
import { secrets, type Server, startServer } from "./support/server.ts"

const control = "/v1/control-plane"

const until = async (check: () => Promise<boolean>, milliseconds = 50_000): Promise<void> => {
  const deadline = Date.now() + milliseconds
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error("Timed out")
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe("a database that refuses connections or writes", () => {
  let database: Awaited<ReturnType<typeof createMigrated>>
  let administrator: Pool
  let name: string
  let server: Server
  let call: Call
  let tenant: Tenant

  beforeAll(async () => {
    database = await createMigrated()
    administrator = new Pool({ connectionString: inject("databaseUrl"), max: 1 })
    name = new URL(database.url).pathname.slice(1)
    server = await startServer({ DATABASE_URL: database.url, ...secrets })
    call = makeCall(() => server.url, await readAgreement(server.url))
    tenant = await signUp(call)
  })

  afterAll(async () => {
    await server?.stop()
    await database?.drop()
    await administrator?.end()
  })

  const disconnectAll = () =>
    administrator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)

  const isReady = async () => (await call("GET", "/readyz")).status === 200

  const assertRecovers = async () => {
    await until(isReady)
    await until(async () => (await submit(call, tenant.testKey)).status === 201)
  }

  it.each([
    [
      "55000: it accepts no connections",
      () => `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
      () => `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`
    ],
    [
      "3D000: it does not exist",
      () => `ALTER DATABASE ${name} RENAME TO ${name}_away`,
      () => `ALTER DATABASE ${name}_away RENAME TO ${name}`
    ]
  ])("answers service_unavailable and recovers: %s", async (_, refuse, accept) => {
    // A database with connections cannot be renamed, and the server keeps opening new ones.
    await until(async () => {
      await disconnectAll()
      return administrator.query(refuse()).then(
        () => true,
        () => false
      )
    })
    await disconnectAll()
    await until(async () => !(await isReady()))
    for (let attempt = 0; attempt < 5; attempt++) {
      for (const answer of [
        await submit(call, tenant.testKey),
        await call("GET", `${control}/account`, { auth: tenant.token }),
        await call("GET", "/readyz")
      ]) {
        assert.strictEqual(problemOf(answer).code, "service_unavailable", answer.text)
      }
    }
    await administrator.query(accept())
    await assertRecovers()
  })

  it("answers writes with service_unavailable, serves reads, and reports the read-only database in /readyz", async () => {
    await administrator.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    await disconnectAll()
    await until(async () => !(await isReady()))
    const ready = problemOf(await call("GET", "/readyz"))
    assert.strictEqual(ready.code, "service_unavailable")
    assert.strictEqual(ready.message, "The database is read-only.")
    assert.strictEqual(problemOf(await submit(call, tenant.testKey)).code, "service_unavailable")
    assert.strictEqual((await call("GET", `${control}/account`, { auth: tenant.token })).status, 200)

    await administrator.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`)
    await disconnectAll()
    await assertRecovers()
  })
})

describe("a server of live mode", () => {
  let database: Awaited<ReturnType<typeof createMigrated>>
  let server: Server

  beforeAll(async () => {
    database = await createMigrated()
    const live = { GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: "http://127.0.0.1:9/v2" }
    server = await startServer({ DATABASE_URL: database.url, ...secrets, ...live })
  })

  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  it("is not ready once another deployment uses its database for another environment", async () => {
    const call = makeCall(() => server.url, await readAgreement(server.url))
    assert.strictEqual((await call("GET", "/readyz")).status, 200)
    const pool = new Pool({ connectionString: database.url, max: 1 })
    await pool.query("UPDATE national_environment SET environment = 'prod'")
    await pool.end()
    await until(async () => (await call("GET", "/readyz")).status === 503)
    assert.include(problemOf(await call("GET", "/readyz")).message, "of the KSeF environment prod by now")
  })

  // Half of the sixteen threads of libuv look names up.
  it.skipIf(process.platform !== "linux")("has a thread for each name that it asks for", () => {
    assert.isAbove(readdirSync(`/proc/${server.process.pid}/task`).length, 16)
  })
})
