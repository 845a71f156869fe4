/** Measures the time from the commit of an event to its receipt, at a steady rate of events. */
import { makeWorkerUtils } from "graphile-worker"
import { type Database, environment, truncateEvents, makeTenants, plan, sampleBody, type Tenant } from "./database.ts"
import { type Receiver, sleep, startPeer, startServer, until } from "./processes.ts"

export interface Latency {
  readonly perSecond: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly statementsPerDelivery: number
}

const percentile = (sorted: ReadonlyArray<number>, part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN

/** Stores the nth event. */
type Store = (n: number) => Promise<void>

/** Stores events one by one at a rate. */
const atRate = async (rate: number, seconds: number, store: Store): Promise<number> => {
  const begun = performance.now()
  const total = rate * seconds
  const pending = new Set<Promise<void>>()
  let sent = 0
  while (sent < total) {
    const due = Math.min(total, Math.floor(((performance.now() - begun) / 1000) * rate))
    for (; sent < due; sent++) {
      const done: Promise<void> = store(sent).then(() => void pending.delete(done))
      pending.add(done)
    }
    await sleep(2)
  }
  await Promise.all(pending)
  return sent
}

/** Commits events one by one at a rate, and notifies workers as the server does: at most every five milliseconds. */
const emit = async (database: Database, tenants: ReadonlyArray<Tenant>, rate: number, seconds: number) => {
  let unannounced = false
  const announcer = setInterval(() => {
    if (!unannounced) return
    unannounced = false
    void database.pool.query("SELECT pg_notify('govoice_notifications', 'bench deliveries')")
  }, 5)
  const sent = await atRate(rate, seconds, async (n) => {
    await plan(database.pool, [tenants[n % tenants.length]!], 1)
    unannounced = true
  })
  await sleep(10)
  clearInterval(announcer)
  return sent
}

const measure = async (
  database: Database,
  receiver: Receiver,
  send: (seconds: number) => Promise<number>,
  seconds: number
): Promise<Latency> => {
  // The first second is for warming up.
  const warm = await send(1)
  await until("the events that warm up", async () => (await receiver.count()) >= warm, 20_000)
  await receiver.reset()
  await database.statements()
  const sent = await send(seconds)
  await until("the events", async () => (await receiver.count()) >= sent, 60_000)
  const statements = await database.statements()
  const { first, last, latencies } = await receiver.report()
  return {
    perSecond: Math.round((sent * 1000) / (last - first)),
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
    statementsPerDelivery: statements / sent
  }
}

const withWorker = async <A>(database: Database, use: () => Promise<A>): Promise<A> => {
  const worker = startServer({ ...environment, DATABASE_URL: database.url, GOVOICE_ROLE: "worker" })
  try {
    await sleep(2000)
    return await use()
  } finally {
    await worker.stop()
  }
}

export const latency = async (
  database: Database,
  receiver: Receiver,
  rate: number,
  seconds: number
): Promise<Latency> => {
  await truncateEvents(database.pool)
  await receiver.reset()
  const tenants = await makeTenants(database.pool, 20, receiver.url)
  return withWorker(database, () =>
    measure(database, receiver, (seconds) => emit(database, tenants, rate, seconds), seconds)
  )
}

/** The same with graphile-worker, whose jobs are stored one by one and notify by themselves. */
export const latencyOfPeer = async (
  database: Database,
  receiver: Receiver,
  rate: number,
  seconds: number
): Promise<Latency> => {
  await receiver.reset()
  const utils = await makeWorkerUtils({ pgPool: database.pool })
  await utils.migrate()
  const worker = startPeer("graphileWorker.ts", { DATABASE_URL: database.url })
  let stored = 0
  const store = async (): Promise<void> => {
    const id = `evt_${String(stored++).padStart(26, "0")}`
    await utils.addJob("webhook", { url: receiver.url, path: "/", id, body: sampleBody(id) })
  }
  try {
    await sleep(2000)
    return await measure(database, receiver, (seconds) => atRate(rate, seconds, store), seconds)
  } finally {
    await worker.stop()
    await utils.release()
  }
}

export interface Neighbor {
  readonly alone: Latency
  readonly beside: Latency
  readonly alongHeldUp: number
}

/** A healthy organization alone, and beside one that has ten thousand deliveries to a receiver that hangs. */
export const neighbor = async (
  database: Database,
  receiver: Receiver,
  rate: number,
  seconds: number
): Promise<Neighbor> => {
  await truncateEvents(database.pool)
  await receiver.reset()
  const healthy = await makeTenants(database.pool, 1, receiver.url)
  const hanging = await makeTenants(database.pool, 1, `${receiver.url}/hang`)
  return withWorker(database, async () => {
    const send = (seconds: number) => emit(database, healthy, rate, seconds)
    const alone = await measure(database, receiver, send, seconds)
    await plan(database.pool, hanging, 10_000)
    await sleep(1500)
    await receiver.reset()
    const beside = await measure(database, receiver, send, seconds)
    const { rows } = await database.pool.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM deliveries WHERE organization_id = $1 AND due_at IS NOT NULL",
      [hanging[0]!.organization]
    )
    return { alone, beside, alongHeldUp: rows[0]!.n }
  })
}
