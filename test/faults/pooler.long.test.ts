/** Submissions and deliveries by way of PgBouncer in transaction mode, which is killed while they run. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PgBouncer from "../support/pgbouncer.ts"
import { startPostgres } from "../support/postgres.ts"
import { Deployment, leaseMs, maxAttempts, sleep, until } from "./deployment.ts"
import * as Invariants from "./invariants.ts"
import { startLoad } from "./load.ts"
import { type Receiver, startReceiver } from "./receiver.ts"

describe.skipIf(!PgBouncer.isInstalled)(PgBouncer.named("a pooler in transaction mode"), () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let pgBouncer: Awaited<ReturnType<typeof PgBouncer.startPgBouncer>>
  let receiver: Receiver

  beforeAll(async () => {
    postgres = await startPostgres()
    pgBouncer = await PgBouncer.startPgBouncer(postgres.url)
    receiver = await startReceiver()
  })
  afterAll(async () => {
    await receiver.close()
    await pgBouncer.remove()
    await postgres.remove()
  })

  const makeDatabase = async (name: string): Promise<string> => {
    const admin = new Deployment(postgres.url)
    await admin.pool.query(`CREATE DATABASE ${name}`)
    await admin.close()
    const url = new URL(postgres.url)
    url.pathname = `/${name}`
    return url.href
  }

  const endpoint = async (deployment: Deployment, path: string) => {
    const made = await deployment.organization([receiver.url(path)])
    receiver.learn(path, made.endpoints[0]!.secret)
    return made.key
  }

  // The sessions that listen, as Postgres itself shows them.
  const listeners = (deployment: Deployment) => deployment.count("pg_stat_activity WHERE query ILIKE 'listen %'")

  it.each([
    ["with notifications over a direct connection", true],
    ["with polling", false]
  ] as const)("a deployment behind a pooler loses nothing when the pooler is killed, %s", async (_, isDirect) => {
    const direct = await makeDatabase(isDirect ? "notified" : "polling")
    const settings = {
      DATABASE_URL: pgBouncer.urlOf(direct),
      ...(isDirect ? { GOVOICE_DATABASE_DIRECT_URL: direct } : { GOVOICE_DATABASE_POOLED: "true" })
    }
    // Its own queries go to Postgres itself.
    const deployment = new Deployment(direct)
    try {
      await deployment.startApi(settings)
      await Promise.all([deployment.startWorker(settings), deployment.startWorker(settings)])
      await until("the listeners", async () => (await listeners(deployment)) === (isDirect ? 3 : 0), 10_000)
      const keys = [await endpoint(deployment, `/ok?${direct}-1`), await endpoint(deployment, `/flaky?${direct}-2`)]

      const load = startLoad(deployment, keys, 60)
      const reached = (count: number) =>
        until(`${count} submissions`, () => Promise.resolve(load.submitted() >= count), 60_000)
      await reached(100)
      await pgBouncer.kill()
      await sleep(1500)
      await pgBouncer.start()
      await reached(250)
      const accepted = await load.stop()
      await deployment.finished(leaseMs * 3 + 30_000)

      assert.strictEqual(await deployment.count("invoices"), accepted)
      assert.strictEqual(await deployment.count("deliveries WHERE status <> 'succeeded'"), 0)
      assert.deepStrictEqual(receiver.faults, [])
      await Invariants.check(deployment.pool, { maxAttempts })
      assert.match(await deployment.run("doctor", settings), /^ok {4}database /m)
    } finally {
      await deployment.close()
    }
  })

  it.each([
    ["refuses parameters of sessions", []],
    [
      "drops parameters of sessions",
      ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "jit"]
    ]
  ] as const)("a pooler is named when its setting is missing and it %s", async (_, ignored) => {
    const other = await PgBouncer.startPgBouncer(postgres.url, { ignored })
    const deployment = new Deployment(postgres.url)
    try {
      await deployment.startApi({ DATABASE_URL: other.urlOf(postgres.url) }).then(
        () => assert.fail("It started"),
        (error: unknown) => assert.match(String(error), /pooler.*Set GOVOICE_DATABASE_POOLED=true/)
      )
    } finally {
      await deployment.close()
      await other.remove()
    }
  })
})
