import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import type { Simulator } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgresLive } from "../../support/TestDatabase.ts"

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
    FROM organizations LEFT JOIN national_lanes ON context = credential_context
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

layer(layerPostgresLive, { timeout: "120 seconds", excludeTestServices: true })(
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

    it.effect("take no receipt away, which is fetched once another one is accepted", () =>
      simulated.simulate({ grainMs: 1000 }, (simulation) =>
        live.withDeployment(
          simulation.ksef,
          Effect.gen(function* () {
            const { ksef, now } = simulation
            const sql = yield* SqlClient.SqlClient
            ksef.faults.add({ do: "upo-late", times: "always" })
            ksef.faults.add({ do: "upo-html", times: "always" })
            const organizationId = yield* withOne(ksef, live.token(ksef.token))
            yield* live.eventually((all) => all.some(({ status }) => status === "accepted"), live.invoices)
            yield* live.putCredential(organizationId, ksef.nip, wrongToken(ksef))
            // As after more than a week.
            yield* sql`UPDATE invoices SET completed_at = completed_at - interval '8 days'`
            yield* simulated.passes(simulation, 20 * minute)
            const logins = ksef.ledger.calls().filter(({ operation }) => operation === "loginWithToken")
            assert.isAtMost(logins.length, 3, "one that was accepted, and two within 20 minutes that were not")
            ksef.faults.clear()
            const storedAt = now()
            yield* live.putCredential(organizationId, ksef.nip, live.token(ksef.issueToken({ context: ksef.nip })))
            yield* live.finished()
            // Seconds, and some more where statements are slow while the time of the simulation passes.
            assert.isBelow(now() - storedAt, 5 * minute)
          }),
          { rescueMs: 10_000 }
        )
      )
    )

    it.effect("are tried again although an earlier login of theirs is stored", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const sql = yield* SqlClient.SqlClient
        const states = sql<{ readonly state: string }>`SELECT credential_state AS state FROM organizations`
        const accepted = live.poll(states, ([row]) => row?.state === "accepted")
        const token = live.token(ksef.token)
        yield* live.withDeployment(
          ksef,
          Effect.andThen(withOne(ksef, token), Effect.andThen(live.finished(), accepted))
        )
        const [organization] = yield* sql<{ readonly id: Ids.OrganizationId }>`
          UPDATE organizations SET
            credential_state = 'refused', credential_refusals = 1,
            credential_refusal = '{"code": "credential_invalid", "message": "Refused"}'
          RETURNING id
        `
        const xml = live.fa3({ number: "FV/2", seller: ksef.nip })
        yield* live.withDeployment(ksef, live.submit(organization!.id, xml, "2"), { hasWorker: false })
        yield* age(16 * minute)
        yield* live.withDeployment(ksef, Effect.andThen(live.finished(), accepted))
        assert.lengthOf(ksef.ledger.accepted(), 2)
      })
    )

    it.effect("leave verdicts that are read once another one is accepted", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator({ processingMs: 4000 })
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          yield* live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
          yield* live.eventually(([one]) => one?.status === "submitted", live.invoices)
          yield* live.putCredential(organizationId, ksef.nip, wrongToken(ksef))
          const waits = ([one]: ReadonlyArray<live.LiveInvoice>) => one?.failure?.code === "gateway_credential_refused"
          yield* live.eventually(waits, live.invoices)
          yield* live.putCredential(organizationId, ksef.nip, live.certificate(ksef))
          return yield* live.eventually(live.allDone, live.invoices)
        })
        const [invoice] = yield* live.withDeployment(ksef, program)
        assert.strictEqual(invoice?.status, "accepted")
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

    it.effect(
      "are taken as the end of logins by token once three are refused that were accepted, and not for certificates",
      () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const sql = yield* SqlClient.SqlClient
          const ksef = yield* live.simulator()
          const refused = (count: number) =>
            live.poll(refusals, (all) => all.filter(({ code }) => code !== null).length === count)
          // The order of those that were made in one millisecond is left to chance.
          const owners = (yield* Effect.replicateEffect(fixtures.organization, 3)).toSorted()
          const storing = Effect.gen(function* () {
            for (const id of owners) yield* live.putCredential(id, ksef.nip, live.token(ksef.token))
            yield* live.poll(
              sql`SELECT FROM organizations WHERE credential_state = 'accepted'`,
              ({ length }) => length === 3
            )
            for (const count of [1, 2, 3]) {
              yield* live.putCredential(yield* fixtures.organization, ksef.nip, live.token("of nobody"))
              yield* refused(count)
            }
          })
          yield* live.withDeployment(ksef, storing)
          yield* sql`DELETE FROM national_logins`
          ksef.faults.add({ do: "verdict", on: "login", code: 450, details: ["Nieprawidłowy token"], times: 3 })
          const program = Effect.gen(function* () {
            for (const [index, id] of owners.entries()) {
              yield* live.submit(id, live.fa3({ number: `FV/${index}`, seller: ksef.nip }), `${index}`)
              yield* refused(4 + index)
            }
            const withCertificate = yield* fixtures.organization
            yield* live.putCredential(withCertificate, ksef.nip, live.certificate(ksef))
            yield* live.submit(withCertificate, live.fa3({ number: "FV/3", seller: ksef.nip }), "3")
            yield* live.poll(
              Effect.sync(() => ksef.ledger.accepted()),
              ({ length }) => length === 1
            )
            return yield* refusals
          })
          const all = yield* live.withDeployment(ksef, program)
          assert.deepStrictEqual(
            all.map(({ code }) => code?.replace("credential_", "")),
            // Of the owners, of the others, and of the certificate.
            ["invalid", "invalid", "token_login_refused", "invalid", "invalid", "invalid", undefined]
          )
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
