/** Which of several processes writes why invoices wait. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import type { Simulator } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Notifier from "../../../src/jobs/Notifier.ts"
import * as WaitReasons from "../../../src/invoices/ksef/WaitReasons.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { liveDatabase as database } from "../../support/TestDatabase.ts"

const environmentId = "test"
const nip = "5265877635"
const blocked = { code: "gateway_blocked", message: "KSeF blocks the requests of this taxpayer." }
const unavailable = { code: "gateway_unavailable", message: "KSeF is unavailable." }

/** Submits a live invoice, which no worker sends. */
const submitOne = (ksef: Simulator, organizationId: Ids.OrganizationId) =>
  live.withDeployment(ksef, live.submit(organizationId, live.fa3({ number: "1", seller: nip }), "1"), {
    hasWorker: false
  })

layer(database.layer, { timeout: "120 seconds", excludeTestServices: true })(
  `the reasons of waiting invoices (${database.name})`,
  (it) => {
    it.effect("are those of the process that has the lane, or had it last", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* fixtures.organization
        yield* sql`
            UPDATE organizations SET credential = '\\x010000', credential_kind = 'ksef_token', credential_context = ${nip},
              credential_environment = ${environmentId}, credential_state = 'accepted', credential_updated_at = now()
          `
        const ksef = yield* live.simulator()
        yield* submitOne(ksef, organizationId)
        const hasWaited = (seconds: number) =>
          sql`UPDATE invoices SET failure = NULL, due_at = now() - ${seconds}::int * interval '1 second'`
        const isLeased = (leased: boolean) => sql`
            INSERT INTO national_lanes (context, fencing_token, is_leased, due_at) VALUES (${nip}, 7, ${leased}, now())
            ON CONFLICT (context) DO UPDATE SET fencing_token = 7, is_leased = excluded.is_leased, due_at = now()
          `
        const reasons = yield* WaitReasons.make(environmentId)
        const shown = Effect.map(
          sql<{ readonly code: string | null }>`SELECT failure->>'code' AS code FROM invoices`,
          ([row]) => row?.code
        )

        yield* isLeased(true)
        yield* hasWaited(42)
        yield* reasons.showUnsent([], [], unavailable)
        assert.isNull(yield* shown, "another process has the lane")
        yield* hasWaited(46)
        yield* reasons.showUnsent([], [], unavailable)
        assert.strictEqual(yield* shown, "gateway_unavailable", "which may be stopped")
        yield* hasWaited(42)
        yield* reasons.showUnsent([], [nip], WaitReasons.itsTurn)
        assert.strictEqual(yield* shown, "gateway_limit")

        yield* isLeased(false)
        const lease = { context: nip, fencingToken: 7 }
        assert.deepStrictEqual([...(yield* reasons.lastHeld([lease]))], [nip])
        assert.deepStrictEqual([...(yield* reasons.lastHeld([{ context: nip, fencingToken: 6 }]))], [])
        const trouble = { ...lease, reason: blocked, until: Date.now() + 60_000, isRoutine: false }
        yield* reasons.showUnsent([trouble], [], WaitReasons.itsTurn)
        assert.strictEqual(yield* shown, "gateway_limit", "which it shows already")
        assert.strictEqual(yield* reasons.replace([trouble], [], WaitReasons.itsTurn), 1)
        assert.strictEqual(yield* shown, "gateway_blocked")
        assert.strictEqual(yield* reasons.replace([trouble], [], WaitReasons.itsTurn), 0)
        yield* reasons.replace([], [], unavailable)
        assert.strictEqual(yield* shown, "gateway_blocked", "what is not known replaces nothing")
      })
    )

    it.effect("are shown while those of a large backlog of another organization are replaced", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const large = yield* fixtures.organization
        const ksef = yield* live.simulator()
        yield* submitOne(ksef, large)
        yield* sql`
            UPDATE invoices SET failure = '{"code":"gateway_limit","message":"It waits."}', due_at = now() - interval '1 hour'
          `
        yield* sql`
            INSERT INTO invoices SELECT copy.* FROM invoices CROSS JOIN generate_series(2, 6000) AS number
            CROSS JOIN LATERAL jsonb_populate_record(invoices, jsonb_build_object('id', 'inv_' || number)) AS copy
          `
        const small = yield* fixtures.organization
        yield* submitOne(ksef, small)
        yield* sql`UPDATE invoices SET due_at = now() - interval '50 seconds' WHERE organization_id = ${small}`
        const reasons = yield* WaitReasons.make(environmentId)
        assert.strictEqual(yield* reasons.showUnsent([], [], WaitReasons.itsTurn), 1)
        let replaced = 0
        for (let count = -1; count !== 0; replaced += count) {
          count = yield* reasons.replace([], [], WaitReasons.itsTurn)
          assert.isAtMost(count, 1000)
        }
        assert.strictEqual(replaced, 6000)
        const shown = yield* sql`
            SELECT failure->>'code' AS code, count(*)::int FROM invoices GROUP BY 1
          `
        assert.deepStrictEqual(shown, [{ code: "gateway_credential_missing", count: 6001 }])
      })
    )

    it.effect("are shown however many organizations wait", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* fixtures.organization
        const ksef = yield* live.simulator()
        yield* submitOne(ksef, organizationId)
        const waiting = 2500
        yield* sql`UPDATE invoices SET due_at = now() - interval '50 seconds'`
        yield* sql`
            INSERT INTO organizations (id, account_id, created_at, name)
            SELECT 'org_' || number, account_id, created_at, name
            FROM organizations CROSS JOIN generate_series(2, ${waiting}::int) AS number
          `
        yield* sql`
            INSERT INTO invoices SELECT copy.* FROM invoices CROSS JOIN generate_series(2, ${waiting}::int) AS number
            CROSS JOIN LATERAL jsonb_populate_record(
              invoices, jsonb_build_object('id', 'inv_' || number, 'organization_id', 'org_' || number)
            ) AS copy
          `
        yield* sql`
            INSERT INTO invoice_documents SELECT copy.* FROM invoice_documents
            CROSS JOIN generate_series(2, ${waiting}::int) AS number
            CROSS JOIN LATERAL jsonb_populate_record(
              invoice_documents, jsonb_build_object('invoice_id', 'inv_' || number, 'organization_id', 'org_' || number)
            ) AS copy
          `
        const shown = (status: string) =>
          Effect.map(
            sql<{ readonly count: number }>`
                SELECT count(*)::int FROM invoices WHERE status = ${status} AND failure->>'code' = 'gateway_credential_missing'
              `,
            ([row]) => row!.count
          )

        const reasons = yield* WaitReasons.make(environmentId)
        assert.strictEqual(yield* reasons.showUnsent([], [], WaitReasons.itsTurn), waiting)
        assert.strictEqual(yield* shown("queued"), waiting)
        assert.strictEqual(yield* reasons.replace([], [], WaitReasons.itsTurn), 0)

        const showMissing = yield* Effect.provide(WaitReasons.makeShowMissing(environmentId), Notifier.layer)
        while ((yield* showMissing) > 0);
        assert.strictEqual(yield* shown("retrying"), waiting)
      })
    )
  }
)
