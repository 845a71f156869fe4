import { inspect } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Environment } from "@govoice/ksef/client"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { KeyRing } from "../../../src/crypto/KeyRing.ts"
import * as Logins from "../../../src/invoices/ksef/Logins.ts"
import * as LaneStore from "../../../src/invoices/ksef/LaneStore.ts"
import * as liveTransitions from "../../../src/invoices/ksef/liveTransitions.ts"
import * as LaneQueue from "../../../src/invoices/ksef/LaneQueue.ts"
import { wakeLane } from "../../../src/invoices/ksef/LaneQueue.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { database } from "../../support/TestDatabase.ts"

/** An invoice whose send has begun, with its lane, and what the database has of both. */
const sending = Effect.gen(function* () {
  yield* fixtures.clear
  const sql = yield* SqlClient.SqlClient
  const ksef = yield* live.simulator()
  const submitted = Effect.gen(function* () {
    const organizationId = yield* live.taxpayer(ksef)
    const id = yield* live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
    return { id, organizationId }
  })
  const { id, organizationId } = yield* live.withDeployment(ksef, submitted, { hasWorker: false })
  const environmentId = Result.getOrThrow(Environment.at(ksef.url)).baseUrl
  const services = LaneStore.layerOf(environmentId, 1000).pipe(Layer.provideMerge(LaneQueue.layerOf(environmentId)))
  return yield* Effect.provide(
    Effect.gen(function* () {
      const store = yield* LaneStore.LaneStore
      yield* wakeLane(ksef.nip)
      const { lanes } = yield* (yield* LaneQueue.LaneQueue).claim({
        limit: 1,
        limitOfOthers: 1,
        leaseMs: 30_000,
        leased: []
      })
      const lane = lanes[0]!
      const session = yield* store.beginSession(lane, organizationId, "online")
      const invoice = (yield* store.beginSubmission(lane, session, id, new Date()))!
      const stored = Effect.map(
        sql<{ readonly status: string; readonly state: string; readonly reference: string | null }>`
          SELECT status, state, submission.reference FROM invoices
          JOIN national_submissions AS submission ON submission.invoice_id = invoices.id
        `,
        ([row]) => row!
      )
      const tokens = (yield* Effect.provideService(Logins.makeTokenStore, KeyRing, fixtures.keyRing))(lane)
      return { invoice, lane, organizationId, sql, store, stored, tokens }
    }),
    services
  )
})

