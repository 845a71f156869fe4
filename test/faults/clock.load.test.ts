/** Processes whose clocks are wrong: leases, claims, schedules and records follow the clock of the database. */
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { leaseMs, maxAttempts, type Environment } from "./deployment.ts"
import * as Invariants from "./invariants.ts"
import { duplicates, makeOrganization, setUp } from "./support.ts"

const perOrganization = 10

/** The environment of a process whose clock is ahead by so much, or behind if negative. */
const skewed = (milliseconds: number): Environment => ({
  NODE_OPTIONS: `--import=${join(import.meta.dirname, "preload/skew.ts")}`,
  SKEW_MS: String(milliseconds),
  GOVOICE_TENANT_CONCURRENCY: String(perOrganization)
})

describe("skewed clocks", () => {
  const faults = setUp()

  for (const [name, skewMs] of [
    ["ahead", 35_000],
    ["behind", -35_000]
  ] as const) {
    it(`a worker 35 s ${name} claims no leased delivery and keeps the concurrency limit`, async () => {
      const { deployment, receiver } = faults
      await deployment.startApi()
      const organization = await makeOrganization(faults, ["slow"], ["invoice.received"])
      for (let submitted = 0; submitted < 250; submitted += 25) {
        await Promise.all(Array.from({ length: 25 }, () => deployment.submit(organization.key, "accepted")))
      }
      await Promise.all([deployment.startWorker(skewed(0)), deployment.startWorker(skewed(skewMs))])
      await deployment.finished(60_000)

      assert.strictEqual(receiver.peak(), perOrganization)
      assert.strictEqual(duplicates(faults), 0)
      assert.strictEqual(await deployment.count("deliveries WHERE status <> 'succeeded'"), 0)
      assert.strictEqual(
        await deployment.count("deliveries WHERE attempt_count <> 1 OR fencing_token <> 1 OR interruption_count > 0"),
        0
      )
      const apart = `abs(extract(epoch FROM now() - delivered_at)) > 60 OR delivered_at < created_at`
      assert.strictEqual(await deployment.count(`deliveries WHERE ${apart}`), 0)
      await Invariants.check(deployment.pool, { maxAttempts })
      const warned = deployment.processes.filter(({ stdout }) =>
        stdout.includes("differs from the clock of the database")
      )
      assert.strictEqual(warned.length, 1)
    })

    it(`a lost lease of a worker 35 s ${name} expires by the clock of the database`, async () => {
      const { deployment } = faults
      await deployment.startApi()
      const { key } = await makeOrganization(faults, ["hang"], ["invoice.received"])
      const lost = await deployment.startWorker(skewed(skewMs))
      await deployment.submit(key, "accepted")
      const leased = () => deployment.count("deliveries WHERE lease_expires_at IS NOT NULL")
      while ((await leased()) === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      await lost.kill()
      const { rows } = await deployment.pool.query<{ ms: number }>(
        "SELECT extract(epoch FROM lease_expires_at - now())::float * 1000 AS ms FROM deliveries WHERE lease_expires_at IS NOT NULL"
      )
      assert.isAbove(rows[0]!.ms, leaseMs - 2500)
      assert.isAtMost(rows[0]!.ms, leaseMs)
    })

    it(`an API process 35 s ${name} records the time of the database, and its invoices are processed on time`, async () => {
      const { deployment } = faults
      await deployment.startApi(skewed(skewMs))
      const organization = await makeOrganization(faults, ["ok"])
      await deployment.startWorker()
      const begun = Date.now()
      for (let n = 0; n < 20; n++) await deployment.submit(organization.key, "accepted")
      await deployment.finished(20_000)
      assert.isBelow(Date.now() - begun, 20_000)
      for (const table of ["invoices", "deliveries", "webhook_endpoints", "organizations", "api_keys"]) {
        const apart = `abs(extract(epoch FROM now() - created_at)) > 25`
        assert.strictEqual(await deployment.count(`${table} WHERE ${apart}`), 0, table)
      }
      const createdAt = "(body::jsonb ->> 'created_at')::timestamptz"
      assert.strictEqual(await deployment.count(`events WHERE abs(extract(epoch FROM now() - ${createdAt})) > 25`), 0)
      await Invariants.check(deployment.pool, { maxAttempts })
    })
  }
})
