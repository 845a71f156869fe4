/** Three simulated hours of one taxpayer whose invoices go one by one. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as live from "../../../support/live.ts"
import * as simulated from "../../../support/simulated.ts"
import { databases } from "../../../support/TestDatabase.ts"

const minute = 60_000
const hours = 3 * 60 * minute

layer(databases[0].layer, { timeout: "10 minutes", excludeTestServices: true })("three hours at the limit", (it) => {
  for (const [name, holderMs] of [
    ["one holder", hours],
    ["a new holder every five minutes", 5 * minute]
  ] as const) {
    it.effect(`send 540 invoices, and none over the limit: ${name}`, () =>
      simulated.simulate({ grainMs: 3000 }, (simulation) =>
        Effect.gen(function* () {
          const { ksef, now } = simulation
          // Before a holder reads the lane, which would write its own blocks over this one.
          yield* simulated.withoutCalls(ksef.nip, "batchSession")
          yield* live.withDeployment(
            ksef,
            Effect.gen(function* () {
              const organizationId = yield* live.taxpayer(ksef)
              yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 600)
            })
          )
          const sent = () => ksef.ledger.calls().filter(({ operation }) => operation === "sendInvoice")
          const startedAt = Math.min(now(), ...sent().map(({ startedAt: at }) => at))
          while (now() < startedAt + hours) {
            const left = startedAt + hours - now()
            yield* live.withDeployment(ksef, simulated.passes(simulation, Math.min(holderMs, left)), {
              rescueMs: 10_000
            })
          }
          const within = sent().filter(({ startedAt: at }) => at < startedAt + hours)
          assert.approximately(within.length, 540, 2)
          assert.strictEqual(ksef.ledger.overLimit, 0)
          assert.lengthOf(
            ksef.ledger.calls().filter(({ status }) => status === 429),
            0
          )
          assert.lengthOf(new Set(ksef.ledger.accepted().map(({ sha256 }) => sha256)), ksef.ledger.accepted().length)
          // Access tokens live for 15 minutes: they are refreshed when the next hour begins. A stop can interrupt the first login.
          const count = (name_: string) => ksef.ledger.calls().filter(({ operation }) => operation === name_).length
          assert.isAtMost(count("loginWithToken"), 2)
          assert.isAtLeast(count("refreshToken"), 2)
        })
      )
    )
  }
})
