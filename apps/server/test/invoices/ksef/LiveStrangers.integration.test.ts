/** Credentials of a taxpayer that KSeF has not accepted: anybody who knows the number of another can store them. */
import { assert, layer } from "@effect/vitest"
import type { Simulator } from "@govoice/ksef-simulator"
import { Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { layerPostgresLive } from "../../support/TestDatabase.ts"

const strangers = 10

const organizationsIn = (state: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT FROM organizations WHERE credential_state = ${state}`)

const putStranger = (id: Parameters<typeof live.putCredential>[0], nip: string, token = "not of this taxpayer") =>
  live.putCredential(id, nip, live.token(token))

/** A taxpayer whose credential KSeF has accepted. */
const acceptedTaxpayer = (ksef: Simulator) =>
  Effect.tap(live.taxpayer(ksef), () => live.poll(organizationsIn("accepted"), ({ length }) => length === 1))

/** Sends an invoice of a taxpayer, stores the credential of a stranger, and sends another when a login with that has begun. */
const sendBeside = Effect.fnUntraced(function* (
  ksef: Simulator,
  { begun, token }: { readonly begun: "createChallenge" | "loginWithToken"; readonly token?: string },
  disturb: Effect.Effect<unknown, unknown, SqlClient.SqlClient> = Effect.void
) {
  const id = yield* live.taxpayer(ksef)
  yield* live.submit(id, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
  yield* live.finished()
  yield* disturb
  const before = ksef.ledger.calls().length
  yield* putStranger(yield* fixtures.organization, ksef.nip, token)
  yield* live.poll(
    Effect.sync(() => ksef.ledger.calls().slice(before)),
    (calls) => calls.some(({ operation }) => operation === begun)
  )
  yield* live.submit(id, live.fa3({ number: "FV/2", seller: ksef.nip }), "2")
  yield* live.finished()
})

/** How many calls of an operation came before the first invoice was sent, since so many calls of any. */
const callsBeforeSend = (ksef: Simulator, since: number, wanted: string): number => {
  const operations = ksef.ledger
    .calls()
    .slice(since)
    .map(({ operation }) => operation)
  return operations.slice(0, operations.indexOf("sendInvoice")).filter((one) => one === wanted).length
}

layer(layerPostgresLive, { timeout: "120 seconds", excludeTestServices: true })(
  "credentials that are not accepted",
  (it) => {
    for (const state of ["unchecked", "refused"] as const) {
      it.effect(`delay no invoice of an organization whose credential is: ${state}, and due`, () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const sql = yield* SqlClient.SqlClient
          const ksef = yield* live.simulator()
          const others = yield* Effect.replicateEffect(fixtures.organization, strangers)
          const storeOthers = Effect.forEach(others, (id) => putStranger(id, ksef.nip))
          const organizationId = yield* live.withDeployment(
            ksef,
            Effect.gen(function* () {
              const id = yield* acceptedTaxpayer(ksef)
              if (state === "refused") {
                yield* storeOthers
                yield* live.poll(organizationsIn("refused"), ({ length }) => length === strangers)
              }
              return id
            })
          )
          const stored = Effect.gen(function* () {
            if (state === "unchecked") yield* storeOthers
            for (const [index, id] of [...others, organizationId].entries()) {
              yield* live.submit(id, live.fa3({ number: `FV/${index}`, seller: ksef.nip }), "1")
            }
          })
          yield* live.withDeployment(ksef, stored, { hasWorker: false })
          yield* sql`
            UPDATE organizations SET credential_checked_at = credential_checked_at - interval '1 hour'
            WHERE credential_state = 'refused'
          `
          yield* sql`UPDATE national_lanes SET due_at = now()`
          ksef.faults.add({ do: "stall", on: "loginWithToken", times: "always" })
          const before = ksef.ledger.calls().length
          const accepted = Effect.sync(() => ksef.ledger.accepted())
          yield* live.withDeployment(
            ksef,
            live.poll(accepted, ({ length }) => length === 1)
          )
          // One may begin beside it.
          assert.isAtMost(callsBeforeSend(ksef, before, "loginWithToken"), 1)
        })
      )
    }

    it.effect("delay no invoice while KSeF does not answer their logins", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          yield* sendBeside(
            ksef,
            { begun: "createChallenge" },
            Effect.sync(() => ksef.faults.add({ do: "stall", on: "loginWithToken", times: "always" }))
          )
          return yield* sql<{ readonly seconds: number }>`
            SELECT extract(epoch FROM completed_at - created_at)::float8 AS seconds FROM invoices WHERE mode = 'live' ORDER BY id DESC LIMIT 1
          `
        })
        const [{ seconds } = { seconds: Infinity }] = yield* live.withDeployment(ksef, program)
        assert.isBelow(seconds, 15)
      })
    )

    it.effect("of many taxpayers delay no invoice of another one", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const organizationId = yield* live.withDeployment(ksef, acceptedTaxpayer(ksef))
        const others = yield* Effect.replicateEffect(fixtures.organization, 210)
        const stored = Effect.gen(function* () {
          for (const [index, id] of others.entries()) {
            yield* putStranger(id, String(5_000_000_000 + index))
          }
          yield* live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
        })
        yield* live.withDeployment(ksef, stored, { hasWorker: false })
        ksef.faults.add({ do: "stall", on: "loginWithToken", times: "always" })
        const before = ksef.ledger.calls().length
        yield* live.withDeployment(ksef, live.finished())
        assert.isAtMost(callsBeforeSend(ksef, before, "createChallenge"), 50)
      })
    )

    it.effect("keep a taxpayer in no cell", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const ksef = yield* live.simulator()
        yield* sql`INSERT INTO cells (name, is_control, url) VALUES ('a', true, 'http://a'), ('b', false, 'http://b')`
        const cellsOfTaxpayers = sql<{ readonly nip: string; readonly cell: string }>`SELECT * FROM cell_taxpayers`
        const refusals = sql<{ readonly message: string }>`
          SELECT credential_refusal->>'message' AS message FROM organizations WHERE credential_state = 'refused'
        `
        const organizationId = yield* fixtures.organization
        const put = (text: string) => live.putCredential(organizationId, ksef.nip, live.token(text))
        const program = Effect.gen(function* () {
          yield* put("not of this taxpayer")
          yield* live.poll(refusals, ({ length }) => length === 1)
          assert.isEmpty(yield* cellsOfTaxpayers)
          yield* put(ksef.token)
          const [claimed] = yield* live.poll(cellsOfTaxpayers, ({ length }) => length > 0)
          assert.deepStrictEqual(claimed, { nip: ksef.nip, cell: "a" })
        })
        yield* live.withDeployment(ksef, program, { cell: "a" })

        // A credential is accepted in another cell first.
        yield* live.withDeployment(ksef, put(ksef.token), { cell: "a", hasWorker: false })
        yield* sql`UPDATE cell_taxpayers SET cell = 'b'`
        const [refused] = yield* live.withDeployment(
          ksef,
          live.poll(refusals, ({ length }) => length === 1),
          { cell: "a" }
        )
        assert.include(refused!.message, `govoice cells move ${organizationId} --to b`)
        const served = yield* Effect.flip(live.withDeployment(ksef, put(ksef.token), { cell: "a", hasWorker: false }))
        assert.deepInclude(served, { _tag: "ServedByOtherCell", cell: "b" })
      })
    )

    it.effect("end no lane, also where no login can be made with one", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const lanes = sql<{ readonly fencing_token: number }>`SELECT fencing_token FROM national_lanes`
          const before = yield* Deferred.make<ReadonlyArray<object>, unknown>()
          // More bytes than can be encrypted.
          const token = "ż".repeat(160)
          yield* sendBeside(ksef, { begun: "createChallenge", token }, Deferred.complete(before, lanes))
          assert.deepStrictEqual(yield* lanes, yield* Deferred.await(before))
        })
        yield* live.withDeployment(ksef, program)
      })
    )

    it.effect("delay no retry of an invoice", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const ksef = yield* live.simulator()
        const organizationId = yield* live.withDeployment(
          ksef,
          Effect.gen(function* () {
            const id = yield* acceptedTaxpayer(ksef)
            yield* putStranger(yield* fixtures.organization, ksef.nip)
            yield* live.poll(organizationsIn("refused"), ({ length }) => length === 1)
            return id
          })
        )
        const submitted = live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
        yield* live.withDeployment(ksef, submitted, { hasWorker: false })
        yield* sql`
          UPDATE invoices SET status = 'retrying', due_at = now() + interval '1 minute', next_attempt_at = now() + interval '1 minute'
        `
        const released = sql<{ readonly dueIn: number }>`
          SELECT extract(epoch FROM due_at - now())::float8 AS "dueIn" FROM national_lanes WHERE NOT is_leased AND due_at > now()
        `
        const [row] = yield* live.withDeployment(
          ksef,
          live.poll(released, ({ length }) => length === 1)
        )
        assert.isAtMost(row!.dueIn, 60)
      })
    )

    for (const fault of ["block-403", "5xx"] as const) {
      it.effect(`pause no other one, whatever their logins are answered: ${fault}`, () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const sql = yield* SqlClient.SqlClient
          const ksef = yield* live.simulator()
          const program = Effect.gen(function* () {
            yield* sendBeside(
              ksef,
              { begun: "loginWithToken" },
              Effect.sync(() => ksef.faults.add({ do: fault, on: "loginWithToken", times: "always" }))
            )
            return yield* sql<{ readonly blocked: object }>`SELECT blocked FROM national_lanes`
          })
          assert.deepStrictEqual(yield* live.withDeployment(ksef, program), [{ blocked: {} }])
        })
      )
    }
  }
)
