/**
 * Many taxpayers of one worker: those that KSeF does not answer, and those that it blocks, do not delay the others.
 *
 * `INVOICES` sets how many each of them submits.
 */
import { assert, layer } from "@effect/vitest"
import type { Fault } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const taxpayers = 200
const perTaxpayer = Number(process.env["INVOICES"] ?? 3)

// The test itself takes little time beside the latency of the calls. The concurrency limit of the process is full nearly all
// the time: a call that is never answered takes one of its permits.
const latencyMs = 50_000
const hour = 3_600_000

const troubles: ReadonlyArray<(nip: string) => Fault> = [
  (nip) => ({ do: "stall", on: "*", context: nip, times: "always" }),
  (nip) => ({ do: "block-403", on: "*", context: nip, ms: hour })
]

/** Returns the 95th percentile of the time to the verdict, of the invoices of taxpayers without trouble, in simulated ms. */
const p95 = (troubled: number) =>
  simulated.simulate({ grainMs: 5000 }, (simulation) =>
    Effect.gen(function* () {
      const { ksef, now } = simulation
      const sql = yield* SqlClient.SqlClient
      const owners = yield* live.withDeployment(
        ksef,
        simulated.taxpayers(simulation, taxpayers - troubles.length + troubled)
      )
      const submissions = Effect.forEach(owners, ({ nip, organizationId }) =>
        simulated.submitNumbers(organizationId, nip, 1, perTaxpayer)
      )
      yield* live.withDeployment(ksef, submissions, { hasWorker: false })
      const apart = owners.slice(0, troubled).map(({ nip }) => nip)
      apart.forEach((nip, index) => ksef.faults.add(troubles[index]!(nip)))

      const startedAt = now()
      const ofOthers = sql`
        FROM invoices JOIN organizations ON organizations.id = organization_id
        WHERE NOT credential_context = ANY(string_to_array(${apart.join(",")}, ','))
      `
      const open = sql<{ readonly n: number }>`SELECT count(*)::int AS n ${ofOthers} AND completed_at IS NULL`
      yield* live.withDeployment(
        ksef,
        live.poll(open, ([row]) => row?.n === 0),
        { latencyMs, rescueMs: 10_000 }
      )
      const all = yield* sql<{ readonly ms: number; readonly status: string }>`
        SELECT status, (extract(epoch FROM completed_at) * 1000)::float8 - ${startedAt}::float8 AS ms ${ofOthers}
        ORDER BY completed_at
      `
      assert.lengthOf(all, (taxpayers - troubles.length) * perTaxpayer)
      assert.isTrue(all.every(({ status }) => status === "accepted"))
      assert.strictEqual(ksef.ledger.overLimit, 0)
      return all[Math.floor(all.length * 0.95)]!.ms
    })
  )

layer(layerPostgres, { timeout: "20 minutes", excludeTestServices: true })("200 taxpayers", (it) => {
  it.effect("are delayed by less than a fifth by one that KSeF does not answer and one that it blocks", () =>
    Effect.gen(function* () {
      const alone = yield* p95(0)
      const beside = yield* p95(troubles.length)
      console.log(`p95 in simulated seconds: ${(alone / 1000).toFixed(0)} alone, ${(beside / 1000).toFixed(0)} beside`)
      assert.isBelow(beside / alone, 1.2)
    })
  )
})
