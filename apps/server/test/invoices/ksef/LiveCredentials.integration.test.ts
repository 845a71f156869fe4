import { assert, layer } from "@effect/vitest"
import type { Simulator } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { liveDatabases } from "../../support/TestDatabase.ts"

const minute = 60_000

interface Refused {
  readonly refusals: number
  readonly code: string | null
  /** In how many minutes the lane is due. */
  readonly dueIn: number | null
}

const refusals = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Refused>`
    SELECT credential_refusals AS refusals, credential_refusal->>'code' AS code,
           (extract(epoch FROM national_lanes.due_at - now()) / 60)::float8 AS "dueIn"
    FROM organizations LEFT JOIN national_lanes ON nip = credential_nip
    ORDER BY organizations.created_at, organizations.id
  `
)

/** Waits until the credential was refused so often and the lane rests. */
const refusedTimes = (count: number) =>
  Effect.map(
    live.poll(refusals, ([row]) => row?.refusals === count && (row.dueIn ?? 0) > 1),
    ([row]) => row!
  )

const wrongToken = ({ token }: Simulator) => live.token(`${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`)

const withOne = (ksef: Simulator, credential: Parameters<typeof live.putCredential>[2]) =>
  Effect.gen(function* () {
    const organizationId = yield* fixtures.organization
    yield* live.putCredential(organizationId, ksef.nip, credential)
    yield* live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
    return organizationId
  })

/** Ends the wait for the next login. */
const age = (ms: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      WITH organization AS (UPDATE organizations SET credential_checked_at = ${new Date(Date.now() - ms)}),
      invoice AS (UPDATE invoices SET due_at = now())
      UPDATE national_lanes SET due_at = now()
    `
  )

layer(liveDatabases[0].layer, { timeout: "120 seconds", excludeTestServices: true })(
  "credentials that KSeF refuses",
  (it) => {
    it.effect("are tried after 15 minutes, then an hour, also by another process", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const first = yield* live.withDeployment(ksef, Effect.andThen(withOne(ksef, wrongToken(ksef)), refusedTimes(1)))
        assert.approximately(first.dueIn ?? 0, 15, 1)

        yield* age(16 * minute)
        const second = yield* live.withDeployment(ksef, refusedTimes(2))
        assert.approximately(second.dueIn ?? 0, 60, 1)

        // Woken too early, it does not log in.
        const calls = ksef.ledger.totalCalls
        yield* age(16 * minute)
        const third = yield* live.withDeployment(ksef, Effect.delay(refusedTimes(2), 1500))
        assert.approximately(third.dueIn ?? 0, 44, 1)
        assert.strictEqual(ksef.ledger.totalCalls, calls)
      })
    )

    it.effect("are tried after six hours if the taxpayer is blocked", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator({ faults: [{ do: "verdict", on: "login", code: 480 }] })
        for (const credential of [live.token(ksef.token), live.certificate(ksef)]) {
          yield* fixtures.clear
          const row = yield* live.withDeployment(ksef, Effect.andThen(withOne(ksef, credential), refusedTimes(1)))
          assert.strictEqual(row.code, "context_blocked")
          assert.approximately(row.dueIn ?? 0, 360, 1)
          yield* Effect.promise(() => ksef.faults.apply({ do: "verdict", on: "login", code: 480 }))
        }
      })
    )

    it.effect("are taken as the end of logins by token once three tokens are refused, and not for certificates", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator({
          faults: [{ do: "verdict", on: "login", code: 450, details: ["Nieprawidłowy token"], times: 3 }]
        })
        const program = Effect.gen(function* () {
          for (const count of [1, 2, 3]) {
            const organizationId = yield* fixtures.organization
            yield* live.putCredential(organizationId, ksef.nip, live.token(ksef.token))
            yield* live.poll(refusals, (all) => all.filter(({ code }) => code !== null).length === count)
          }
          const withCertificate = yield* fixtures.organization
          yield* live.putCredential(withCertificate, ksef.nip, live.certificate(ksef))
          yield* live.submit(withCertificate, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
          yield* live.eventually(live.allDone, live.invoices)
          return yield* refusals
        })
        const all = yield* live.withDeployment(ksef, program)
        assert.deepStrictEqual(
          all.map(({ code }) => code),
          ["credential_invalid", "credential_invalid", "token_login_refused", null]
        )
        assert.lengthOf(ksef.ledger.accepted(), 1)
      })
    )

    it.effect("belong to the first environment that is set, where none was set before", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const sql = yield* SqlClient.SqlClient
        yield* live.withDeployment(ksef, live.taxpayer(ksef))
        yield* sql`
          UPDATE organizations SET credential_environment = NULL, credential_state = 'unchecked', credential_checked_at = NULL
        `
        yield* sql`TRUNCATE national_environment, national_lanes, national_logins`
        const state = sql<{ readonly state: string }>`
          SELECT credential_state AS state FROM organizations WHERE credential_environment = ${ksef.url}
        `
        yield* live.withDeployment(
          ksef,
          live.poll(state, ([row]) => row?.state === "accepted")
        )
      })
    )
  }
)
