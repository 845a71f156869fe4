/**
 * A commit that waits for a synchronous replica is not canceled when its client goes away: it would be visible, so that the next
 * request is told that it was done, and lost with the primary.
 */
import { randomUUID } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeCall, readAgreement, signUp, type Tenant, xml } from "../e2e/support/client.ts"
import { secrets, type Server, startServer } from "../e2e/support/server.ts"
import { Cluster, embeddedPrograms } from "../support/cluster.ts"
import { sleep, until } from "./deployment.ts"

const control = "/v1/control-plane"

const invoice = (text: string) => ({
  method: "POST",
  path: "/v1/invoices",
  body: { invoice_xml: text },
  headers: { "idempotency-key": randomUUID() }
})

const writesOf = (owner: Tenant, other: Tenant) => {
  const ofOrganization = `${control}/organizations/${other.organizationId}`
  return [
    { ...invoice(xml), auth: owner.testKey },
    { ...invoice(`<Faktura>${"x".repeat(150_000)}</Faktura>`), auth: owner.testKey },
    { method: "DELETE", path: `${control}/api-keys/${owner.testKeyId}`, auth: owner.token },
    { method: "POST", path: `${control}/organizations`, auth: owner.token, body: { name: "Another" } },
    { method: "POST", path: `${control}/webhook-endpoints/${owner.endpointId}/rotate-secret`, auth: owner.token },
    { method: "DELETE", path: `${control}/webhook-endpoints/${other.endpointId}`, auth: other.token },
    { method: "POST", path: `${ofOrganization}/api-keys`, auth: other.token, body: { mode: "test" } },
    { method: "POST", path: `${control}/auth/refresh`, body: { refresh_token: owner.refreshToken } },
    { method: "POST", path: `${control}/auth/logout`, body: { refresh_token: other.refreshToken } }
  ]
}

describe("a commit that waits for a replica", () => {
  let cluster: Cluster
  let server: Server

  beforeAll(async () => {
    cluster = await Cluster.create(embeddedPrograms())
    server = await startServer({ DATABASE_URL: cluster.url, ...secrets, GOVOICE_ROLE: "api" })
  })
  afterAll(async () => {
    await server?.stop()
    await cluster?.remove()
  })

  it("is not canceled by a client that goes away, whatever it writes", async () => {
    const call = makeCall(() => server.url, await readAgreement(server.url))
    const writes = writesOf(await signUp(call), await signUp(call))
    await cluster.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    await cluster.query("SELECT pg_reload_conf()")
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    const clients = new AbortController()
    const answers = writes.map(
      ({
        auth,
        body,
        headers,
        method,
        path
      }: ReturnType<typeof writesOf>[number] & {
        readonly auth?: string
        readonly body?: unknown
        readonly headers?: Readonly<Record<string, string>>
      }) =>
        fetch(`${server.url}${path}`, {
          method,
          signal: clients.signal,
          headers: {
            ...(auth === undefined ? {} : { authorization: `Bearer ${auth}` }),
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...headers
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        }).then(
          ({ status }) => `${method} ${path}: ${status}`,
          () => "gone"
        )
    )
    await until("the commits", async () => (await cluster.query(waiting)).rowCount === writes.length, 50_000)
    clients.abort()
    assert.deepStrictEqual(new Set(await Promise.all(answers)), new Set(["gone"]))
    await sleep(1000)
    const left = await cluster.query(waiting)
    assert.deepStrictEqual([left.rowCount, cluster.log.match(/canceling wait.*/g)], [writes.length, null])
  })
})
