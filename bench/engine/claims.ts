/** Measures how long a claim takes in the database, by the size of the backlog. */
import { type Database, environment, truncateEvents, makeTenants, plan } from "./database.ts"
import { type Receiver, startServer, until } from "./processes.ts"

export interface ClaimTime {
  readonly backlog: number
  /** Milliseconds per hundred claimed rows, because claims on a large backlog take more rows. */
  readonly hundredMs: number
  readonly maxMs: number
  readonly claims: number
}

/** Drains part of a backlog, and reads the time of its claims from pg_stat_statements. */
export const claimTime = async (database: Database, receiver: Receiver, backlog: number): Promise<ClaimTime> => {
  await truncateEvents(database.pool)
  const tenants = await makeTenants(database.pool, 50, receiver.url)
  for (let planned = 0; planned < backlog; planned += 100_000) {
    await plan(database.pool, tenants, Math.min(100_000, backlog - planned))
  }
  await database.pool.query("VACUUM ANALYZE deliveries, events, organization_concurrency")
  await database.pool.query("CHECKPOINT")
  await receiver.reset()
  const take = Math.min(backlog, 5000)

  const worker = startServer({ ...environment, DATABASE_URL: database.url, GOVOICE_ROLE: "worker" })
  try {
    await until("the first claims", async () => (await receiver.count()) >= take / 5, 60_000)
    // Leaves out the statements of the start.
    await database.statements()
    await until("the claims", async () => (await receiver.count()) >= take, 60_000, 10)
    const { rows } = await database.pool.query<{ total: number; max: number; calls: number; rows: number }>(
      `SELECT total_exec_time AS total, max_exec_time AS max, calls::int, rows::int FROM pg_stat_statements
       WHERE query LIKE '%RECURSIVE scan (organization_id, endpoint_id%' AND query LIKE '%claimed%' ORDER BY calls DESC LIMIT 1`
    )
    const { calls, max, rows: claimed, total } = rows[0] ?? { total: Number.NaN, max: Number.NaN, calls: 0, rows: 0 }
    return { backlog, hundredMs: (100 * total) / claimed, maxMs: max, claims: calls }
  } finally {
    await worker.stop()
  }
}
