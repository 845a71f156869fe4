/** Simulated hours of one taxpayer whose invoices go one by one. */
import { assert, layer } from "@effect/vitest"
import type { Simulator } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { casesOf, isShort } from "../../../../../test/support/length.ts"
import * as live from "../../support/live.ts"
import { makeRandom } from "../../support/Random.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const minute = 60_000
const hour = 60 * minute
const hours = 3 * hour

const sends = ({ ledger }: Simulator) => ledger.calls().filter(({ operation }) => operation === "sendInvoice")

const submitMany = (ksef: Simulator, count: number) =>
  Effect.gen(function* () {
    // Before a holder reads the lane, which would write its own blocks over this one.
    yield* simulated.withoutCalls(ksef.nip, "batchSession")
    yield* live.withDeployment(
      ksef,
      Effect.gen(function* () {
        const organizationId = yield* live.taxpayer(ksef)
        yield* simulated.submitNumbers(organizationId, ksef.nip, 1, count)
      })
    )
  })

const assertWithinLimits = ({ ledger }: Simulator) => {
  assert.strictEqual(ledger.overLimit, 0)
  assert.lengthOf(
    ledger.calls().filter(({ status }) => status === 429),
    0
  )
  assert.lengthOf(new Set(ledger.accepted().map(({ sha256 }) => sha256)), ledger.accepted().length)
}

layer(layerPostgres, { timeout: "20 minutes", excludeTestServices: true })(
  "a taxpayer with more invoices than its limit",
  (it) => {
    for (const { holderMs, maxLatencyMs, name } of casesOf(
      [
        { name: "one holder", holderMs: hours, maxLatencyMs: 0 },
        { name: "a new holder every five minutes", holderMs: 5 * minute, maxLatencyMs: 0 },
        { name: "calls that take up to three seconds", holderMs: hours, maxLatencyMs: 3000 },
        { name: "a new holder every five minutes, and such calls", holderMs: 5 * minute, maxLatencyMs: 3000 }
      ],
      ({ holderMs, maxLatencyMs }) => maxLatencyMs === 0 && holderMs < hours
    )) {
      it.effect(`has 540 invoices sent in three hours, and no call over the limit: ${name}`, () =>
        simulated.simulate({ grainMs: maxLatencyMs === 0 ? 3000 : 1000 }, (simulation) =>
          Effect.gen(function* () {
            const { ksef, now } = simulation
            const { upTo } = makeRandom(1)
            yield* submitMany(ksef, 600)
            const startedAt = Math.min(now(), ...sends(ksef).map(({ startedAt: at }) => at))
            while (now() < startedAt + hours) {
              const left = startedAt + hours - now()
              yield* live.withDeployment(ksef, simulated.passes(simulation, Math.min(holderMs, left)), {
                rescueMs: 10_000,
                ...(maxLatencyMs === 0 ? {} : { latencyMs: () => upTo(maxLatencyMs) })
              })
            }
            const within = sends(ksef).filter(({ startedAt: at }) => at < startedAt + hours)
            // A send that is under way when its holder stops occupies the window, whether or not it arrives. One that waits for its
            // connection then has not entered it, so the sum may be greater.
            const sql = yield* SqlClient.SqlClient
            const lost = yield* sql`SELECT 1 FROM national_submissions WHERE state IN ('absent', 'sending')`
            assert.isAtLeast(within.length + lost.length, 538)
            assert.isAtMost(within.length, 542)
            assert.isAtMost(lost.length, maxLatencyMs === 0 || holderMs === hours ? 2 : 10)
            assertWithinLimits(ksef)
            // Access tokens live for 15 minutes: they are refreshed when the next hour begins. A stop can interrupt the first login.
            const count = (name_: string) => ksef.ledger.calls().filter(({ operation }) => operation === name_).length
            assert.isAtMost(count("loginWithToken"), 2)
            assert.isAtLeast(count("refreshToken"), 2)
          })
        )
      )
    }

    it.effect("has 600 receipts whose links fail within ten minutes: 120 may be requested in one", () => {
      const count = 600
      const faults = [{ do: "5xx", on: "downloadUpo", times: count }] as const
      return simulated.simulate({ faults, grainMs: 1000 }, ({ ksef, now }) =>
        Effect.gen(function* () {
          const startedAt = now()
          const submitting = Effect.gen(function* () {
            yield* simulated.submitNumbers(yield* live.taxpayer(ksef), ksef.nip, 1, count)
            yield* live.finished()
          })
          yield* live.withDeployment(ksef, submitting, { rescueMs: 10_000 })
          assert.isBelow(now() - startedAt, 10 * minute)
          assertWithinLimits(ksef)
        })
      )
    })

    it.effect.skipIf(isShort)("has a thousand invoices sent in five hours and three minutes", () =>
      simulated.simulate({ grainMs: 3000 }, ({ ksef }) =>
        Effect.gen(function* () {
          const count = 1000
          yield* submitMany(ksef, count)
          yield* live.withDeployment(ksef, live.finished(), { rescueMs: 10_000 })
          const sent = sends(ksef)
          assert.lengthOf(sent, count)
          assert.lengthOf(ksef.ledger.accepted(), count)
          assertWithinLimits(ksef)
          // 180 in the first six minutes, as many in those after each of five hours, and a hundred of them in the last.
          const tookMs = sent.at(-1)!.startedAt - sent[0]!.startedAt
          assert.approximately(tookMs, 5 * hour + 3 * minute, 0.02 * (5 * hour + 3 * minute))
        })
      )
    )
  }
)
