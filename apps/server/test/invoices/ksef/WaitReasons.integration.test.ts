/** Which of several processes writes why invoices wait. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as WaitReasons from "../../../src/invoices/ksef/WaitReasons.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { liveDatabases } from "../../support/TestDatabase.ts"

const environmentId = "test"
const nip = "5265877635"
const blocked = { code: "gateway_blocked", message: "KSeF blocks the requests of this taxpayer." }
const unavailable = { code: "gateway_unavailable", message: "KSeF is unavailable." }

for (const database of liveDatabases) {
  layer(database.layer, { timeout: "120 seconds", excludeTestServices: true })(
    `the reasons of waiting invoices (${database.name})`,
    (it) => {
      it.effect("are those of the process that has the lane, or had it last", () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const sql = yield* SqlClient.SqlClient
          const organizationId = yield* fixtures.organization
          yield* sql`
            UPDATE organizations SET credential = '\\x010000', credential_kind = 'ksef_token', credential_nip = ${nip},
              credential_environment = ${environmentId}, credential_state = 'accepted', credential_updated_at = now()
          `
          const ksef = yield* live.simulator()
          yield* live.withDeployment(ksef, live.submit(organizationId, live.fa3({ number: "1", seller: nip }), "1"), {
            hasWorker: false
          })
          yield* sql`UPDATE invoices SET due_at = now() - interval '50 seconds'`
          const isLeased = (leased: boolean) => sql`
            INSERT INTO national_lanes (nip, fencing_token, is_leased, due_at) VALUES (${nip}, 7, ${leased}, now())
            ON CONFLICT (nip) DO UPDATE SET fencing_token = 7, is_leased = excluded.is_leased, due_at = now()
          `
          const reasons = yield* WaitReasons.make(environmentId)
          const shown = Effect.map(
            sql<{ readonly code: string | null }>`SELECT failure->>'code' AS code FROM invoices`,
            ([row]) => row?.code
          )

          yield* isLeased(true)
          yield* reasons.showUnsent([], [], unavailable)
          assert.isNull(yield* shown, "another process has the lane")
          yield* reasons.showUnsent([], [nip], WaitReasons.itsTurn)
          assert.strictEqual(yield* shown, "gateway_limit")

          yield* isLeased(false)
          const lease = { nip, fencingToken: 7 }
          assert.deepStrictEqual([...(yield* reasons.lastHeld([lease]))], [nip])
          assert.deepStrictEqual([...(yield* reasons.lastHeld([{ nip, fencingToken: 6 }]))], [])
          const trouble = { ...lease, reason: blocked, until: Date.now() + 60_000, isRoutine: false }
          yield* reasons.showUnsent([trouble], [], WaitReasons.itsTurn)
          assert.strictEqual(yield* shown, "gateway_blocked")
          yield* reasons.showUnsent([], [], unavailable)
          assert.strictEqual(yield* shown, "gateway_blocked", "what is not known replaces nothing")
        })
      )
    }
  )
}
