import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { GatewayCredentials } from "../../../src/invoices/ksef/GatewayCredentials.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { liveDatabase as database } from "../../support/TestDatabase.ts"

const hour = 3_600_000

const submitThree = (organizationId: Parameters<typeof live.submit>[0], seller: string) =>
  Effect.forEach(["1", "2", "3"], (key) => live.submit(organizationId, live.fa3({ number: `FV/${key}`, seller }), key))

const show = (showing: live.LiveInvoice | undefined) => [showing?.status, showing?.failure?.code]

layer(database.layer, { timeout: "120 seconds", excludeTestServices: true })(
  `live invoices without a credential (${database.name})`,
  (it) => {
    it.effect("wait while one of them has the reason, and are sent when a credential is stored", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          const credentials = yield* GatewayCredentials
          const [owner] = yield* sql<{ readonly account_id: never }>`SELECT account_id FROM organizations`
          yield* credentials.remove(owner!.account_id, organizationId)
          yield* submitThree(organizationId, ksef.nip)
          const all = yield* live.eventually(([first]) => first!.status === "retrying", live.invoices)
          assert.deepStrictEqual(all.map(show), [
            ["retrying", "gateway_credential_missing"],
            ["queued", undefined],
            ["queued", undefined]
          ])

          // Its next attempt is hours away.
          yield* sql`
              UPDATE invoices SET due_at = now() + interval '6 hours', next_attempt_at = now() + interval '6 hours'
              WHERE status = 'retrying'
            `
          yield* live.putCredential(organizationId, ksef.nip, live.token(ksef.token))
          return yield* live.eventually(live.allDone, live.invoices)
        })
        const all = yield* live.withDeployment(ksef, program)
        assert.deepStrictEqual(
          all.map(({ status }) => status),
          ["accepted", "accepted", "accepted"]
        )
        assert.lengthOf(ksef.ledger.accepted(), 3)
      })
    )

    it.effect("have the reason at the same invoice until it fails, with its event", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const organizationId = yield* fixtures.organization
          const [first] = yield* submitThree(organizationId, ksef.nip)
          const shown = (attempts: number) => live.eventually(([one]) => one!.attempt_count === attempts, live.invoices)
          yield* shown(1)
          yield* sql`UPDATE invoices SET due_at = now() WHERE status = 'retrying'`
          const again = yield* shown(2)
          assert.deepStrictEqual(again.slice(1).map(show), [
            ["queued", undefined],
            ["queued", undefined]
          ])
          // KSeF may have the document of a session that could not be read.
          yield* sql`
              WITH session AS (
                INSERT INTO national_sessions (organization_id, context, created_at, kind, state)
                VALUES (${organizationId}, ${ksef.nip}, to_timestamp(0), 'online', 'abandoned') RETURNING id
              )
              INSERT INTO national_submissions (session_id, organization_id, invoice_id, context, created_at, state, code, sha256)
              SELECT session.id, organization_id, invoice_id, ${ksef.nip}, to_timestamp(0), 'absent', 403, sha256
              FROM session JOIN invoice_documents ON invoice_id = ${first!}
            `
          const failLongAgo = sql`
              UPDATE invoices SET due_at = now(), first_failed_at = ${new Date(Date.now() - 169 * hour)}
              WHERE status = 'retrying'
            `
          yield* failLongAgo
          assert.deepStrictEqual(show((yield* shown(3))[0]), ["retrying", "gateway_credential_missing"])
          yield* sql`DELETE FROM national_submissions`
          yield* failLongAgo
          const ended = yield* live.eventually(([one]) => one!.status === "failed", live.invoices)
          assert.deepStrictEqual(show(ended[0]), ["failed", "gateway_credential_missing"])
          assert.deepStrictEqual(yield* live.events(first!), ["invoice.received", "invoice.failed"])
        })
        yield* live.withDeployment(ksef, program)
        assert.strictEqual(ksef.ledger.totalCalls, 0)
      })
    )
  }
)
