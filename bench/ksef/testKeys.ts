/** Measures `POST /v1/invoices` with a test key of an API in live mode, and of one without it, in turns. */
import { randomUUID } from "node:crypto"
import { load, type Target } from "../api/load.ts"
import { fa3 } from "../../packages/ksef-simulator/test/support/invoices.ts"
import type { Database } from "../engine/database.ts"
import { type Api, makeKey, startApi, startSimulator } from "./deployment.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 6)
const milliseconds = Number(process.env["BENCH_ROUND_MS"] ?? 4000)

const targetOf = ({ process, url }: Api, key: string): Target => {
  const body = JSON.stringify({ invoice_xml: fa3() })
  return {
    url,
    pid: process.child.pid!,
    connections: 50,
    milliseconds,
    expect: 201,
    next: () => ({
      method: "POST",
      path: "/v1/invoices",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": randomUUID()
      },
      body
    })
  }
}

export interface TestKeys {
  /** Submissions per second of each round, in live mode and without it. */
  readonly on: ReadonlyArray<number>
  readonly off: ReadonlyArray<number>
}

export const measureTestKeys = async (database: Database): Promise<TestKeys> => {
  const simulator = await startSimulator("production")
  const apis = { off: await startApi(database, undefined), on: await startApi(database, simulator) }
  const targets = {
    off: targetOf(apis.off, await makeKey(apis.off)),
    on: targetOf(apis.on, await makeKey(apis.on))
  }
  const measured = { off: [] as Array<number>, on: [] as Array<number> }
  for (const target of Object.values(targets)) await load({ ...target, milliseconds: 2000 })
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? (["off", "on"] as const) : (["on", "off"] as const)
    for (const mode of order) measured[mode].push((await load(targets[mode])).perSecond)
  }
  for (const { process } of Object.values(apis)) await process.stop()
  await simulator.stop()
  return measured
}
