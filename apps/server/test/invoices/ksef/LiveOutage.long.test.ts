import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isShort } from "../../../../../test/support/length.ts"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const minute = 60_000
const taxpayers = 20

layer(layerPostgres, { timeout: "10 minutes", excludeTestServices: true })("an outage of KSeF", (it) => {
  for (const [name, perTaxpayer] of [
    ["200 that go one by one", 10],
    isShort ? (["1,000 that go as batches", 50] as const) : (["5,000 that go as batches", 250] as const)
  ] as const) {
    it.effect(`of ten minutes has no calls but probes, and all invoices are sent after it: ${name}`, () =>
      simulated.simulate({ grainMs: 1000 }, (simulation) =>
        Effect.gen(function* () {
          const { ksef, now } = simulation
          const program = Effect.gen(function* () {
            const owners = yield* simulated.taxpayers(simulation, taxpayers)

            ksef.faults.add({ do: "drop-before", on: "*", times: "always" })
            const before = ksef.ledger.totalCalls
            for (const { nip, organizationId } of owners) {
              yield* simulated.submitNumbers(organizationId, nip, 1, perTaxpayer)
            }
            const submittedAt = now()
            yield* simulated.passes(simulation, 10 * minute)
            const calls = ksef.ledger.calls().slice(before)
            const late = calls.filter(({ startedAt }) => startedAt > submittedAt + 2 * minute)
            const during = yield* live.invoices
            ksef.faults.clear()
            const endedAt = now()
            yield* live.eventually(
              (some) => some.some(({ status }) => status === "submitted" || status === "accepted"),
              live.invoices
            )
            const firstAfterMs = now() - endedAt
            const all = yield* live.finished()
            return { all, during, firstAfterMs, late }
          })
          const { all, during, firstAfterMs, late } = yield* live.withDeployment(ksef, program)
          // A probe every 15 seconds in the last eight minutes, each with the beacon, which may be before or after them.
          const probes = late.filter(({ operation }) => operation === "listPublicKeys")
          const beacons = late.filter(({ operation }) => operation === "getBeaconStatus")
          assert.isAtMost(probes.length, 33)
          assert.approximately(beacons.length, probes.length, 1)
          assert.lengthOf(late, probes.length + beacons.length)
          assert.isAtMost(firstAfterMs, 30_000, "sending goes on with the next probe")
          const tried = during.filter(({ attempt_count: attempts, status }) => attempts > 0 || status !== "queued")
          assert.isAtMost(tried.length, taxpayers * 2)
          assert.lengthOf(all, taxpayers * perTaxpayer)
          assert.isTrue(all.every(({ status }) => status === "accepted"))
          assert.lengthOf(ksef.ledger.accepted(), taxpayers * perTaxpayer)
          assert.strictEqual(ksef.ledger.overLimit, 0)
        })
      )
    )
  }

  it.effect("has the state that the beacon reports in the failures of the invoices that were tried", () =>
    simulated.simulate({ grainMs: 1000 }, (simulation) =>
      Effect.gen(function* () {
        const { ksef } = simulation
        const sentence = " KSeF reports MAINTENANCE."
        const program = Effect.gen(function* () {
          const owners = yield* simulated.taxpayers(simulation, taxpayers)
          ksef.setBeacon("MAINTENANCE")
          for (const on of ["openOnlineSession", "listPublicKeys"] as const) {
            ksef.faults.add({ do: "drop-before", on, times: "always" })
          }
          for (const { nip, organizationId } of owners) yield* simulated.submitNumbers(organizationId, nip, 1, 1)
          const explained = yield* live.eventually((all) => {
            const tried = all.filter(({ status }) => status === "retrying")
            return tried.length >= 10 && tried.every(({ failure }) => failure?.message.endsWith(sentence) === true)
          }, live.invoices)
          ksef.setBeacon("AVAILABLE")
          ksef.faults.clear()
          return { explained, all: yield* live.finished() }
        })
        const { all, explained } = yield* live.withDeployment(ksef, program)
        for (const { failure, status } of explained) {
          if (status !== "retrying") continue
          assert.strictEqual(failure?.code, "gateway_unavailable")
          assert.lengthOf(failure!.message.split(sentence), 2, "it is said once")
        }
        assert.isTrue(all.every(({ failure, status }) => status === "accepted" && failure === null))
      })
    )
  )
})
