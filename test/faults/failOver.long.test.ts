/** The primary is killed under load and its streaming replica promoted, with synchronous and asynchronous replication. */
import { afterEach, assert, describe, it } from "vitest"
import { startProxy } from "../e2e/support/proxy.ts"
import { Cluster, embeddedPrograms } from "../support/cluster.ts"
import { startStandby } from "../support/standby.ts"
import { Deployment, leaseMs, maxAttempts, sleep, until } from "./deployment.ts"
import * as Invariants from "./invariants.ts"
import { startLoad } from "./load.ts"
import { startReceiver } from "./receiver.ts"

describe("a fail-over", () => {
  const cleanUps: Array<() => Promise<void>> = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  })

  // An API process and two workers on the address of the primary, and a deployment object whose queries go to the standby.
  const setUp = async () => {
    const primary = await Cluster.create(embeddedPrograms(), { wal_keep_size: "512MB" })
    cleanUps.push(() => primary.remove())
    const stream = await startProxy(primary.url)
    cleanUps.push(() => Promise.resolve(stream.close()))
    const standby = await startStandby(primary, new URL(stream.url).port)
    cleanUps.push(() => standby.remove())
    await until(
      "the replica",
      async () => (await primary.query("SELECT 1 FROM pg_stat_replication")).rowCount === 1,
      20_000
    )
    const address = await startProxy(primary.url)
    cleanUps.push(() => Promise.resolve(address.close()))
    const receiver = await startReceiver()
    cleanUps.push(() => receiver.close())
    const deployment = new Deployment(standby.url)
    cleanUps.push(() => deployment.close())

    const settings = { DATABASE_URL: address.url }
    await deployment.startApi(settings)
    await Promise.all([deployment.startWorker(settings), deployment.startWorker(settings)])
    const { endpoints, key } = await deployment.organization([receiver.url("/ok?1"), receiver.url("/flaky?2")])
    for (const [index, path] of ["/ok?1", "/flaky?2"].entries()) receiver.learn(path, endpoints[index]!.secret)

    const failOver = async () => {
      await primary.end("SIGKILL")
      stream.cut()
      await standby.query("SELECT pg_promote()")
      address.leadTo(standby.url)
    }
    return { deployment, failOver, key, primary, receiver, stream }
  }

  const missing = async (deployment: Deployment, ids: ReadonlyArray<string>) => {
    const { rows } = await deployment.pool.query<{ id: string }>("SELECT id FROM invoices WHERE id = ANY($1)", [ids])
    const found = new Set(rows.map(({ id }) => id))
    return ids.filter((id) => !found.has(id))
  }

  it("loses nothing that was acknowledged with synchronous replication", async () => {
    const { deployment, failOver, key, primary, receiver, stream } = await setUp()
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    await primary.query("SELECT pg_reload_conf()")
    await until(
      "synchronous replication",
      async () => (await primary.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).rowCount === 1,
      20_000
    )
    const load = startLoad(deployment, [key], 80)
    const reached = (count: number) =>
      until(`${count} submissions`, () => Promise.resolve(load.submitted() >= count), 60_000)
    await reached(150)
    // Without an acknowledgement of the replica, the primary acknowledges nothing.
    stream.hold()
    await sleep(500)
    await failOver()
    const acknowledged = load.submitted()
    await reached(acknowledged + 100)
    const accepted = await load.stop()
    await deployment.finished(leaseMs * 3 + 30_000)

    assert.deepStrictEqual(await missing(deployment, load.ids), [])
    assert.strictEqual(await deployment.count("invoices"), accepted)
    assert.strictEqual(await deployment.count("deliveries WHERE status <> 'succeeded'"), 0)
    assert.deepStrictEqual(receiver.faults, [])
    await Invariants.check(deployment.pool, { maxAttempts })
    // Every event that a receiver has exists: none was sent by a transaction that was lost.
    const { rows } = await deployment.pool.query<{ id: string }>("SELECT id FROM events")
    const events = new Set(rows.map(({ id }) => id))
    assert.isEmpty(receiver.receipts.filter(({ eventId }) => !events.has(eventId)))
  })

  it("loses what the replica had not received with asynchronous replication, and continues", async () => {
    const { deployment, failOver, key, receiver, stream } = await setUp()
    const before = await deployment.submit(key, "accepted")
    await until("its replication", async () => (await missing(deployment, [before])).length === 0, 20_000)
    // WAL no longer arrives, as over a network that hangs.
    stream.hold()
    const lost = [await deployment.submit(key, "accepted"), await deployment.submit(key, "rejected")]
    await until(
      "their webhooks",
      () => Promise.resolve(receiver.receipts.filter(({ path }) => path === "/ok?1").length >= 4 + 4 + 3),
      30_000
    )
    await failOver()

    const after = await deployment.submit(key, "accepted")
    await deployment.finished(leaseMs * 3 + 30_000)
    assert.deepStrictEqual(await missing(deployment, [before, ...lost, after]), lost)
    assert.deepStrictEqual(receiver.faults, [])
    await Invariants.check(deployment.pool, { maxAttempts })
  })
})
