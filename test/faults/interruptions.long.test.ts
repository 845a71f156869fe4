/** A crash loop: one delivery ends every process that works on it, beside many of another organization. */
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { type Deployment, leaseMs, maxAttempts } from "./deployment.ts"
import { startReceiver } from "./receiver.ts"
import * as Invariants from "./invariants.ts"
import { type Faults, makeOrganization, setUpConcurrent } from "./support.ts"

const preload = join(import.meta.dirname, "preload/poison.ts")

// Two interruptions in the worker, two more in a process of their own.
const interruptionsInWorker = 2
const interruptions = 4

const innocents = 1000

/** An attacked receiver whose deliveries end the process that sends them, by a signal or an exception. */
const deliversOthers = async (faults: Faults, by: "signal" | "exception"): Promise<void> => {
  const { deployment, receiver } = faults
  const attacked = await startReceiver()
  try {
    await deployment.startApi()
    const innocent = await makeOrganization(faults, ["ok"], ["invoice.received"])
    const attacker = await deployment.organization([attacked.url("/ok")], ["invoice.received"])
    await deployment.submit(attacker.key, "rejected")
    for (let submitted = 0; submitted < innocents; submitted += 25) {
      await Promise.all(Array.from({ length: 25 }, () => deployment.submit(innocent.key, "rejected")))
    }

    const supervised = deployment.supervise({
      NODE_OPTIONS: `--import=${preload}`,
      POISON_PORT: String(attacked.port),
      POISON_BY: by,
      // All deliveries are in flight at once.
      GOVOICE_TENANT_CONCURRENCY: "40"
    })
    await deployment.finished(interruptions * (leaseMs + 15_000))

    const ofInnocent = `deliveries WHERE endpoint_id = '${innocent.endpoints[0]!.id}'`
    assert.strictEqual(await deployment.count(`${ofInnocent} AND status = 'succeeded'`), innocents)
    const { rows } = await deployment.pool.query<Record<string, unknown>>(
      "SELECT status, attempt_count, last_error_summary AS summary FROM deliveries WHERE endpoint_id = $1",
      [attacker.endpoints[0]!.id]
    )
    const summary = "The delivery was stopped because sending it repeatedly interrupted the sender."
    assert.deepStrictEqual(rows, [{ status: "failed", attempt_count: 0, summary }])
    const received = new Set(receiver.receipts.map(({ eventId }) => eventId))
    assert.strictEqual(received.size, innocents)
    assert.deepStrictEqual(attacked.receipts, [])
    assert.strictEqual(supervised.exits.length, interruptionsInWorker)
    // A signal interrupts other deliveries, too. After an exception, their responses still have a second to arrive.
    if (by === "signal") {
      assert.isAbove(await deployment.count(`${ofInnocent} AND interruption_count > 0`), 0)
    }
    const logged = deployment.processes.map(({ text }) => text).join("")
    assert.match(
      logged,
      /"level":"ERROR".*Delivery stopped: it interrupted its sender 4 times|Delivery stopped: it interrupted its sender 4 times.*"level":"ERROR"/
    )
    await Invariants.check(deployment.pool, { maxAttempts })
    await supervised.stop()
  } finally {
    await attacked.close()
  }
}

describe.concurrent("crash loop", () => {
  const withFaults = setUpConcurrent()

  it.each(["signal", "exception"] as const)(
    "delivers every webhook but the one whose request ends its process by %s",
    (by) => withFaults((faults) => deliversOthers(faults, by))
  )

  it("leaves no supervised worker behind when the test fails", async () => {
    let used: Deployment | undefined
    const test = withFaults(async ({ deployment }) => {
      used = deployment
      deployment.supervise()
      assert.fail("while a worker is running")
    })
    const message = await test.catch((error: Error) => error.message)
    assert.strictEqual(message, "while a worker is running")
    const { processes } = used!
    assert.deepStrictEqual(
      processes.map(({ child }) => child.signalCode),
      ["SIGKILL"]
    )
  })
})
