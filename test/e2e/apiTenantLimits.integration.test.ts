/** Limits of an account and of an organization: however many keys, connections and requests it uses, others are served. */
import { Agent, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { problemOf } from "./support/agreement.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant } from "./support/client.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"
import { trickle } from "./support/slow.ts"

const perSecond = 4
const burst = 40
const concurrency = 4

describe("limits of a tenant", () => {
  let database: TestDatabase
  let server: Server
  let call: Call
  let other: Tenant

  beforeAll(async () => {
    database = await openMigrated()
    server = await startServer({
      ...database.settings,
      GOVOICE_ROLE: "api",
      GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: String(perSecond),
      GOVOICE_RATE_LIMIT_PER_SECOND: "5",
      GOVOICE_RATE_LIMIT_BURST: "20"
    })
    const agreement = await readAgreement(server.url)
    call = makeCall(() => server.url, agreement)
    other = await signUp(call)
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  const organizations = (tenant: Tenant) => call("GET", "/v1/control-plane/organizations", { auth: tenant.token })

  it("an account is limited over all of its routes and sessions, and another account is not affected", async () => {
    const tenant = await signUp(call)
    const second = await call("POST", "/v1/control-plane/auth/login", {
      body: { email: tenant.email, password: "correct horse battery" }
    })
    const tokens = [tenant.token, (second.json as { readonly access_token: string }).access_token]
    const base = `/v1/control-plane/organizations/${tenant.organizationId}`
    const paths = [
      "/v1/control-plane/organizations",
      base,
      `${base}/api-keys`,
      `${base}/invoices?status=rejected`,
      `${base}/webhook-endpoints`,
      `/v1/control-plane/webhook-endpoints/${tenant.endpointId}/deliveries?status=pending`
    ]
    const startedAt = Date.now()
    const codes: Array<string | undefined> = []
    let refused
    // As many at once as the account has slots: one after the other, they are slower than the limit on a busy machine.
    for (let sent = 0; sent < 3 * burst; sent += concurrency) {
      const times = Array.from({ length: concurrency }, (_, n) => sent + n)
      const answers = await Promise.all(
        times.map((time) => call("GET", paths[time % paths.length]!, { auth: tokens[time % 2] }))
      )
      codes.push(...answers.map((answer) => (answer.status === 200 ? undefined : problemOf(answer).code)))
      refused = answers.findLast(({ status }) => status !== 200) ?? refused
    }
    const served = codes.filter((code) => code === undefined).length
    assert.isAtMost(served, burst + ((Date.now() - startedAt) / 1000) * perSecond + 1)
    assert.deepStrictEqual([...new Set(codes)], [undefined, "rate_limit_exceeded"])
    const retryAfter = Number(refused!.headers.get("retry-after"))
    assert.isAtLeast(retryAfter, 1)
    assert.strictEqual((await organizations(other)).status, 200)

    await sleep(retryAfter * 1000)
    assert.strictEqual((await organizations(tenant)).status, 200)
  })

  it("a loop that creates and revokes API keys is limited", async () => {
    const tenant = await signUp(call)
    const base = `/v1/control-plane/organizations/${tenant.organizationId}/api-keys`
    const startedAt = Date.now()
    let created = 0
    for (let time = 0; time < 2 * burst; time++) {
      const answer = await call("POST", base, { auth: tenant.token, body: { mode: "test" } })
      if (answer.status !== 201) continue
      created++
      const { id } = answer.json as { readonly id: string }
      await call("DELETE", `/v1/control-plane/api-keys/${id}`, { auth: tenant.token })
    }
    assert.isAtMost(created, burst + ((Date.now() - startedAt) / 1000) * perSecond + 1)
  })

  it("five pages that ask every two seconds are served", async () => {
    const tenant = await signUp(call)
    const pages = Array.from({ length: 5 }, async () => {
      for (let time = 0; time < 3; time++) {
        assert.strictEqual((await organizations(tenant)).status, 200)
        await sleep(2000)
      }
    })
    await Promise.all(pages)
  })

  it("requests in progress occupy the slots of their account alone, and another gets the slot of one that ends", async () => {
    const tenant = await signUp(call)
    // Bodies that arrive slowly keep their requests in progress.
    const head = [
      `PATCH /v1/control-plane/organizations/${tenant.organizationId} HTTP/1.1`,
      "Host: localhost",
      `Authorization: Bearer ${tenant.token}`,
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
      "\r\n"
    ].join("\r\n")
    const uploads = Array.from({ length: concurrency }, () =>
      trickle(server.port, { first: head, size: 1024, everyMs: 50 })
    )
    // On a busy machine, the uploads take a while to arrive.
    let waiting = organizations(tenant)
    while ((await Promise.race([waiting, sleep(1000)])) !== undefined) {
      await sleep(1000 / perSecond)
      waiting = organizations(tenant)
    }
    assert.strictEqual((await organizations(other)).status, 200)
    for (const upload of uploads) upload.stop()
    assert.strictEqual((await waiting).status, 200)
    assert.strictEqual((await organizations(tenant)).status, 200)
  })

  it("too many waiting requests of an account are refused at once", async () => {
    const tenant = await signUp(call)
    await sleep(1000)
    const agent = new Agent({ keepAlive: true, maxSockets: 200 })
    const get = () =>
      new Promise<number>((resolve, reject) =>
        request(
          `${server.url}/v1/control-plane/organizations`,
          { agent, headers: { authorization: `Bearer ${tenant.token}` } },
          (response) => response.resume().on("end", () => resolve(response.statusCode!))
        )
          .on("error", reject)
          .end()
      )
    const statuses = await Promise.all(Array.from({ length: 200 }, get))
    agent.destroy()
    assert.deepStrictEqual(
      [...new Set(statuses)].sort((a, b) => a - b),
      [200, 429]
    )
    assert.strictEqual((await organizations(other)).status, 200)
  })

  it("the keys of an organization share a limit, and another organization is not affected", async () => {
    const tenant = await signUp(call)
    const keys = [tenant.testKey, tenant.liveKey]
    for (let key = 0; key < 8; key++) {
      const { json } = await call("POST", `/v1/control-plane/organizations/${tenant.organizationId}/api-keys`, {
        auth: tenant.token,
        body: { mode: "test" }
      })
      keys.push((json as { readonly secret: string }).secret)
    }
    const startedAt = Date.now()
    // All at once: one ten after the other, they can be slower than the limit on a busy machine.
    const requests = Array.from({ length: 19 }, () => keys).flat()
    const answers = await Promise.all(requests.map((auth) => call("GET", "/v1/me", { auth })))
    const served = answers.filter(({ status }) => status === 200).length
    // Two keys alone would be served as often: each may send twenty at once, and five a second.
    assert.isAtMost(served, 2 * 20 + ((Date.now() - startedAt) / 1000) * 2 * 5 + 1)
    assert.isAtLeast(served, 2 * 20)
    const refused = answers.findLast(({ status }) => status !== 200)!
    assert.strictEqual(problemOf(refused).code, "rate_limit_exceeded")
    assert.isAtLeast(Number(refused.headers.get("retry-after")), 1)
    assert.match(refused.headers.get("ratelimit-policy") ?? "", /^"organization";q=40;w=4$/)
    assert.include(problemOf(refused).message, 'The limit "organization" is used up: 40 requests in 4 s.')
    assert.strictEqual((await submit(call, other.testKey)).status, 201)
  })

  it("requests that a key is refused do not count against the other keys of its organization", async () => {
    const tenant = await signUp(call)
    const { json } = await call("POST", `/v1/control-plane/organizations/${tenant.organizationId}/api-keys`, {
      auth: tenant.token,
      body: { mode: "test" }
    })
    for (let time = 0; time < 100; time++) await call("GET", "/v1/me", { auth: tenant.testKey })
    const answer = await call("GET", "/v1/me", { auth: (json as { readonly secret: string }).secret })
    assert.strictEqual(answer.status, 200)
  })
})
