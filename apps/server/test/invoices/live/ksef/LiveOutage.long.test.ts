import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fixtures from "../../../support/fixtures.ts"
import * as live from "../../../support/live.ts"
import * as simulated from "../../../support/simulated.ts"
import { databases } from "../../../support/TestDatabase.ts"

const minute = 60_000
const taxpayers = 20
const perTaxpayer = 10
const nips = 1_000_000

// Digits with the right checksum.
const nipOf = (index: number): string => {
  const weights = [6, 5, 7, 2, 3, 4, 5, 6, 7]
  for (let base = nips + index * 1000; ; base++) {
    const digits = `5${String(base).padStart(8, "0")}`
    const sum = weights.reduce((total, weight, place) => total + weight * Number(digits[place]), 0) % 11
    if (sum !== 10) return `${digits}${sum}`
  }
}

layer(databases[0].layer, { timeout: "10 minutes", excludeTestServices: true })("an outage of KSeF", (it) => {
  it.effect("of ten minutes is left alone but for probes, and everything is sent after it", () =>
    simulated.simulate({ grainMs: 1000 }, (simulation) =>
      Effect.gen(function* () {
        const { ksef, now } = simulation
        const sql = yield* SqlClient.SqlClient
        const program = Effect.gen(function* () {
          const owners = yield* Effect.forEach(
            Array.from({ length: taxpayers }, (_, index) => index),
            (index) =>
              Effect.gen(function* () {
                const nip = nipOf(index)
                const organizationId = yield* fixtures.organization
                yield* live.putCredential(organizationId, nip, live.token(ksef.issueToken({ nip })))
                return { nip, organizationId }
              })
          )
          const states = sql<{ readonly n: number }>`
            SELECT count(*)::int AS n FROM organizations WHERE credential_state = 'accepted'
          `
          yield* live.poll(states, ([row]) => row?.n === taxpayers)

          ksef.faults.add({ do: "drop-before", on: "*", times: "always" })
          const beganAt = now()
          const before = ksef.ledger.totalCalls
          for (const { nip, organizationId } of owners) {
            yield* Effect.forEach(
              Array.from({ length: perTaxpayer }, (_, index) => index),
              (index) =>
                live.submit(organizationId, live.fa3({ number: `FV/${index}`, seller: nip }), `${nip}-${index}`)
            )
          }
          yield* simulated.passes(simulation, 10 * minute - (now() - beganAt))
          const calls = ksef.ledger.calls().slice(before)
          const late = calls.filter(({ startedAt }) => startedAt > beganAt + 2 * minute)
          const during = yield* live.invoices
          ksef.faults.clear()
          const all = yield* live.eventually(live.allDone, live.invoices)
          return { all, during, late }
        })
        const { all, during, late } = yield* live.withDeployment(ksef, program)
        // Probes after 15, 30, 60, 120, 240 and 300 s: at most two of them in the last eight minutes, each with the beacon.
        const probes = late.filter(({ operation }) => operation === "listPublicKeys")
        const beacons = late.filter(({ operation }) => operation === "getBeaconStatus")
        assert.isAtMost(probes.length, 2)
        assert.strictEqual(beacons.length, probes.length)
        assert.lengthOf(late, probes.length + beacons.length)
        const tried = during.filter(({ attempt_count: attempts, status }) => attempts > 0 || status !== "queued")
        assert.isAtMost(tried.length, taxpayers * 2)
        assert.lengthOf(all, taxpayers * perTaxpayer)
        assert.isTrue(all.every(({ status }) => status === "accepted"))
        assert.lengthOf(ksef.ledger.accepted(), taxpayers * perTaxpayer)
        assert.strictEqual(ksef.ledger.overLimit, 0)
      })
    )
  )
})
