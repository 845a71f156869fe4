import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { GatewayCredentials } from "../../../src/invoices/ksef/GatewayCredentials.ts"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const minute = 60_000

/** More than may be sent one by one within a minute. */
const batchSize = 40

const deleteCredential = Effect.fnUntraced(function* (organizationId: Ids.OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly account_id: Ids.AccountId }>`
    SELECT account_id FROM organizations WHERE id = ${organizationId}
  `
  yield* (yield* GatewayCredentials).remove(row!.account_id, organizationId)
})

layer(layerPostgres, { timeout: "120 seconds", excludeTestServices: true })("a batch that KSeF processes", (it) => {
  for (const { code, name } of [
    { name: "is deleted", code: "gateway_credential_missing" },
    { name: "is refused", code: "gateway_credential_refused" }
  ]) {
    it.effect(
      `shows why its invoices wait when the credential ${name}, and is asked for once another one is accepted`,
      () =>
        simulated.simulate({ grainMs: 1000 }, (simulation) =>
          live.withDeployment(
            simulation.ksef,
            Effect.gen(function* () {
              const { ksef, now } = simulation
              const sql = yield* SqlClient.SqlClient
              ksef.faults.add({ do: "stuck-150", polls: "always", times: batchSize })
              const organizationId = yield* live.taxpayer(ksef)
              yield* simulated.submitNumbers(organizationId, ksef.nip, 1, batchSize)
              const isSubmitted = (all: ReadonlyArray<live.LiveInvoice>) =>
                all.every(({ status }) => status === "submitted")
              yield* live.eventually(isSubmitted, live.invoices)
              const batches = sql`SELECT 1 FROM national_sessions WHERE kind = 'batch' AND state = 'closed'`
              yield* live.poll(batches, ({ length }) => length === 1)
              if (code === "gateway_credential_missing") yield* deleteCredential(organizationId)
              else yield* live.putCredential(organizationId, ksef.nip, live.token(`${ksef.token.slice(0, -4)}0000`))
              yield* simulated.passes(simulation, 3 * minute)
              const shown = yield* sql<{
                readonly code: string | null
              }>`SELECT DISTINCT failure->>'code' AS code FROM invoices`
              assert.deepStrictEqual(shown, [{ code }])

              // As after a day without a credential.
              yield* sql`UPDATE national_sessions SET due_at = due_at + interval '6 hours' WHERE kind = 'batch'`
              const storedAt = now()
              yield* live.putCredential(organizationId, ksef.nip, live.token(ksef.issueToken({ context: ksef.nip })))
              const answers = Effect.sync(() =>
                ksef.ledger
                  .calls()
                  .filter(
                    ({ operation, startedAt: at, status }) =>
                      operation === "getSession" && status === 200 && at >= storedAt
                  )
              )
              const [first] = yield* live.poll(answers, ({ length }) => length > 0)
              assert.isBelow(first!.startedAt - storedAt, minute)
              const left = yield* sql`SELECT 1 FROM invoices WHERE failure IS NOT NULL`
              assert.lengthOf(left, 0)
            }),
            { rescueMs: 10_000 }
          )
        )
    )
  }
})
