/** Submitted invoices that are sent again while no session can be opened, in simulated time. */
import { assert, layer } from "@effect/vitest"
import type { Fault } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const minute = 60_000

/** An invoice that is sent again under a fault, and one behind it that was not sent before. */
const resentUnder = <A, E, R>(
  fault: Fault,
  program: (simulation: simulated.Simulation, ids: { resent: string; behind: string }) => Effect.Effect<A, E, R>
) =>
  simulated.simulate({ grainMs: 1000, faults: [{ do: "verdict", code: 500 }] }, (simulation) =>
    Effect.gen(function* () {
      const { ksef } = simulation
      const sql = yield* SqlClient.SqlClient
      const submit = (organizationId: Parameters<typeof live.submit>[0], number: string) =>
        live.submit(organizationId, live.fa3({ number, seller: ksef.nip }), number)
      const started = Effect.gen(function* () {
        const organizationId = yield* live.taxpayer(ksef)
        const resent = yield* submit(organizationId, "FV/1")
        const refused = sql`SELECT 1 FROM national_submissions WHERE invoice_id = ${resent} AND state = 'refused'`
        yield* live.poll(refused, ({ length }) => length === 1)
        return { organizationId, resent }
      })
      const { organizationId, resent } = yield* live.withDeployment(ksef, started)
      ksef.faults.add(fault)
      yield* sql`UPDATE national_submissions SET due_at = to_timestamp(0) WHERE invoice_id = ${resent}`
      const rest = Effect.gen(function* () {
        const behind = yield* submit(organizationId, "FV/2")
        return yield* program(simulation, { resent, behind })
      })
      return yield* live.withDeployment(ksef, rest)
    })
  )

const withId = (id: string) => (all: ReadonlyArray<live.LiveInvoice>) => all.find((one) => one.id === id)!

layer(layerPostgres, { timeout: "120 seconds", excludeTestServices: true })("an invoice that is sent again", (it) => {
  it.effect("waits longer after each failed session, while the invoice behind it has the reason", () =>
    resentUnder({ do: "5xx", on: "openOnlineSession", times: "always" }, (simulation, { behind, resent }) =>
      Effect.gen(function* () {
        const { ksef, now } = simulation
        const sql = yield* SqlClient.SqlClient
        const tried = yield* live.eventually((all) => withId(behind)(all).status === "retrying", live.invoices)
        assert.strictEqual(withId(behind)(tried).failure?.code, "gateway_unavailable")
        assert.strictEqual(withId(resent)(tried).status, "submitted")
        const newest = sql<{ readonly at: Date; readonly n: number }>`
          SELECT due_at AS at, check_count AS n FROM national_submissions WHERE invoice_id = ${resent}
        `
        const [row] = yield* live.poll(newest, ([one]) => one!.n >= 4)
        assert.isAtLeast(row!.at.getTime() - now(), 5 * minute)
        ksef.faults.clear()
        const all = yield* live.eventually(live.allDone, live.invoices)
        assert.deepStrictEqual(
          all.map(({ status }) => status),
          ["accepted", "accepted"]
        )
        assert.lengthOf(ksef.ledger.accepted(), 2)
      })
    )
  )

  for (const on of ["openOnlineSession", "sendInvoice"] as const) {
    it.effect(`is tried without end if KSeF may have it: ${on} fails`, () =>
      simulated.simulate({ grainMs: 1000, faults: [{ do: "5xx", on, times: "always" }] }, ({ ksef }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const program = Effect.gen(function* () {
            const organizationId = yield* live.taxpayer(ksef)
            const id = yield* live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
            yield* live.eventually(([one]) => one!.status === "retrying", live.invoices)
            // A submission whose session could not be read, and a first failure that is older than the time to give up.
            yield* sql`
              WITH session AS (
                INSERT INTO national_sessions (organization_id, context, created_at, kind, state)
                VALUES (${organizationId}, ${ksef.nip}, to_timestamp(0), 'online', 'abandoned') RETURNING id
              )
              INSERT INTO national_submissions (session_id, organization_id, invoice_id, context, created_at, state, code, sha256)
              SELECT session.id, organization_id, ${id}, ${ksef.nip}, to_timestamp(0), 'absent', 403, invoice_documents.sha256
              FROM session JOIN invoice_documents ON invoice_id = ${id}
            `
            yield* sql`UPDATE invoices SET first_failed_at = to_timestamp(0) WHERE id = ${id}`
            const tried = yield* live.eventually(([one]) => one!.attempt_count >= 3, live.invoices)
            assert.notStrictEqual(tried[0]!.status, "failed")
            ksef.faults.clear()
            return yield* live.eventually(live.allDone, live.invoices)
          })
          const [invoice] = yield* live.withDeployment(ksef, program)
          assert.strictEqual(invoice!.status, "accepted")
        })
      )
    )
  }

  it.effect("fails alone if KSeF refuses to open its session as malformed", () =>
    resentUnder({ do: "exception", code: 21405, on: "openOnlineSession", times: 1 }, ({ ksef }, { behind, resent }) =>
      Effect.gen(function* () {
        const all = yield* live.eventually(live.allDone, live.invoices)
        assert.deepInclude(withId(resent)(all), { status: "failed", official_number: null })
        assert.strictEqual(withId(resent)(all).failure?.code, "gateway_protocol_error")
        assert.strictEqual(withId(behind)(all).status, "accepted")
        assert.lengthOf(ksef.ledger.accepted(), 1)
      })
    )
  )

  it.effect("leaves it to the invoice behind it to have a refused credential as its reason", () =>
    resentUnder({ do: "revoke-token" }, ({ ksef }, { behind }) =>
      Effect.gen(function* () {
        ksef.faults.add({ do: "expire-access", on: "openOnlineSession", times: "always" })
        const all = yield* live.eventually((found) => withId(behind)(found).failure !== null, live.invoices)
        assert.strictEqual(withId(behind)(all).failure?.code, "gateway_credential_refused")
      })
    )
  )
})
