/** A worker with an exception that nothing catches: its completions are written, and it exits within a second. */
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { until } from "./deployment.ts"
import { makeOrganization, setUp } from "./support.ts"

const preload = join(import.meta.dirname, "preload/fault.ts")

const deliveries = 20

describe("an uncaught exception in a worker", () => {
  const faults = setUp()

  it("lets the completions be written that are ready within a second, exits with 1, and is one line in the log", async () => {
    const { deployment, receiver } = faults
    await deployment.startApi()
    const organization = await makeOrganization(faults, ["slow"], ["invoice.received"])
    for (let n = 0; n < deliveries; n++) await deployment.submit(organization.key, "accepted")
    const worker = await deployment.startWorker({ NODE_OPTIONS: `--import=${preload}` })
    worker.mayCrash = true
    await until("all requests", () => Promise.resolve(receiver.receipts.length === deliveries), 60_000)

    const begun = performance.now()
    worker.child.kill("SIGUSR2")
    assert.strictEqual(await worker.exited, 1)
    assert.isBelow(performance.now() - begun, 20_000)
    // The responses were on their way. Without the second, none would have been recorded.
    assert.isAbove(await deployment.count("deliveries WHERE status = 'succeeded'"), 0)
    const fatal = worker.log.filter(({ level }) => level === "FATAL")
    assert.lengthOf(fatal, 1)
    assert.strictEqual(fatal[0]?.annotations["reason"], "a fault of the test")
    assert.include(String(fatal[0]?.annotations["place"]), "fault.ts")
    assert.notInclude(worker.stderr, "    at ")
  })
})
