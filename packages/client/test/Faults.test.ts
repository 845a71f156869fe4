/** Every fault scenario, on the Node that runs the tests. `Runtimes.test.ts` runs the same on the others. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as library from "../src/index.ts"
import { type FaultServer, startFaultServer } from "./support/faultServer.ts"
import { runScenario, scenarios } from "./support/scenarios.ts"

let server: FaultServer
beforeAll(async () => {
  server = await startFaultServer()
})
afterAll(() => server[Symbol.asyncDispose]())

describe("createClient", () => {
  it.concurrent.each(scenarios.map((scenario) => [scenario.name, scenario] as const))("%s", async (_, scenario) => {
    assert.deepStrictEqual(await runScenario(library, server.origin, scenario), [])
  })

  it("has no two scenarios of one name", () => {
    assert.strictEqual(new Set(scenarios.map(({ name }) => name)).size, scenarios.length)
    assert.isAtLeast(scenarios.length, 22)
  })
})
