/** A tenant that sends requests as fast as they are answered, over many connections, beside another one that submits. */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createMigrated } from "../support/databases.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant, xml } from "./support/client.ts"
import { type Flood, type FloodOptions, type FloodRequest, startFlood, type Statuses } from "./support/flood.ts"
import { secrets, type Server, startServer } from "./support/server.ts"
import { latencies, percentile } from "./support/slow.ts"

const control = "/v1/control-plane"
const rows = 300_000
const accounts = 12

// The defaults of the settings.
const account = { perSecond: 20, burst: 200, concurrency: 4 }
const organization = { perSecond: 200, burst: 400 }

// Eight deliveries in ten are due, and most of them are retries: a page of pending ones has to look for them.
const storeDeliveries = ({ endpointId, organizationId }: Tenant, rows: number): string => `
  DO $$ BEGIN
    SET LOCAL session_replication_role = replica;
    SET LOCAL synchronous_commit = off;
    INSERT INTO deliveries
      (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, is_due, status,
       next_retry_at, delivered_at, failure_status)
    SELECT 'wd_0' || lpad(n::text, 25, '0'), '${organizationId}', '${endpointId}', 'evt_0' || lpad(n::text, 25, '0'),
           CASE n % 3 WHEN 0 THEN 'invoice.received' WHEN 1 THEN 'invoice.accepted' ELSE 'invoice.failed' END,
           to_timestamp(n), to_timestamp(n), CASE WHEN is_due THEN to_timestamp(n) END, is_due, status,
           CASE status WHEN 'retrying' THEN to_timestamp(n) END, CASE status WHEN 'succeeded' THEN now() END,
           CASE WHEN status IN ('retrying', 'failed') THEN status END
    FROM (
      SELECT n, n % 10 < 8 AS is_due,
             CASE WHEN n % 10 < 6 THEN 'retrying' WHEN n % 10 < 8 THEN 'pending'
                  WHEN n % 10 = 8 THEN 'succeeded' ELSE 'failed' END AS status
      FROM generate_series(1, ${rows}) AS n
    ) AS one;
  END $$`

// No delivery has the event type, so that a page examines as many as it may.
const filters = [
  "status=pending",
  "status=pending&event_type=invoice.upo_available",
  "status=delivering",
  "status=succeeded&event_type=invoice.upo_available",
  "status=retrying&event_type=invoice.upo_available",
  "event_type=invoice.upo_available",
  "status=failed&limit=100"
]

const countStatements = `
  SELECT count(*)::int AS statements FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND state = 'active'
    AND pid <> pg_backend_pid() AND query LIKE '%FROM deliveries%'`

const listsOf = ({ endpointId, organizationId, token }: Tenant): ReadonlyArray<FloodRequest> =>
  filters.flatMap((filter) =>
    [`webhook-endpoints/${endpointId}`, `organizations/${organizationId}`].map((owner) => ({
      method: "GET",
      path: `${control}/${owner}/deliveries?${filter}`,
      auth: token
    }))
  )

describe("a tenant beside another one", () => {
  let database: Awaited<ReturnType<typeof createMigrated>>
  let server: Server
  let call: Call
  let victim: Tenant
  let stranger: Tenant
  let others: ReadonlyArray<Tenant> = []
  let keys: Array<string> = []
  let flood: Flood | undefined

  beforeAll(async () => {
    database = await createMigrated()
    server = await startServer({ DATABASE_URL: database.url, ...secrets, GOVOICE_ROLE: "api" })
    call = makeCall(() => server.url, await readAgreement(server.url))
    victim = await signUp(call)
    stranger = await signUp(call)
    keys = [stranger.testKey]
    while (keys.length < 47) {
      const { json } = await call("POST", `${control}/organizations/${stranger.organizationId}/api-keys`, {
        auth: stranger.token,
        body: { mode: "test" }
      })
      keys.push((json as { readonly secret: string }).secret)
    }
    others = await Promise.all(Array.from({ length: accounts - 1 }, () => signUp(call)))
    await database.run(storeDeliveries(stranger, rows))
    for (const other of others) await database.run(storeDeliveries(other, rows / accounts))
    await database.run("VACUUM ANALYZE deliveries")
  })
  afterAll(async () => {
    await flood?.stop()
    await server?.stop()
    await database?.drop()
  })

  const submitOne = async () => {
    assert.strictEqual((await submit(call, victim.testKey)).status, 201)
  }
  // The pause keeps the victim below its own rate limit.
  const submitFor = (milliseconds: number) => latencies(milliseconds, submitOne, 10)

  /** Measures the victim before and during a flood. Its latencies may grow eightfold, or to ten times those of a busy machine. */
  const attack = async (options: Omit<FloodOptions, "port">) => {
    const calm = await submitFor(2000)
    const beganMs = performance.now()
    flood = startFlood({ port: server.port, ...options })
    const statements: Array<number> = []
    const sampling = new AbortController()
    const sample = async () => {
      while (!sampling.signal.aborted) {
        const [row] = (await database.run(countStatements)) as ReadonlyArray<{ readonly statements: number }>
        statements.push(row!.statements)
        await sleep(100)
      }
    }
    const sampled = sample()
    await sleep(500)
    const attacked = await submitFor(6000)
    sampling.abort()
    await sampled
    const statuses: Statuses = await flood.stop()
    flood = undefined
    const seconds = (performance.now() - beganMs) / 1000
    const figures = [0.5, 0.99].map((share) => [calm, attacked].map((one) => percentile(one, share)))
    console.log(JSON.stringify({ connections: options.connections, isPolite: options.isPolite, figures, statuses }))
    for (const [index, least] of [2000, 7000].entries()) {
      const [before = Number.NaN, during = Number.NaN] = figures[index]!
      assert.isBelow(during, Math.max(least, 8 * before), `${before} ms before`)
    }
    return { seconds, statements, statuses }
  }

  it.each([
    ["waits when it is asked to", true],
    ["does not wait", false]
  ])(
    "that lists 300,000 deliveries over 40 connections and %s is served by the limits of its account",
    async (_, isPolite) => {
      const requests = listsOf(stranger)
      const { seconds, statements, statuses } = await attack({ connections: 40, isPolite, requests })
      assert.includeMembers(["200", "429"], Object.keys(statuses))
      assert.isAtMost(statuses[200]!, account.burst + account.perSecond * seconds + 1)
      assert.isAtMost(Math.max(...statements), account.concurrency)
    },
    240_000
  )

  it("that lists deliveries with 12 accounts leaves it its latency", async () => {
    const requests = Array.from(filters, (_, filter) =>
      [stranger, ...others].flatMap((one) => listsOf(one)[2 * filter]!)
    )
    const { statuses } = await attack({ connections: 4 * accounts, isPolite: false, requests: requests.flat() })
    assert.includeMembers(["200", "429"], Object.keys(statuses))
  })

  it.each([
    ["waits when it is asked to", true],
    ["does not wait", false]
  ])(
    "that submits with 47 keys and %s is served by the limits of its organization",
    async (_, isPolite) => {
      const body = JSON.stringify({ invoice_xml: xml })
      const requests = keys.map((auth) => ({ method: "POST", path: "/v1/invoices", auth, body }))
      const { seconds, statuses } = await attack({ connections: 47, isPolite, requests })
      assert.includeMembers(["201", "429"], Object.keys(statuses))
      assert.isAtMost(statuses[201]!, organization.burst + organization.perSecond * seconds + 1)
    },
    240_000
  )
})
