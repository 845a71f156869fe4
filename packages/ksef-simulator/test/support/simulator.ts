/**
 * A simulator for one test, which compares everything that goes over its wire with the OpenAPI document.
 */
import { assert } from "vitest"
import { afterTest } from "../../../../test/support/afterTest.ts"
import type { SimulatorOptions } from "../../src/options.ts"
import { type GenerateRsa, generateRsa, type RsaPair } from "../../src/keys/rsa.ts"
import { type Simulator, startHooked } from "../../src/startSimulator.ts"
import { faultsOfExchange } from "./exchanges.ts"

interface Running {
  readonly simulator: Simulator
  readonly faults: Array<string>
}

let running: Array<Running> = []

// Making keys takes longer than most tests, so simulators of one file share some. Within a simulator, each is another.
const pool: Array<Promise<RsaPair>> = []

const pooled = (): GenerateRsa => {
  let taken = 0
  return () => {
    taken += 1
    return (pool[taken - 1] ??= generateRsa())
  }
}

/** Starts a simulator that ends with the test. Documents are processed at once unless it says otherwise. */
export const start = async (options: SimulatorOptions = {}): Promise<Simulator> => {
  const faults: Array<string> = []
  const simulator = await startHooked(
    { processingMs: 0, nip: "5265877635", ...options },
    {
      observe: (exchange) => faults.push(...faultsOfExchange(exchange)),
      generateRsa: pooled()
    }
  )
  running.push({ simulator, faults })
  return simulator
}

afterTest(async () => {
  const ended = running
  running = []
  await Promise.all(ended.map(({ simulator }) => simulator.close()))
  assert.deepStrictEqual(
    ended.flatMap(({ faults }) => faults),
    []
  )
})

/** A clock that stands still until it is moved. */
export const manualTime = (start = Date.UTC(2026, 10, 22, 10)): { now: () => number; move: (ms: number) => void } => {
  let time = start
  return {
    now: () => time,
    move: (ms) => {
      time += ms
    }
  }
}
