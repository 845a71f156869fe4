/** The disk that the tables of the database are on gets full. */
import { spawnSync } from "node:child_process"
import { chownSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterEach, assert, describe, it } from "vitest"
import { Cluster, embeddedPrograms } from "../support/cluster.ts"
import { Deployment, sleep, until } from "./deployment.ts"
import { check } from "./invariants.ts"
import { startReceiver } from "./receiver.ts"

const mount = (folder: string, megabytes: number): boolean =>
  spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "tmpfs", folder]).status === 0

const canMount = mount("/mnt", 1) && spawnSync("umount", ["/mnt"]).status === 0
const name = canMount ? "a full disk" : "a full disk (skipped: mounting a small file system needs root)"

describe.skipIf(!canMount)(name, () => {
  const cleanUps: Array<() => Promise<unknown>> = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  })

  const setUp = async () => {
    const cluster = await Cluster.create(embeddedPrograms(), { autovacuum: "off" })
    cleanUps.push(() => cluster.remove())
    const { gid, uid } = statSync(cluster.directory)
    const small = join(dirname(cluster.directory), "small")
    mkdirSync(small)
    assert.isTrue(mount(small, 60))
    cleanUps.push(() => Promise.resolve(spawnSync("umount", ["--lazy", small])))
    chownSync(small, uid, gid)
    await cluster.query(`CREATE TABLESPACE small LOCATION '${small}'`)
    await cluster.query("CREATE DATABASE govoice TABLESPACE small")
    const url = new URL(cluster.url)
    url.pathname = "/govoice"
    const receiver = await startReceiver()
    cleanUps.push(() => receiver.close())
    const deployment = new Deployment(url.href, { GOVOICE_LEASE_MS: "30000", GOVOICE_WEBHOOK_TIMEOUT_MS: "2000" })
    cleanUps.push(() => deployment.close())
    await deployment.startApi()
    await deployment.startWorker()
    const { endpoints, key } = await deployment.organization([receiver.url("/ok?1")])
    receiver.learn("/ok?1", endpoints[0]!.secret)
    return { deployment, key, receiver, small }
  }

  it("makes the process unready until there is space again, and loses nothing that was acknowledged", async () => {
    const { deployment, key, receiver, small } = await setUp()
    const ids: Array<string> = []
    // New pages are needed: what is on the disk has room for a while.
    const large = `<Faktura>${Array.from({ length: 9000 }, () => Math.random().toString(36)).join("")}</Faktura>`
    const submit = async () => {
      const { body, status } = await deployment.call<{ id: string }>("POST", "/v1/invoices", {
        token: key,
        body: { invoice_xml: large },
        headers: { "idempotency-key": `k${Math.random()}`, "gov-sandbox-scenario": "accepted" }
      })
      if (status === 201) ids.push(body.id)
      return status
    }
    const readiness = () => deployment.call<{ message?: string }>("GET", "/readyz")
    for (let n = 0; n < 20; n++) assert.strictEqual(await submit(), 201)

    const { bavail, bsize } = statfsSync(small)
    const filler = join(small, "filler")
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 65_536))
    await until("a refused submission", async () => (await submit()) === 503, 60_000)
    await until("an unready process", async () => (await readiness()).status === 503, 10_000)
    assert.include(JSON.stringify((await readiness()).body), "The disk of the database is full.")
    // Nothing is written meanwhile, and reads succeed.
    for (const end = Date.now() + 8000; Date.now() < end; await sleep(250)) {
      assert.strictEqual((await readiness()).status, 503)
    }
    assert.strictEqual(await submit(), 503)

    rmSync(filler)
    await until("a ready process", async () => (await readiness()).status === 200, 15_000)
    assert.strictEqual(await submit(), 201)
    await deployment.finished(120_000)
    assert.sameMembers(
      (await deployment.pool.query<{ id: string }>("SELECT id FROM invoices")).rows.map(({ id }) => id),
      ids
    )
    assert.deepStrictEqual(receiver.faults, [])
    await check(deployment.pool, { maxAttempts: 4 })
  })
})
