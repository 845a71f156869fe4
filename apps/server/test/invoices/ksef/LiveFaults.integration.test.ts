import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fixtures from "../../support/fixtures.ts"
import * as live from "../../support/live.ts"
import { assertExactlyOnce, assertSurvived, nameOf, representative, submitMany } from "../../support/liveFaults.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgresLive } from "../../support/TestDatabase.ts"

layer(layerPostgresLive, { timeout: "120 seconds", excludeTestServices: true })("live mode under faults", (it) => {
  for (const fault of representative) {
    it.effect(`has each invoice accepted once: ${nameOf(fault)}`, () => assertSurvived(fault))
  }

  for (const [code, shown] of [
    [410, "seller_not_permitted"],
    [430, "file_refused"],
    [450, "invalid_document"]
  ] as const) {
    it.effect(`rejects by the verdict ${code} as ${shown}`, () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator({ faults: [{ do: "verdict", code, details: ["powód"] }] })
        const program = Effect.gen(function* () {
          yield* submitMany(ksef, 1)
          return yield* live.eventually(live.allDone, live.invoices)
        })
        const [invoice] = yield* live.withDeployment(ksef, program)
        assert.deepInclude(invoice, { status: "rejected", official_number: null })
        assert.strictEqual(invoice!.rejection?.code, shown)
        assert.include(invoice!.rejection?.message, "powód")
      })
    )
  }

  it.effect("cuts a long reason between characters, and goes on", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      // Two units of UTF-16 each, from an odd one on.
      const details = [`x${"😀".repeat(1000)}`]
      const ksef = yield* live.simulator({ faults: [{ do: "verdict", code: 450, details }] })
      const program = Effect.gen(function* () {
        yield* submitMany(ksef, 2)
        return yield* live.eventually(live.allDone, live.invoices)
      })
      const all = yield* live.withDeployment(ksef, program)
      assert.deepStrictEqual(all.map(({ status }) => status).toSorted(), ["accepted", "rejected"])
      const rejected = all.find(({ status }) => status === "rejected")
      assert.match(rejected!.rejection!.message, /😀$/u)
    })
  )

  it.effect("rejects a duplicate of an invoice that another sender sent, with the number of the original", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const ksef = yield* live.simulator()
      const program = Effect.gen(function* () {
        const organizationId = yield* live.taxpayer(ksef)
        const xml = live.fa3({ number: "FV/1", seller: ksef.nip })
        yield* live.submit(organizationId, xml, "one")
        yield* live.eventually(live.allDone, live.invoices)
        yield* live.submit(organizationId, xml, "two")
        return yield* live.eventually((all) => all.length === 2 && live.allDone(all), live.invoices)
      })
      const [first, second] = yield* live.withDeployment(ksef, program)
      assert.strictEqual(first!.status, "accepted")
      assert.strictEqual(second!.rejection?.code, "duplicate_invoice")
      assert.include(second!.rejection?.message, first!.official_number ?? "a number")
      assertExactlyOnce(ksef, [first!, second!])
    })
  )

  it.effect("shows a refused credential, and continues when it is replaced", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const ksef = yield* live.simulator()
      const readState = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{ readonly state: string; readonly code: string | null }>`
          SELECT credential_state AS state, credential_refusal->>'code' AS code FROM organizations
        `
      )
      const program = Effect.gen(function* () {
        const organizationId = yield* fixtures.organization
        const wrong = `${ksef.token.slice(0, -1)}${ksef.token.endsWith("0") ? "1" : "0"}`
        yield* live.putCredential(organizationId, ksef.nip, live.token(wrong))
        for (const key of ["1", "2"]) {
          yield* live.submit(organizationId, live.fa3({ number: `FV/${key}`, seller: ksef.nip }), key)
        }
        const tried = yield* live.eventually(([one]) => one!.status === "retrying", live.invoices)
        assert.strictEqual(tried[0]!.failure?.code, "gateway_credential_refused")
        assert.deepInclude(tried[1], { status: "queued", attempt_count: 0 })
        assert.deepStrictEqual(yield* readState, [{ state: "refused", code: "credential_invalid" }])

        yield* live.putCredential(organizationId, ksef.nip, live.token(ksef.token))
        const all = yield* live.eventually(live.allDone, live.invoices)
        assert.deepStrictEqual(yield* readState, [{ state: "accepted", code: null }])
        return all
      })
      const all = yield* live.withDeployment(ksef, program)
      assertExactlyOnce(ksef, all)
      assert.deepStrictEqual(
        all.map(({ status }) => status),
        ["accepted", "accepted"]
      )
    })
  )

  it.effect("logs in with a certificate, without a token", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const ksef = yield* live.simulator({ faults: [{ do: "token-login-ends" }] })
      const program = Effect.gen(function* () {
        const organizationId = yield* fixtures.organization
        yield* live.putCredential(organizationId, ksef.nip, live.certificate(ksef))
        yield* live.submit(organizationId, live.fa3({ number: "FV/1", seller: ksef.nip }), "1")
        return yield* live.eventually(live.allDone, live.invoices)
      })
      assertExactlyOnce(ksef, yield* live.withDeployment(ksef, program))
      assert.lengthOf(ksef.ledger.accepted(), 1)
    })
  )

  it.effect("sends invoices as a batch if the windows have no room for them, and stores all receipts", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const ksef = yield* live.simulator()
      const program = Effect.gen(function* () {
        const organizationId = yield* live.taxpayer(ksef)
        const submissions = Array.from({ length: 200 }, (_, index) =>
          live.submit(organizationId, live.fa3({ number: `FV/${index}`, seller: ksef.nip }), `key-${index}`)
        )
        yield* Effect.all(submissions, { concurrency: 50 })
        return yield* live.eventually(live.allDone, live.invoices)
      })
      const all = yield* live.withDeployment(ksef, program)
      assert.lengthOf(all, 200)
      assert.isTrue(all.every(({ status }) => status === "accepted"))
      assertExactlyOnce(ksef, all)
      assert.isAbove(ksef.ledger.calls().filter(({ operation }) => operation === "openBatchSession").length, 0)
    })
  )

  it.effect(
    "accepts one of two invoices with the same document in a batch, and rejects the other as its duplicate",
    () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const ksef = yield* live.simulator()
        const program = Effect.gen(function* () {
          const organizationId = yield* live.taxpayer(ksef)
          const documents = Array.from({ length: 100 }, (_, index) =>
            live.fa3({ number: `FV/${index}`, seller: ksef.nip })
          )
          const submissions = [...documents, ...documents].map((document, index) =>
            live.submit(organizationId, document, `key-${index}`)
          )
          yield* Effect.all(submissions, { concurrency: 50 })
          return yield* live.eventually(live.allDone, live.invoices)
        })
        const all = yield* live.withDeployment(ksef, program)
        const accepted = all.filter(({ status }) => status === "accepted")
        const rejected = all.filter(({ rejection }) => rejection?.code === "duplicate_invoice")
        assert.lengthOf(accepted, 100)
        assert.lengthOf(rejected, 100)
        assertExactlyOnce(ksef, all)
        assert.isAbove(ksef.ledger.calls().filter(({ operation }) => operation === "openBatchSession").length, 0)
      })
  )

  it.effect("sets the reason why a batch cannot be opened on its oldest invoice alone; the others stay queued", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const ksef = yield* live.simulator({ faults: [{ do: "5xx", on: "openBatchSession", times: "always" }] })
      yield* simulated.withoutCalls(ksef.nip, "invoiceSend")
      const program = Effect.gen(function* () {
        yield* submitMany(ksef, 50)
        return yield* live.eventually((found) => found.some(({ status }) => status === "retrying"), live.invoices)
      })
      const all = yield* live.withDeployment(ksef, program)
      const tried = all.filter(({ status }) => status === "retrying")
      assert.strictEqual(tried[0]?.failure?.code, "gateway_unavailable")
      const opens = ksef.ledger.calls().filter(({ operation }) => operation === "openBatchSession")
      assert.isAtMost(tried.length, opens.length)
      const others = all.filter(({ status }) => status !== "retrying")
      assert.isTrue(others.every(({ attempt_count: attempts, status }) => status === "queued" && attempts === 0))
    })
  )
})
