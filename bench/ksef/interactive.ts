/** Measures one invoice after the other in an open session: the time to its verdict, and the statements of the worker. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Database } from "../engine/database.ts"
import { until } from "../engine/processes.ts"
import {
  makeKey,
  makeSubmit,
  resetStatements,
  startApi,
  startSimulator,
  startWorker,
  statementsOf,
  untilLoggedIn
} from "./deployment.ts"

// Together no more than an interactive session may send within a minute.
const warmUp = 3
const idleMs = 10_000
const count = Number(process.env["BENCH_INTERACTIVE"] ?? 25)

export interface Interactive {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly most: number
  /** Statements of the worker for each invoice, beyond those of an idle one: of its lane, and all. */
  readonly statements: { readonly lanes: number; readonly all: number }
}

export const measureInteractive = async (database: Database): Promise<Interactive> => {
  const simulator = await startSimulator("off")
  const api = await startApi(database, simulator)
  const worker = await startWorker(database, simulator)
  const key = await makeKey(api, simulator)
  await untilLoggedIn(database, simulator)
  const submit = makeSubmit(api, key, simulator.nip)

  const untilAccepted = async (number: string): Promise<number> => {
    const begun = performance.now()
    const id = await submit(number)
    while (true) {
      const answer = await fetch(`${api.url}/v1/invoices/${id}`, { headers: { authorization: `Bearer ${key}` } })
      const { status } = (await answer.json()) as { readonly status: string }
      if (status === "accepted") return performance.now() - begun
      if (status === "rejected" || status === "failed") throw new Error(`Expected accepted, got ${status}`)
      await sleep(10)
    }
  }
  const untilReceipts = () =>
    until(
      "the receipts",
      async () => (await database.pool.query("SELECT 1 FROM invoices WHERE NOT upo_available LIMIT 1")).rowCount === 0,
      60_000
    )

  for (let index = 0; index < warmUp; index++) await untilAccepted(`W/${index}`)
  await untilReceipts()
  // What the worker executes without an invoice, by second.
  await resetStatements(database)
  await sleep(idleMs)
  const idle = await statementsOf(database, "worker")
  await resetStatements(database)
  const begun = performance.now()
  const times: Array<number> = []
  for (let index = 0; index < count; index++) times.push(await untilAccepted(`I/${index}`))
  await untilReceipts()
  const idlePeriods = (performance.now() - begun) / idleMs
  const { all, lanes, rows } = await statementsOf(database, "worker")
  if (process.env["BENCH_STATEMENTS"] === "1") {
    for (const { calls, query } of rows) console.error(calls, query.replaceAll(/\s+/g, " ").slice(0, 160))
  }
  await worker.stop()
  await api.process.stop()
  await simulator.stop()
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return {
    count,
    p50: at(0.5),
    p95: at(0.95),
    most: sorted.at(-1)!,
    statements: {
      lanes: (lanes - idle.lanes * idlePeriods) / count,
      all: (all - idle.all * idlePeriods) / count
    }
  }
}
