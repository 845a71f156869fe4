/**
 * Each fault, as a client meets it. The record has a member for every name, so that a fault without a test does not compile.
 */
import { assert, describe, it } from "vitest"
import type { FaultName } from "../../src/faults/Fault.ts"
import { Client } from "../support/Client.ts"
import { start } from "../support/simulator.ts"
import { outcomeCases } from "./outcomeCases.ts"
import { type Cases, isCut, ready } from "./scene.ts"
import { wayCases } from "./wayCases.ts"

const cases: Readonly<Record<FaultName, Cases>> = { ...wayCases, ...outcomeCases }

describe.each(Object.entries(cases))("the fault %s", (_, own) => {
  it.each(Object.entries(own))("%s", (_, run) => run())
})

describe("faults of the beacon and the storage", () => {
  it("are those of the network: a page, an error, a cut connection", async () => {
    const simulator = await start()
    const status = () => fetch(`${simulator.beaconUrl}/status`)
    simulator.faults.add({ do: "html", on: "getBeaconStatus", status: 504 })
    simulator.faults.add({ do: "5xx", on: "getBeaconStatus" })
    simulator.faults.add({ do: "drop-before", on: "getBeaconStatus" })
    assert.strictEqual((await status()).status, 504)
    assert.strictEqual((await status()).status, 503)
    assert.isTrue(await isCut(status()))
    assert.deepStrictEqual(await (await status()).json(), { status: "AVAILABLE" })
  })
})

describe("faults together", () => {
  it("affect one context only if one is for all calls of that context", async () => {
    const { client, simulator } = await ready()
    const stranger = await Client.login(simulator, simulator.issueToken({ context: "5260250274" }), "5260250274")
    simulator.faults.add({ do: "5xx", context: "5260250274", times: "always" })
    assert.strictEqual((await stranger.call("GET", "/rate-limits")).status, 503)
    assert.strictEqual((await client.call("GET", "/rate-limits")).status, 200)
  })

  it("pick the same calls with the same seed", async () => {
    const statuses = async (seed: string) => {
      const simulator = await start({ seed, limits: "off" })
      const client = await Client.login(simulator)
      simulator.faults.add({ do: "5xx", on: "getRateLimits", times: "always", probability: 0.5 })
      const seen: Array<number> = []
      for (let call = 0; call < 30; call++) seen.push((await client.call("GET", "/rate-limits")).status)
      return seen.join()
    }
    const [first, second, other] = [await statuses("a"), await statuses("a"), await statuses("b")]
    assert.strictEqual(first, second)
    assert.notStrictEqual(first, other)
    assert.include(first, "503")
    assert.include(first, "200")
  })
})
