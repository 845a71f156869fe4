/** Backups are made under load with the commands of the guide, restored, and put into service. */
import { join } from "node:path"
import { afterEach, assert, describe, it } from "vitest"
import { Cluster, installedPrograms, named } from "../support/cluster.ts"
import { commandsOf } from "../support/guideCommands.ts"
import { Deployment, leaseMs, maxAttempts, until } from "./deployment.ts"
import * as Invariants from "./invariants.ts"
import { startLoad } from "./load.ts"
import { type Receiver, startReceiver } from "./receiver.ts"

const paths = ["/ok?1", "/flaky?2"]

describe.skipIf(installedPrograms === undefined)(named("a backup"), () => {
  const cleanUps: Array<() => Promise<void>> = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  })

  const makeCluster = async (settings: Readonly<Record<string, string>> = {}): Promise<Cluster> => {
    const cluster = await Cluster.create(installedPrograms!, settings)
    cleanUps.push(() => cluster.remove())
    return cluster
  }

  const serve = async (deployment: Deployment, url: string) => {
    const settings = { DATABASE_URL: url }
    await deployment.startApi(settings)
    await Promise.all([deployment.startWorker(settings), deployment.startWorker(settings)])
  }

  /** A deployment under load. */
  const setUp = async (cluster: Cluster) => {
    const receiver = await startReceiver()
    cleanUps.push(() => receiver.close())
    const deployment = new Deployment(cluster.url)
    cleanUps.push(() => deployment.close())
    await serve(deployment, cluster.url)
    const { endpoints, key } = await deployment.organization(paths.map(receiver.url))
    for (const [index, path] of paths.entries()) receiver.learn(path, endpoints[index]!.secret)
    const load = startLoad(deployment, [key], 60)
    const reached = (count: number) =>
      until(`${count} submissions`, () => Promise.resolve(load.submitted() >= count), 60_000)
    await reached(100)
    return { deployment, key, load, reached, receiver }
  }

  /** Serves the restored database until all work is complete. No delivery that had succeeded in it is sent again. */
  const goOn = async (restored: Cluster, deployment: Deployment, receiver: Receiver, key: string) => {
    const { rows: succeeded } = await restored.query(`
      SELECT event_id, url FROM deliveries JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
      WHERE status = 'succeeded'
    `)
    assert.isAbove(succeeded.length, 0)
    const before = receiver.receipts.length
    const next = deployment.on(restored.url)
    cleanUps.push(() => next.close())
    await serve(next, restored.url)
    await next.submit(key, "accepted")
    await next.finished(leaseMs * 3 + 30_000)

    assert.deepStrictEqual(receiver.faults, [])
    await Invariants.check(next.pool, { maxAttempts })
    assert.strictEqual(await next.count("deliveries WHERE status <> 'succeeded'"), 0)
    const done = new Set(succeeded.map(({ event_id, url }) => `${event_id} ${url}`))
    const after = receiver.receipts.slice(before)
    assert.isAbove(after.length, 0)
    assert.isEmpty(after.filter(({ eventId, path }) => done.has(`${eventId} ${receiver.url(path)}`)))
    return next
  }

  it("a backup by pg_dump and pg_restore has the state at its beginning", async () => {
    const original = await makeCluster()
    const { deployment, key, load, reached, receiver } = await setUp(original)
    const folder = join(original.directory, "..")
    const dumped = load.ids.slice()
    await original.shell(commandsOf("operating.md", "dump"), { DATABASE_URL: original.url })
    await reached(load.submitted() + 20)
    await load.stop()
    await Promise.all(deployment.processes.map((one) => one.kill()))
    await original.end("SIGKILL")

    const restored = await makeCluster()
    await restored.shell(`cd ${folder}\n${commandsOf("operating.md", "restore-dump")}`, { DATABASE_URL: restored.url })
    const next = await goOn(restored, deployment, receiver, key)
    const { rows } = await next.pool.query<{ id: string }>("SELECT id FROM invoices")
    assert.includeMembers(
      rows.map(({ id }) => id),
      dumped
    )
  })

  it("a backup by pg_basebackup with archived WAL has every accepted invoice", async () => {
    const archive = await makeCluster()
    await archive.end("SIGINT")
    const original = await makeCluster({
      archive_mode: "on",
      archive_command: `test ! -f "${archive.directory}/%f" && cp "%p" "${archive.directory}/%f"`
    })
    const { deployment, key, load, reached, receiver } = await setUp(original)
    const base = join(original.directory, "..")
    await original.shell(commandsOf("operating.md", "base"), { DATABASE_URL: original.url })
    await reached(load.submitted() + 50)
    const accepted = await load.stop()
    await Promise.all(deployment.processes.map((one) => one.kill()))
    // The last segment is archived when it is full, or after archive_timeout.
    await original.query("SELECT pg_switch_wal()")
    const archived =
      "SELECT 1 FROM pg_stat_archiver WHERE last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1)"
    await until("the archive", async () => (await original.query(archived)).rowCount === 1, 30_000)
    await original.end("SIGKILL")

    const restored = new Cluster(installedPrograms!)
    cleanUps.push(() => restored.remove())
    const environment = { PGDATA: restored.directory, WAL_ARCHIVE: archive.directory }
    await restored.shell(`cd ${base}\n${commandsOf("operating.md", "restore-base")}`, environment)
    await restored.start()
    await until(
      "the end of recovery",
      async () => {
        return (await restored.query("SELECT 1 WHERE NOT pg_is_in_recovery()")).rowCount === 1
      },
      30_000
    )
    const { rows } = await restored.query("SELECT id FROM invoices")
    assert.sameMembers(
      rows.map(({ id }) => String(id)),
      [...load.ids]
    )
    assert.lengthOf(rows, accepted)
    await goOn(restored, deployment, receiver, key)
  })
})
