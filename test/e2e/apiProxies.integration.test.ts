/** Behind a trusted proxy, limits belong to the client that the proxy reports. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { problemOf } from "./support/agreement.ts"
import { type Call, makeCall, password, readAgreement, signUp, type Tenant } from "./support/client.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"

const control = "/v1/control-plane"

describe("the API behind a trusted proxy", () => {
  let database: TestDatabase
  let server: Server
  let call: Call
  let owner: Tenant

  beforeAll(async () => {
    database = await openMigrated()
    server = await startServer({
      ...database.settings,
      // The last one is so large that it contains clients.
      GOVOICE_TRUSTED_PROXIES: "127.0.0.0/8, 10.0.0.0/8, 64.0.0.0/7"
    })
    call = makeCall(() => server.url, await readAgreement(server.url))
    owner = await signUp(call)
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  const refresh = (list: string) =>
    call("POST", `${control}/auth/refresh`, {
      body: { refresh_token: "of nobody" },
      headers: { "x-forwarded-for": list }
    })
  const login = (list: string) =>
    call("POST", `${control}/auth/login`, {
      body: { email: owner.email, password },
      headers: { "x-forwarded-for": list }
    })

  it("warns at the start about a network that is so large that it contains clients, and about no other", () => {
    const warnings = server
      .output()
      .split("\n")
      .filter((line) => line.includes("GOVOICE_TRUSTED_PROXIES"))
    assert.lengthOf(warnings, 1, server.output())
    assert.include(warnings[0], '"level":"WARN"')
    assert.include(warnings[0], "GOVOICE_TRUSTED_PROXIES contains 64.0.0.0/7: clients there choose the address")
  })

  it("limits the address that the proxy reports and ignores addresses that the client adds", async () => {
    for (let time = 0; time < 100; time++) {
      assert.strictEqual((await refresh(`192.0.2.${time}, 198.51.100.1, 10.0.0.7`)).status, 401)
    }
    const refused = await refresh("198.51.100.1")
    assert.strictEqual(problemOf(refused).code, "rate_limit_exceeded")
    assert.isAtMost(Number(refused.headers.get("retry-after")), 60)
  })

  it("lets one client log in while another client behind the same proxy is limited", async () => {
    for (let time = 0; time < 100; time++) {
      await call("POST", `${control}/auth/login`, {
        body: { email: `nobody-${time}@example.com`, password: "x" },
        headers: { "x-forwarded-for": "198.51.100.2" }
      })
    }
    assert.strictEqual((await login("198.51.100.2")).status, 429)
    assert.strictEqual((await login("203.0.113.9")).status, 200)
  })
})
