/** Another session has locked the lane of one taxpayer, such as a forgotten transaction in `psql`. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { realSleep } from "../../support/FastClock.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgresLive } from "../../support/TestDatabase.ts"

const leaseMs = 3000

const isAccepted = ({ status }: live.LiveInvoice) => status === "accepted"

// The embedded database has one session.
layer(layerPostgresLive, { timeout: "120 seconds", excludeTestServices: true })("a locked lane", (it) => {
  it.effect("takes no lease of another taxpayer, and goes on when it is unlocked", () =>
    Effect.scoped(
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const [first, second, third] = yield* simulated.taxpayers({ ksef, now: Date.now }, 3)
          let count = 0
          const submit = ({ nip, organizationId }: NonNullable<typeof first>) => {
            const number = `FV/${(count += 1)}`
            return live.submit(organizationId, live.fa3({ number, seller: nip }), number)
          }
          const lanes = sql<{ readonly context: string; readonly fencing_token: number; readonly expired_ms: number }>`
            SELECT context, fencing_token, extract(epoch FROM clock_timestamp() - due_at)::float8 * 1000 AS expired_ms
            FROM national_lanes ORDER BY context
          `
          const tokens = Effect.map(lanes, (rows) =>
            Object.fromEntries(rows.map((row) => [row.context, row.fencing_token]))
          )
          for (const one of [first!, second!, third!]) yield* submit(one)
          yield* live.eventually((all) => all.length === 3 && all.every(isAccepted), live.invoices)
          const before = yield* tokens

          const isHeld = yield* Deferred.make<void>()
          const letGo = yield* Deferred.make<void>()
          const holder = yield* Effect.forkChild(
            sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`SET LOCAL idle_in_transaction_session_timeout = 0`
                yield* sql`SELECT FROM national_lanes WHERE context = ${second!.nip} FOR UPDATE`
                yield* Deferred.succeed(isHeld, undefined)
                yield* Deferred.await(letGo)
              })
            )
          )
          yield* Deferred.await(isHeld)
          // Invoices of the others keep their lanes busy until the lease of the locked one has expired long ago.
          const expired = Effect.map(lanes, (rows) => rows.find(({ context }) => context === second!.nip)!.expired_ms)
          while ((yield* expired) < 2 * leaseMs) {
            for (const one of [first!, third!]) yield* submit(one)
            yield* live.eventually((all) => all.every(isAccepted), live.invoices)
            yield* realSleep(500)
          }
          assert.deepStrictEqual(yield* tokens, before)

          yield* submit(second!)
          yield* Deferred.succeed(letGo, undefined)
          yield* Fiber.join(holder)
          yield* live.eventually((all) => all.every(isAccepted), live.invoices)
        })
        yield* live.withDeployment(ksef, program, { leaseMs })
      })
    )
  )
})
