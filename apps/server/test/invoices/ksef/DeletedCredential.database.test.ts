import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { GatewayCredentials } from "../../../src/invoices/ksef/GatewayCredentials.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { liveDatabase as database } from "../../support/TestDatabase.ts"

/** Deletes a credential, as its owner does. */
const deleteCredential = Effect.fnUntraced(function* (organizationId: Ids.OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly account_id: Ids.AccountId }>`
    SELECT account_id FROM organizations WHERE id = ${organizationId}
  `
  yield* (yield* GatewayCredentials).remove(row!.account_id, organizationId)
})

layer(database.layer, { timeout: "120 seconds", excludeTestServices: true })(
  `a deleted credential (${database.name})`,
  (it) => {
    it.effect("sends no invoice any more, also while the holder of its lane has it in memory", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const deleted = yield* live.taxpayer(ksef)
          const other = yield* live.taxpayer(ksef)
          const submit = (organizationId: Ids.OrganizationId, number: string) =>
            live.submit(organizationId, live.fa3({ number, seller: ksef.nip }), number)
          yield* submit(deleted, "FV/1")
          yield* submit(other, "FV/2")
          yield* live.eventually(live.allDone, live.invoices)

          yield* deleteCredential(deleted)
          const left = yield* submit(deleted, "FV/3")
          // The lane takes what waits of both in turns: after two of the other, it has looked at the first, too.
          for (const number of ["FV/4", "FV/5"]) {
            const id = yield* submit(other, number)
            const isDone = (all: ReadonlyArray<live.LiveInvoice>) =>
              all.some((one) => one.id === id && live.isDone(one))
            yield* live.eventually(isDone, live.invoices)
          }
          return (yield* live.invoices).find(({ id }) => id === left)
        })
        const left = yield* live.withDeployment(ksef, program)
        assert.include(["queued", "retrying"], left?.status)
        assert.sameMembers(
          ksef.ledger.accepted().map(({ invoiceNumber }) => invoiceNumber),
          ["FV/1", "FV/2", "FV/4", "FV/5"]
        )
      })
    )

    it.effect("has the login that was under way revoked and not stored", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator({ faults: [{ do: "delay", on: "redeemTokens", ms: 3000 }] })
        const calls = (operation: string) => ksef.ledger.calls().filter((call) => call.operation === operation)
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          yield* live.poll(
            Effect.sync(() => calls("getLogin")),
            ({ length }) => length > 0
          )
          yield* deleteCredential(organizationId)
          yield* live.poll(
            Effect.sync(() => calls("revokeCurrentLogin")),
            ({ length }) => length > 0
          )
        })
        yield* live.withDeployment(ksef, program)
        assert.deepStrictEqual(
          calls("revokeCurrentLogin").map(({ status }) => status),
          [204]
        )
        const sql = yield* SqlClient.SqlClient
        assert.lengthOf(yield* sql`SELECT 1 FROM national_logins`, 0)
      })
    )
  }
)
