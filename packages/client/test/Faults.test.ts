/** Runs each fault scenario on the current Node. `Runtimes.long.test.ts` runs them on other runtimes. */
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

  it("names host, port and the code of Node if nothing listens", async () => {
    const client = library.createClient({ apiKey: "sk_test_1", baseUrl: "http://127.0.0.1:1", maxRetries: 0 })
    const error = await client.invoices.get("inv_1").catch((error: unknown) => error)
    assert.match(
      String(error),
      /^ConnectionError: Connection to 127\.0\.0\.1:1 failed: \w+ \(attempts: 1\)\. Check baseUrl and proxies\.$/
    )
    assert.notInclude(String(error), "undefined")
  })

  it("has unique scenario names", () => {
    assert.strictEqual(new Set(scenarios.map(({ name }) => name)).size, scenarios.length)
    assert.isAtLeast(scenarios.length, 22)
  })
})