layer(database.layer, { timeout: "120 seconds", excludeTestServices: true })(
  `LaneStore.write (${database.name})`,
  (it) => {
    it.effect("does not change the submission of an invoice whose transition does not apply any more", () =>
      Effect.gen(function* () {
        const { invoice, lane, sql, store, stored } = yield* sending
        const now = Date.now()
        const sent = { id: invoice.submission_id, state: "sent", reference: "r", dueAt: new Date(now) } as const
        const changes = { submissions: [sent], transitions: liveTransitions.submitted(invoice, now) }
        yield* sql`UPDATE invoices SET status = 'retrying', next_attempt_at = now()`
        yield* store.write(lane, changes)
        assert.deepStrictEqual(yield* stored, { status: "retrying", state: "sending", reference: null })

        yield* sql`UPDATE invoices SET status = 'submitting', next_attempt_at = NULL`
        yield* store.write(lane, changes)
        assert.deepStrictEqual(yield* stored, { status: "submitted", state: "sent", reference: "r" })
      })
    )

    it.effect("keeps at most one submission of an invoice under way, because the database refuses another", () =>
      Effect.gen(function* () {
        const { invoice, lane, organizationId, sql, store } = yield* sending
        const session = yield* store.beginSession(lane, organizationId, "online")
        assert.isUndefined(yield* store.beginSubmission(lane, session, invoice.id, new Date()))
        for (const state of ["sending", "sent"]) {
          yield* sql`UPDATE national_submissions SET state = ${state}`
          const copy = sql`
              INSERT INTO national_submissions (session_id, organization_id, invoice_id, context, created_at, state, sha256)
              SELECT session_id, organization_id, invoice_id, context, created_at, 'sending', sha256 FROM national_submissions
            `
          assert.include(inspect(yield* Effect.flip(copy), { depth: 9 }), "national_submissions_live_key")
        }
      })
    )

    it.effect("stores the calls that were made, for the next holder of the lane", () =>
      Effect.gen(function* () {
        const { lane, sql, store } = yield* sending
        lane.windows.begin("sessionMisc")
        lane.windows.end("sessionMisc", Date.now(), true)
        assert.isTrue(lane.windows.hasUnstored("sessionMisc"))
        yield* store.write(lane, {})
        assert.isFalse(lane.windows.hasUnstored("sessionMisc"))
        const calls = yield* sql`SELECT jsonb_array_length(used->'sessionMisc') AS n FROM national_lanes`
        assert.deepStrictEqual(calls, [{ n: 1 }])
      })
    )

    it.effect("marks the calls as stored that were written with tokens", () =>
      Effect.gen(function* () {
        const { lane, organizationId, sql, tokens } = yield* sending
        const [organization] = yield* sql<{
          readonly at: Date
        }>`SELECT credential_updated_at AS at FROM organizations`
        const token = Redacted.make("secret")
        const write = tokens.write(organizationId, {
          credentialUpdatedAt: organization!.at.getTime(),
          access: token,
          accessUntil: Date.now() + 60_000,
          earlyMs: 0,
          refresh: token,
          refreshUntil: Date.now() + 60_000
        })
        const call = () => {
          lane.windows.begin("sessionMisc")
          lane.windows.end("sessionMisc", Date.now(), true)
        }
        call()
        assert.isTrue(yield* write)
        assert.isFalse(lane.windows.hasUnstored("sessionMisc"))
        const calls = yield* sql`SELECT jsonb_array_length(used->'sessionMisc') AS n FROM national_lanes`
        assert.deepStrictEqual(calls, [{ n: 1 }])
      })
    )

    it.effect("writes the submission of a receipt that is stored already, which ends its fetches", () =>
      Effect.gen(function* () {
        const { invoice, lane, sql, store } = yield* sending
        yield* sql`
            UPDATE invoices SET status = 'accepted', upo_available = true, official_number = 'n', completed_at = now()
          `
        const now = Date.now()
        const accepted = { ...invoice, status: "accepted" } as const
        yield* store.write(lane, {
          submissions: [{ id: invoice.submission_id, state: "decided", receiptCount: 1, dueAt: null }],
          transitions: [liveTransitions.receipt(accepted, Buffer.from("<UPO/>"), now)]
        })
        const rows = yield* sql`SELECT state, due_at, receipt_count FROM national_submissions`
        assert.deepStrictEqual(rows, [{ state: "decided", due_at: null, receipt_count: 1 }])
        assert.lengthOf(yield* sql`SELECT 1 FROM receipts`, 0)
      })
    )

    // Postgres refuses a prepared statement whose result would have other columns.
    it.effect("reads invoices with statements from before a later version added columns", () =>
      Effect.gen(function* () {
        const { invoice, lane, sql, store } = yield* sending
        const { id } = invoice
        const read = Effect.gen(function* () {
          const session = (yield* store.submissionsOf(id))[0]!.session_id
          assert.isUndefined(yield* store.beginSubmission(lane, session, id, new Date()))
          const read = [
            yield* store.find(id),
            (yield* store.dueVerdicts(lane.context, 10)).rows[0],
            (yield* store.members(session))[0]
          ]
          assert.deepStrictEqual(
            read.map((row) => row?.id),
            [id, id, id]
          )
          return read
        })
        const before = yield* read
        yield* sql`ALTER TABLE invoices ADD COLUMN added_later text`
        yield* sql`ALTER TABLE national_submissions ADD COLUMN added_later text`
        assert.deepStrictEqual(yield* read, before)
      })
    )
  }
)
