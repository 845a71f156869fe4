import { assert, layer } from "@effect/vitest"
import type { Fault } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { LookupTiming } from "../../../src/invoices/ksef/LaneContext.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { assertExactlyOnce, nameOf, submitMany } from "../../support/liveFaults.ts"
import { layerPostgresLive } from "../../support/TestDatabase.ts"

const faults: ReadonlyArray<Fault> = [
  { do: "5xx", status: 500, on: "refreshToken" },
  { do: "html", on: "refreshToken" },
  { do: "drop-after", on: "refreshToken" }
]

layer(layerPostgresLive, { timeout: "120 seconds", excludeTestServices: true })(
  "an access token that cannot be refreshed while an invoice is sent",
  (it) => {
    for (const fault of faults) {
      it.effect(`has nothing looked up that was not sent: ${nameOf(fault)}`, () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const ksef = yield* live.simulator({ faults: [{ do: "expire-access", on: "sendInvoice" }, fault] })
          const program = Effect.gen(function* () {
            yield* submitMany(ksef, 1)
            return yield* live.eventually(live.allDone, live.invoices)
          })
          const all = yield* live.withDeployment(ksef, program)
          assertExactlyOnce(ksef, all)
          assert.strictEqual(all[0]?.status, "accepted")
          const sql = yield* SqlClient.SqlClient
          const submissions = yield* sql<{ readonly state: string }>`SELECT state FROM national_submissions ORDER BY id`
          // An answer that was lost is looked up until the document counts as absent.
          assert.deepStrictEqual(
            submissions.map(({ state }) => state),
            ["refused", "decided"]
          )
        }).pipe(Effect.provideService(LookupTiming, { mayArriveMs: 1000, intervalMs: 300 }))
      )
    }
  }
)
