/**
 * Measures one invoice after the other in an open session: the time to its verdict, in turns with a plain client of the same
 * simulator, and the statements of the worker.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { PolishTime } from "@govoice/ksef/format"
import { Client } from "../../packages/ksef-simulator/test/support/Client.ts"
import { fa3 } from "../../packages/ksef-simulator/test/support/invoices.ts"
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
// The worker asks for a verdict this long after a send.
const firstPollMs = 100
const count = Number(process.env["BENCH_INTERACTIVE"] ?? 25)

export interface Interactive {
  /** Milliseconds from each submission to its verdict. */
  readonly times: ReadonlyArray<number>
  readonly p50: number
  readonly p95: number
  readonly most: number
  /** The same of a client that sends documents from memory. */
  readonly floor: { readonly times: ReadonlyArray<number>; readonly p95: number }
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
  const client = await Client.login(simulator)
  const session = await client.open()
  const plainly = async (number: string): Promise<number> => {
    const begun = performance.now()
    const xml = fa3({ issueDate: PolishTime.day(Date.now()), number, seller: simulator.nip })
    const answer = await client.send(session, xml)
    if (answer.status !== 202) throw new Error(`${answer.status} ${answer.text}`)
    await sleep(firstPollMs)
    const { status } = await client.verdict(session.reference, answer.json.referenceNumber)
    if (status.code !== 200) throw new Error(`Expected 200, got ${status.code}`)
    return performance.now() - begun
  }
  const untilReceipts = () =>
    until(
      "the receipts",
      async () => (await database.pool.query("SELECT 1 FROM invoices WHERE NOT upo_available LIMIT 1")).rowCount === 0,
      60_000
    )

  for (let index = 0; index < warmUp; index++) await untilAccepted(`W/${index}`)
  await untilReceipts()
  // Counts the statements of the worker without an invoice, by second.
  await resetStatements(database)
  await sleep(idleMs)
  const idle = await statementsOf(database, "worker")
  await resetStatements(database)
  const begun = performance.now()
  const times: Array<number> = []
  const plain: Array<number> = []
  for (let index = 0; index < count; index++) {
    times.push(await untilAccepted(`I/${index}`))
    plain.push(await plainly(`P/${index}`))
  }
  await untilReceipts()
  const idlePeriods = (performance.now() - begun) / idleMs
  const { all, lanes, rows } = await statementsOf(database, "worker")
  if (process.env["BENCH_STATEMENTS"] === "1") {
    for (const { calls, query } of rows) console.error(calls, query.replaceAll(/\s+/g, " ").slice(0, 160))
  }
  await worker.stop()
  await api.process.stop()
  await simulator.stop()
  const at = (values: ReadonlyArray<number>, share: number) =>
    values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!
  return {
    times,
    p50: at(times, 0.5),
    p95: at(times, 0.95),
    most: Math.max(...times),
    floor: { times: plain, p95: at(plain, 0.95) },
    statements: {
      lanes: (lanes - idle.lanes * idlePeriods) / count,
      all: (all - idle.all * idlePeriods) / count
    }
  }
}
