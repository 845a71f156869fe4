/** Measures invoices of one taxpayer that wait together, from a running worker's first look at them to the last receipt. */
import type { Database } from "../engine/database.ts"
import { until } from "../engine/processes.ts"
import { sendBatch } from "../ksef-simulator/clients.ts"
import {
  makeKey,
  makeSubmit,
  peakMemory,
  resetStatements,
  startApi,
  startSimulator,
  startWorker,
  statementsOf,
  submitMany,
  untilLoggedIn
} from "./deployment.ts"

export interface Batch {
  readonly count: number
  readonly seconds: number
  /** The same for a client as small as it can be that has the documents in memory. */
  readonly floorSeconds: number
  /** The largest resident memory of the worker, in MiB. */
  readonly memory: number
  /** The same while the worker waits for the batch. */
  readonly memoryBefore: number
  readonly statements: { readonly lanes: number; readonly all: number }
}

/** Has this many invoices wait, and measures until each is accepted with its receipt. */
export const measureBatch = async (database: Database, count: number): Promise<Batch> => {
  // A simulator of its own, because limits of calls and the memory of the other one are measured.
  const plain = await startSimulator("off")
  const floorSeconds = (await sendBatch(plain, { prefix: "F", count })) / 1000
  await plain.stop()

  const simulator = await startSimulator("production")
  const api = await startApi(database, simulator)
  const worker = await startWorker(database, simulator)
  const key = await makeKey(api, simulator)
  await untilLoggedIn(database, simulator)
  // Without this the first of them would go one by one.
  worker.child.kill("SIGSTOP")
  await submitMany(makeSubmit(api, key, simulator.nip), "B", count)
  await resetStatements(database)
  const memoryBefore = worker.rss()
  const begun = performance.now()
  worker.child.kill("SIGCONT")
  const left = async () => {
    const { rows } = await database.pool.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM invoices WHERE mode = 'live' AND NOT (status = 'accepted' AND upo_available)"
    )
    return rows[0]!.n
  }
  await until("all receipts", async () => (await left()) === 0, 600_000, 100)
  const seconds = (performance.now() - begun) / 1000
  const memory = peakMemory(worker)
  const { all, lanes, rows } = await statementsOf(database, "worker")
  if (process.env["BENCH_STATEMENTS"] === "1") {
    for (const { calls, query } of rows) console.error(calls, query.replaceAll(/\s+/g, " ").slice(0, 160))
  }
  const { accepted, overLimit } = await simulator.ledger()
  if (accepted !== count) throw new Error(`Expected the simulator to have ${count} invoices, got ${accepted}`)
  if (overLimit !== 0) throw new Error(`Expected no call over a limit, got ${overLimit}`)
  await worker.stop()
  await api.process.stop()
  await simulator.stop()
  return { count, seconds, floorSeconds, memory, memoryBefore, statements: { lanes: lanes / count, all: all / count } }
}
