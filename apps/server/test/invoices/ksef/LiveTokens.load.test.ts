/**
 * Many invoices of one taxpayer, one by one, with access tokens that expire all the time.
 *
 * `INVOICES` sets how many.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const count = Number(process.env["INVOICES"] ?? 300)

// At this speed an access token lives for 2 seconds, a refresh token for 22 minutes, and the windows of limits shrink as much.
const speed = 450
const refreshTokenMs = (7 * 24 * 3_600_000) / speed

layer(layerPostgres, { timeout: "20 minutes", excludeTestServices: true })("short access tokens", (it) => {
  it.effect("fail no attempt, and cause no login while the refresh token is valid", () =>
    simulated.simulate({ grainMs: 100, speed }, (simulation) =>
      Effect.gen(function* () {
        const { ksef, now } = simulation
        const sql = yield* SqlClient.SqlClient
        yield* simulated.withoutCalls(ksef.nip, "batchSession")
        const startedAt = now()
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          yield* simulated.submitNumbers(organizationId, ksef.nip, 1, count)
          const left = sql<{ readonly n: number }>`
            SELECT count(*)::int AS n FROM invoices WHERE NOT (status = 'accepted' AND upo_available)
          `
          yield* live.poll(left, ([row]) => row?.n === 0)
        })
        yield* live.withDeployment(ksef, program, { rescueMs: 10_000 })
        const tookMs = now() - startedAt

        assert.deepStrictEqual(yield* sql`SELECT DISTINCT attempt_count, failure FROM invoices`, [
          { attempt_count: 1, failure: null }
        ])
        assert.lengthOf(new Set(ksef.ledger.accepted().map(({ sha256 }) => sha256)), count)
        assert.strictEqual(ksef.ledger.overLimit, 0)
        const calls = ksef.ledger.calls()
        const counted = (operation: string) => calls.filter((call) => call.operation === operation).length
        assert.isAtLeast(counted("refreshToken"), 2)
        // A clock that advances between the refresh and the call that uses the token can cost one.
        assert.isAtMost(counted("loginWithToken"), 3 + Math.floor(tookMs / refreshTokenMs))
      })
    )
  )
})
