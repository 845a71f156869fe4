/**
 * The connections to the database go silent: nothing arrives any more, and nothing is closed. New connections reach a healthy
 * database again, as after a fail-over or when a firewall has forgotten its connections.
 */
import { afterEach, assert, describe, it } from "vitest"
import { startProxy } from "../e2e/support/proxy.ts"
import { startPostgres } from "../support/postgres.ts"
import { ask, failedAfter, servedAfter } from "./ask.ts"
import { Deployment, sleep, until } from "./deployment.ts"
import { startReceiver } from "./receiver.ts"

const withinMs = 15_000

describe("a database that goes silent", () => {
  const cleanUps: Array<() => Promise<void>> = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  })

  const setUp = async () => {
    const postgres = await startPostgres()
    cleanUps.push(() => postgres.remove())
    const proxy = await startProxy(postgres.url)
    cleanUps.push(() => Promise.resolve(proxy.close()))
    const receiver = await startReceiver()
    cleanUps.push(() => receiver.close())
    // The lease is longer than the deadline of a statement, so that a completion can be written again.
    const deployment = new Deployment(postgres.url, {
      GOVOICE_LEASE_MS: "30000",
      GOVOICE_WEBHOOK_TIMEOUT_MS: "2000",
      GOVOICE_CONNECTIONS_PER_ADDRESS: "10000"
    })
    cleanUps.push(() => deployment.close())
    await deployment.startApi({ DATABASE_URL: proxy.url })
    await deployment.startWorker({ DATABASE_URL: proxy.url })
    const organization = async (path: string) => {
      const made = await deployment.organization([receiver.url(path)])
      receiver.learn(path, made.endpoints[0]!.secret)
      return made
    }
    return { deployment, organization, proxy, receiver }
  }

  // In the second, statements wait when it is over. In the third, the look-up of a key waits, and connections are left.
  it.each([
    { silentMs: 20_000, tenants: 6, everyMs: 200 },
    { silentMs: 1000, tenants: 6, everyMs: 200 },
    { silentMs: 7000, tenants: 1, everyMs: 1000 }
  ])("serves every key, session and worker within 15 s: %o", async ({ everyMs, silentMs, tenants }) => {
    const { deployment, organization, proxy } = await setUp()
    const organizations = await Promise.all(Array.from({ length: tenants }, (_, index) => organization(`/ok?${index}`)))
    // All connections of the pool are open, and most are idle when it begins.
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        deployment.call("GET", "/v1/invoices", { token: organizations[index % organizations.length]!.key })
      )
    )
    const asking = organizations.flatMap(({ id, key, token }) => [
      ask(deployment, "/v1/invoices", key, everyMs),
      ask(deployment, `/v1/control-plane/organizations/${id}`, token, everyMs)
    ])
    await sleep(7000)

    proxy.hold()
    const silentAt = Date.now()
    await until("an unready process", async () => (await deployment.call("GET", "/readyz")).status === 503, 10_000)
    await sleep(Math.max(0, silentMs - (Date.now() - silentAt)))
    proxy.pass()
    const healthyAt = Date.now()
    const submitted = Promise.all(organizations.map(({ key }) => deployment.submit(key, "accepted")))

    await sleep(withinMs)
    await until("a ready process", async () => (await deployment.call("GET", "/readyz")).status === 200, 5000)
    await sleep(2000)
    await Promise.all(asking.map(({ stop }) => stop()))
    for (const { answers } of asking) {
      assert.isBelow(servedAfter(answers, healthyAt), withinMs)
      assert.deepStrictEqual(failedAfter(answers, healthyAt + withinMs), [])
    }
    await submitted
    const { rows } = await deployment.pool.query<{ ms: string }>(
      "SELECT extract(epoch FROM min(delivered_at)) * 1000 AS ms FROM deliveries WHERE delivered_at > to_timestamp($1)",
      [healthyAt / 1000]
    )
    assert.isBelow(Number(rows[0]!.ms) - healthyAt, withinMs)
  })

  it("frees within 15 s what silent transactions have locked", async () => {
    const { deployment, organization, proxy } = await setUp()
    const organizations = await Promise.all(Array.from({ length: 6 }, (_, index) => organization(`/ok?${index}`)))
    // Each creation of a key locks its organization over several statements.
    const writes = (id: string, token: string) => {
      const succeeded: Array<number> = []
      const stopping = new AbortController()
      const running = (async () => {
        while (!stopping.signal.aborted) {
          const beganAt = Date.now()
          const path = `/v1/control-plane/organizations/${id}/api-keys`
          const { body, status } = await deployment.call<{ id: string }>("POST", path, {
            token,
            body: { mode: "test" }
          })
          if (status === 201) {
            succeeded.push(beganAt)
            await deployment.call("DELETE", `/v1/control-plane/api-keys/${body.id}`, { token })
          }
        }
      })()
      return {
        succeeded,
        stop: () => {
          stopping.abort()
          return running
        }
      }
    }
    const writing = organizations.map(({ id, token }) => writes(id, token))
    const locked = () =>
      deployment.count("pg_stat_activity WHERE application_name = 'govoice' AND state = 'idle in transaction'")
    await until(
      "a transaction that is silent while it holds a lock",
      async () => {
        proxy.hold()
        await sleep(300)
        if ((await locked()) > 0) return true
        proxy.pass()
        await sleep(15_000)
        return false
      },
      120_000
    )
    proxy.pass()
    const healthyAt = Date.now()
    await sleep(withinMs)
    await Promise.all(writing.map(({ stop }) => stop()))
    const firsts = writing.map(({ succeeded }) => succeeded.find((beganAt) => beganAt > healthyAt) ?? Infinity)
    assert.isBelow(Math.max(...firsts) - healthyAt, withinMs)
  })

  it("writes the completions that were in flight over a new connection, and repeats no webhook", async () => {
    const { deployment, organization, proxy, receiver } = await setUp()
    const { key } = await organization("/slow?1")
    for (let n = 0; n < 60; n++) await deployment.submit(key, "accepted")
    await until("deliveries in flight", () => Promise.resolve(receiver.receipts.length >= 20), 30_000)
    proxy.hold()
    await sleep(1000)
    proxy.pass()
    await deployment.finished(90_000)
    const ids = receiver.receipts.map(({ eventId }) => eventId)
    assert.lengthOf(new Set(ids), await deployment.count("events"))
    assert.lengthOf(ids, new Set(ids).size)
    assert.deepStrictEqual(receiver.faults, [])
  })
})
