/** Measures how fast a backlog is drained end to end: claim, signature, request, response, completion. */
import { type Database, environment, forget, makeTenants, plan } from "./database.ts"
import { type Receiver, sleep, startServer, until } from "./processes.ts"
import { fromFirstRequest, type Usage } from "./usage.ts"

export interface Drained extends Usage {
  readonly perSecond: number
  readonly duplicates: number
  readonly statementsPerDelivery: number
  /** Resident memory of the largest worker after a tenth of the backlog and after all of it, in MiB. */
  readonly rssMiB: readonly [early: number, late: number]
}

export const drain = async (
  database: Database,
  receiver: Receiver,
  {
    count,
    tenants: tenantCount = 50,
    workers = 1,
    settings = {},
    withinMs = 180_000
  }: {
    readonly count: number
    readonly tenants?: number
    readonly workers?: number
    readonly settings?: Readonly<Record<string, string>>
    readonly withinMs?: number
  }
): Promise<Drained> => {
  await forget(database.pool)
  const tenants = await makeTenants(database.pool, tenantCount, receiver.url)
  for (let planned = 0; planned < count; planned += 100_000) {
    await plan(database.pool, tenants, Math.min(100_000, count - planned))
  }
  await database.pool.query("VACUUM ANALYZE deliveries, events, organization_concurrency")
  await database.pool.query("CHECKPOINT")
  await receiver.reset()
  await database.statements()

  const processes = Array.from({ length: workers }, () =>
    startServer({ ...environment, DATABASE_URL: database.url, GOVOICE_ROLE: "worker", PORT: "0", ...settings })
  )
  const usage = await fromFirstRequest(receiver, processes, database)
  const left = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM deliveries WHERE due_at IS NOT NULL"
    )
    return rows[0]!.n
  }
  const rss = () => Math.max(...processes.map((process) => process.rss()))
  await until("the first tenth", async () => (await receiver.count()) >= count / 10, withinMs, 250)
  const early = rss()
  await until("the backlog", async () => (await receiver.count()) >= count, withinMs, 250)
  await until("the completions", async () => (await left()) === 0, 10_000)
  const { rows } = await database.pool.query<{ completed: Date }>("SELECT max(updated_at) AS completed FROM deliveries")
  const completedAt = rows[0]!.completed
  const received = await receiver.report()
  const statements = await database.statements()
  const used = await usage(count)
  const late = rss()
  await Promise.all(processes.map((process) => process.stop()))
  await sleep(200)

  const seconds = (Math.max(received.last, completedAt.getTime()) - received.first) / 1000
  return {
    perSecond: Math.round(count / seconds),
    duplicates: received.count - received.distinct,
    statementsPerDelivery: statements / count,
    ...used,
    rssMiB: [early, late]
  }
}
