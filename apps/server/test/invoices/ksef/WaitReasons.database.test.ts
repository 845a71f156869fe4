/** Why invoices wait, as their records show it: their rows have nothing of it. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Invoices, layer as invoicesLayer } from "../../../src/invoices/Invoices.ts"
import * as WaitReasons from "../../../src/invoices/ksef/WaitReasons.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { liveDatabase as database } from "../../support/TestDatabase.ts"

const environmentId = "test"
const nip = "5265877635"
const lease = { context: nip, fencingToken: 7 }
const blocked = { code: "gateway_blocked", message: "KSeF blocks the requests of this taxpayer." }
const unavailable = { code: "gateway_unavailable", message: "KSeF is unavailable." }

const inAMinute = () => new Date(Date.now() + 60_000).toISOString()

/** An invoice that no worker sends, and what its record shows. */
const setUp = Effect.gen(function* () {
  yield* fixtures.clear
  const sql = yield* SqlClient.SqlClient
  const organizationId = yield* fixtures.organization
  const ksef = yield* live.simulator()
  const credential = (environment: string, state: string) => sql`
    UPDATE organizations SET credential = '\\x010000', credential_kind = 'ksef_token', credential_context = ${nip},
      credential_environment = ${environment}, credential_state = ${state}, credential_updated_at = now()
  `
  yield* credential(environmentId, "accepted")
  const submitted = live.submit(organizationId, live.fa3({ number: "1", seller: nip }), "1")
  const id = yield* live.withDeployment(ksef, submitted, { hasWorker: false })
  yield* sql`UPDATE national_environment SET environment = ${environmentId}`
  yield* sql`
    INSERT INTO national_lanes (context, fencing_token, is_leased, due_at) VALUES (${nip}, 7, true, now())
    ON CONFLICT (context) DO UPDATE SET fencing_token = 7, is_leased = true, due_at = now()
  `
  const invoices = yield* Invoices
  const record = invoices.find({ organizationId }, id)
  return {
    sql,
    credential,
    record,
    code: Effect.map(record, ({ failure }) => failure?.code),
    reasons: yield* WaitReasons.make(environmentId),
    waits: (seconds: number) => sql`UPDATE invoices SET due_at = now() - ${seconds}::int * interval '1 second'`
  }
})

layer(invoicesLayer.pipe(Layer.provideMerge(database.layer)), { timeout: "120 seconds", excludeTestServices: true })(
  `the reasons of waiting invoices (${database.name})`,
  (it) => {
    it.effect("are those of the lane, the credential or an outage, after thirty seconds", () =>
      Effect.gen(function* () {
        const { code, credential, reasons, record, sql, waits } = yield* setUp
        yield* waits(20)
        assert.isUndefined(yield* code, "it has not waited for long")
        yield* waits(31)
        assert.strictEqual(yield* code, "gateway_limit", "its turn")

        yield* reasons.storeOutage(unavailable)
        assert.deepStrictEqual((yield* record).failure, unavailable)
        const shown = { send: { ...blocked, until: inAMinute() } }
        yield* reasons.store([{ ...lease, reasons: shown }])
        assert.deepStrictEqual((yield* record).failure, blocked)
        yield* credential(environmentId, "refused")
        assert.strictEqual(yield* code, "gateway_credential_refused")
        yield* credential("production", "accepted")
        assert.strictEqual(yield* code, "gateway_credential_missing")

        yield* credential(environmentId, "accepted")
        yield* sql`UPDATE national_lanes SET due_at = now() - interval '2 minutes'`
        assert.deepStrictEqual((yield* record).failure, unavailable, "nobody has taken the lane since")
        yield* sql`UPDATE national_lanes SET due_at = now()`
        assert.strictEqual(yield* code, "gateway_blocked")
        const other = yield* fixtures.organization
        yield* sql`
          UPDATE organizations SET (credential, credential_kind, credential_context, credential_environment, credential_state, credential_updated_at)
            = (SELECT credential, credential_kind, credential_context, credential_environment, 'accepted', now() FROM organizations WHERE id <> ${other})
          WHERE id = ${other}
        `
        yield* sql`UPDATE organizations SET credential_state = 'unchecked' WHERE id <> ${other}`
        assert.include((yield* record).failure?.message, "not accepted the credential", "nothing of a stranger")
        yield* sql`DELETE FROM organizations WHERE id = ${other}`
        yield* reasons.store([{ ...lease, reasons: undefined }])
        yield* sql`UPDATE national_environment SET outage = jsonb_set(outage, '{until}', to_jsonb(now()))`
        yield* credential(environmentId, "unchecked")
        assert.include((yield* record).failure?.message, "not accepted the credential")
        yield* credential(environmentId, "accepted")
        assert.strictEqual(yield* code, "gateway_limit", "the outage is over")
      })
    )

    it.effect("are stored by the holder of the lane, once each", () =>
      Effect.gen(function* () {
        const { code, reasons, sql, waits } = yield* setUp
        yield* waits(31)
        const shown = { send: { ...blocked, until: inAMinute() } }
        yield* reasons.store([{ ...lease, fencingToken: 6, reasons: shown }])
        assert.strictEqual(yield* code, "gateway_limit")
        assert.deepStrictEqual([...(yield* reasons.lastHeld([lease]))], [nip])
        assert.deepStrictEqual([...(yield* reasons.lastHeld([{ ...lease, fencingToken: 6 }]))], [])
        yield* reasons.store([{ ...lease, reasons: shown }])
        assert.strictEqual(yield* code, "gateway_blocked")
        const written = yield* sql`SELECT ctid::text FROM national_lanes`
        yield* reasons.store([{ ...lease, reasons: shown }])
        assert.deepStrictEqual(
          yield* sql`SELECT ctid::text FROM national_lanes`,
          written,
          "the same is not written again"
        )
      })
    )

    it.effect("are those of the lane for invoices that were sent, and postpone the next attempt", () =>
      Effect.gen(function* () {
        const { code, reasons, record, sql } = yield* setUp
        yield* sql`UPDATE invoices SET status = 'submitted', updated_at = now() - interval '31 seconds', created_at = updated_at - interval '1 hour'`
        assert.isUndefined(yield* code, "KSeF is deciding")
        const until = inAMinute()
        yield* reasons.store([{ ...lease, reasons: { send: { ...blocked, until } } }])
        assert.isUndefined(yield* code, "others wait to be sent")
        yield* reasons.storeOutage(unavailable)
        assert.strictEqual(yield* code, "gateway_unavailable")
        const verdicts = { ...unavailable, message: "KSeF does not tell.", until }
        yield* reasons.store([{ ...lease, reasons: { send: { ...blocked, until }, verdicts } }])
        assert.strictEqual((yield* record).failure?.message, verdicts.message)
        yield* sql`
          UPDATE invoices SET status = 'retrying', next_attempt_at = now(), failure = ${JSON.stringify(blocked)}::text::jsonb
        `
        assert.strictEqual((yield* record).next_attempt_at, until)
        assert.strictEqual(yield* code, "gateway_blocked", "its own")
      })
    )
  }
)
