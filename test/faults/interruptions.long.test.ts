/** A crash loop: one delivery or invoice ends every process that works on it, beside many of another organization. */
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { type Deployment, leaseMs, maxAttempts, sleep, until } from "./deployment.ts"
import { startReceiver } from "./receiver.ts"
import * as Invariants from "./invariants.ts"
import { type Faults, makeOrganization, setUpConcurrent } from "./support.ts"

const preload = join(import.meta.dirname, "preload/poison.ts")

// The number of the invoice is in its receipt.
const poisonous = '<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/"><Fa><P_2>POISON</P_2></Fa></Faktura>'

// Two interruptions in the worker, three in quarantine.
const interruptionsInWorker = 2
const interruptions = 5

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
      /"level":"ERROR".*Delivery stopped: it interrupted the quarantine process 3 times|Delivery stopped: it interrupted the quarantine process 3 times.*"level":"ERROR"/
    )
    await Invariants.check(deployment.pool, { maxAttempts })
    await supervised.stop()
  } finally {
    await attacked.close()
  }
}

/** An invoice whose document ends the process that works on it. */
const processesOthers = async (faults: Faults): Promise<void> => {
  const { deployment } = faults
  await deployment.startApi()
  const innocent = await makeOrganization(faults, ["ok"])
  const attacker = await makeOrganization(faults, ["ok"])
  const poisoned = await deployment.submit(attacker.key, "accepted", poisonous)
  for (let n = 0; n < 40; n++) await deployment.submit(innocent.key, "accepted")

  const supervised = deployment.supervise({ NODE_OPTIONS: `--import=${preload}`, POISON_BY: "signal" })
  const accepted = `(SELECT FROM invoices WHERE organization_id = '${innocent.id}' AND upo_available) AS done`
  await until("the invoices", async () => (await deployment.count(accepted)) === 40, 120_000)
  // Only the receipt contains the number. Its retries after interruptions wait 5 s, 30 s and so on.
  await until(
    "the quarantine",
    async () => (await deployment.count("invoices WHERE quarantine_interruption_count > 0")) === 1,
    120_000
  )
  assert.strictEqual(supervised.exits.length, interruptionsInWorker)
  await sleep(500)
  const { rows } = await deployment.pool.query<Record<string, unknown>>(
    "SELECT status, upo_available, attempt_count FROM invoices WHERE id = $1",
    [poisoned]
  )
  assert.deepStrictEqual(rows, [{ status: "accepted", upo_available: false, attempt_count: 1 }])
  const lost = "deliveries WHERE status NOT IN ('succeeded', 'pending', 'retrying', 'delivering')"
  assert.strictEqual(await deployment.count(lost), 0)
  await supervised.stop()
}

describe.concurrent("crash loop", { timeout: 480_000 }, () => {
  const withFaults = setUpConcurrent()

  it.each(["signal", "exception"] as const)(
    "delivers every webhook but the one whose request ends its process by %s",
    (by) => withFaults((faults) => deliversOthers(faults, by))
  )

  it("processes every invoice but the one whose document ends its process", () => withFaults(processesOthers))

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
