/** Measures how fast a backlog is drained end to end: claim, signature, request, response, completion. */
import { type Database, environment, truncateEvents, makeTenants, plan, type Tenant } from "./database.ts"
import { type Receiver, sleep, startServer, until } from "./processes.ts"
import { fromFirstRequest, fromNow, type Usage } from "./usage.ts"

export interface Drained extends Usage {
  readonly perSecond: number
  readonly duplicates: number
  readonly statementsPerDelivery: number
  /** Resident memory of the largest worker after a tenth of the backlog and after all of it, in MiB. */
  readonly rssMiB: readonly [early: number, late: number]
}

const vacuum = async ({ pool }: Database): Promise<void> => {
  await pool.query("VACUUM ANALYZE deliveries, events, organization_concurrency")
  await pool.query("CHECKPOINT")
}

const perStatement = 100_000

const planAll = async (
  pool: Parameters<typeof plan>[0],
  tenants: ReadonlyArray<Tenant>,
  count: number
): Promise<void> => {
  for (let planned = 0; planned < count; planned += perStatement) {
    await plan(pool, tenants, Math.min(perStatement, count - planned))
  }
}

/**
 * Drains a backlog. With `warmUp`, the workers deliver as many before, so that each has compiled its code and opened its
 * connections: the backlog is then written in one transaction beside them, and counts from its commit.
 */
export const drain = async (
  database: Database,
  receiver: Receiver,
  {
    count,
    tenants: tenantCount = 50,
    workers = 1,
    warmUp = 0,
    settings = {},
    withinMs = 180_000
  }: {
    readonly count: number
    readonly tenants?: number
    readonly workers?: number
    readonly warmUp?: number
    readonly settings?: Readonly<Record<string, string>>
    readonly withinMs?: number
  }
): Promise<Drained> => {
  const { pool } = database
  await truncateEvents(pool)
  const tenants = await makeTenants(pool, tenantCount, receiver.url)
  await planAll(pool, tenants, warmUp || count)
  await vacuum(database)
  await receiver.reset()
  await database.statements()

  const processes = Array.from({ length: workers }, () =>
    startServer({ ...environment, DATABASE_URL: database.url, GOVOICE_ROLE: "worker", PORT: "0", ...settings })
  )
  const completed = async (): Promise<boolean> => {
    const { rows } = await pool.query<{ left: boolean }>(
      "SELECT EXISTS (SELECT FROM deliveries WHERE due_at IS NOT NULL) AS left"
    )
    return !rows[0]!.left
  }
  const startWarm = async () => {
    await until("the deliveries that warm up", async () => (await receiver.count()) >= warmUp, withinMs, 250)
    await until("their completions", completed, 10_000)
    const client = await pool.connect()
    try {
      await client.query("BEGIN")
      await planAll(client, tenants, count)
      await client.query("ANALYZE deliveries, events")
      await pool.query("CHECKPOINT")
      await receiver.reset()
      await database.statements()
      const usage = await fromNow(receiver, processes, database)
      await client.query("SELECT pg_notify('govoice_notifications', 'bench deliveries')")
      await client.query("COMMIT")
      return usage
    } finally {
      client.release()
    }
  }
  const usage = await (warmUp > 0 ? startWarm() : fromFirstRequest(receiver, processes, database))
  const rss = () => Math.max(...processes.map((process) => process.rss()))
  await until("the first tenth", async () => (await receiver.count()) >= count / 10, withinMs, 250)
  const early = rss()
  await until("the backlog", async () => (await receiver.count()) >= count, withinMs, 250)
  await until("the completions", completed, 10_000)
  const { rows } = await pool.query<{ completed: Date }>("SELECT max(updated_at) AS completed FROM deliveries")
  const completedAt = rows[0]!.completed
  const received = await receiver.report()
  const used = await usage(count)
  const statements = await database.statements()
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
