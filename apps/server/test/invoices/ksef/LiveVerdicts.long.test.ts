/** The final states of invoices by the statuses of KSeF, in simulated time. */
import { assert, layer } from "@effect/vitest"
import type { Fault, Simulator } from "@govoice/ksef-simulator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as live from "../../support/live.ts"
import * as simulated from "../../support/simulated.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const hour = 3_600_000

// Of waits that take hours, and of those that take days. What is due within one comes late by as much.
const longGrainMs = 300_000
const longestGrainMs = 1_800_000

const calls = ({ ledger }: Simulator, operation: string) =>
  ledger.calls().filter((call) => call.operation === operation)

const assertExactlyOnce = ({ ledger }: Simulator, all: ReadonlyArray<live.LiveInvoice>) => {
  assert.sameMembers(
    all.filter(({ status }) => status === "accepted").map(({ official_number: number }) => number),
    ledger.accepted().map(({ ksefNumber }) => ksefNumber)
  )
  assert.strictEqual(ledger.overLimit, 0)
}

/** Submits invoices under faults, and returns them when they are final. */
const finalUnder = (
  faults: ReadonlyArray<Fault>,
  count: number,
  grainMs = 5000,
  isDone: (all: ReadonlyArray<live.LiveInvoice>) => boolean = live.allDone
) =>
  simulated.simulate({ faults, grainMs }, ({ ksef, now }) =>
    Effect.gen(function* () {
      const startedAt = now()
      const program = Effect.gen(function* () {
        const organizationId = yield* live.taxpayer(ksef)
        yield* simulated.submitNumbers(organizationId, ksef.nip, 1, count)
        return yield* live.eventually(isDone, live.invoices)
      })
      const all = yield* live.withDeployment(ksef, program)
      return { all, ksef, tookMs: now() - startedAt }
    })
  )

/** Submits an invoice, and waits until it was sent. */
const sendOne = Effect.fnUntraced(function* (ksef: Simulator) {
  const sql = yield* SqlClient.SqlClient
  const organizationId = yield* live.taxpayer(ksef)
  yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 1)
  const sent = sql`SELECT 1 FROM national_submissions WHERE state = 'sent'`
  yield* live.poll(sent, (rows) => rows.length === 1)
})

const attachment = `<Zalacznik><BlokDanych><MetaDane><ZKlucz>k</ZKlucz><ZWartosc>w</ZWartosc></MetaDane><Tekst><Akapit>a</Akapit></Tekst></BlokDanych></Zalacznik>`

/** More than may be sent one by one within a minute. */
const batchSize = 40

layer(layerPostgres, { timeout: "120 seconds", excludeTestServices: true })(
  "live mode after a status of KSeF",
  (it) => {
    for (const code of [405, 435, 500, 550]) {
      it.effect(`sends the same document again a minute and then five minutes after ${code}`, () =>
        Effect.gen(function* () {
          const { all, ksef, tookMs } = yield* finalUnder([{ do: "verdict", code, times: 2 }], 1)
          assert.strictEqual(all[0]!.status, "accepted")
          assertExactlyOnce(ksef, all)
          assert.lengthOf(calls(ksef, "sendInvoice"), 3)
          assert.isAtLeast(tookMs, 6 * 60_000)
        })
      )
    }

    it.effect("fails an invoice with national_system_error after the sixth error, ten hours later", () =>
      Effect.gen(function* () {
        const { all, ksef, tookMs } = yield* finalUnder([{ do: "verdict", code: 500, times: "always" }], 1, longGrainMs)
        assert.deepInclude(all[0], { status: "failed", official_number: null })
        assert.strictEqual(all[0]!.failure?.code, "national_system_error")
        assert.lengthOf(calls(ksef, "sendInvoice"), 6)
        assert.isAtLeast(tookMs, 10 * hour)
      })
    )

    for (const code of [405, 415, 420, 430, 435, 440, 500]) {
      it.effect(`has every invoice of a batch that ended with ${code} accepted once`, () =>
        Effect.gen(function* () {
          const { all, ksef } = yield* finalUnder([{ do: "verdict", on: "session", code }], batchSize)
          assert.isTrue(all.every(({ status }) => status === "accepted"))
          assertExactlyOnce(ksef, all)
          assert.lengthOf(ksef.ledger.accepted(), batchSize)
          const isAlone = code === 405 || code === 430 || code === 435
          if (isAlone) assert.lengthOf(calls(ksef, "openBatchSession"), 1, "its documents go one by one")
        })
      )
    }

    it.effect("halves a batch that has too many documents (420)", () =>
      simulated.simulate({ faults: [{ do: "verdict", on: "session", code: 420 }] }, ({ ksef }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* simulated.withoutCalls(ksef.nip, "invoiceSend")
          const organizationId = yield* live.withDeployment(ksef, live.taxpayer(ksef), { hasWorker: false })
          const submitting = simulated.submitNumbers(organizationId, ksef.nip, 1, batchSize)
          yield* live.withDeployment(ksef, submitting, { hasWorker: false })
          const all = yield* live.withDeployment(ksef, live.eventually(live.allDone, live.invoices))
          assertExactlyOnce(ksef, all)
          const batches = yield* sql<{ readonly n: number }>`
          SELECT document_count AS n FROM national_sessions WHERE kind = 'batch' ORDER BY id
        `
          assert.deepStrictEqual(
            batches.map(({ n }) => n),
            [batchSize, batchSize / 2, batchSize / 2]
          )
        })
      )
    )

    it.effect("reads the invoices of a batch that has no valid one (445)", () =>
      Effect.gen(function* () {
        const { all, ksef } = yield* finalUnder([{ do: "verdict", code: 450, times: "always" }], batchSize)
        assert.isTrue(
          all.every(({ rejection, status }) => status === "rejected" && rejection?.code === "invalid_document")
        )
        assert.lengthOf(ksef.ledger.accepted(), 0)
        assert.lengthOf(calls(ksef, "openBatchSession"), 1)
      })
    )

    it.effect("accepts a duplicate (440) whose original is an earlier submission of the same invoice", () =>
      simulated.simulate({ faults: [{ do: "drop-before", on: "getInvoice", times: 3 }] }, ({ ksef }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const program = Effect.gen(function* () {
            yield* sendOne(ksef)
            // As if its session had been given up.
            yield* sql`UPDATE national_submissions SET state = 'refused', due_at = to_timestamp(0)`
            return yield* live.eventually(live.allDone, live.invoices)
          })
          const all = yield* live.withDeployment(ksef, program)
          assert.strictEqual(all[0]!.status, "accepted")
          assert.lengthOf(calls(ksef, "sendInvoice"), 2)
          assert.lengthOf(calls(ksef, "downloadInvoice"), 0)
          assertExactlyOnce(ksef, all)
        })
      )
    )

    for (const { isOlder, name, status } of [
      {
        name: "accepts a duplicate (440) that was sent before, although the database has lost it",
        isOlder: false,
        status: "accepted"
      },
      {
        name: "rejects a duplicate (440) whose original was accepted before the invoice was here",
        isOlder: true,
        status: "rejected"
      }
    ]) {
      it.effect(name, () =>
        simulated.simulate({ faults: [{ do: "drop-before", on: "getInvoice", times: 3 }] }, ({ ksef }) =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const program = Effect.gen(function* () {
              yield* sendOne(ksef)
              // As on a replica that is promoted and was behind.
              yield* sql`DELETE FROM national_submissions`
              yield* sql`
                UPDATE invoices SET status = 'queued', submitted_at = NULL, due_at = to_timestamp(0),
                  created_at = created_at + ${isOlder ? "1 day" : "0 days"}::interval, updated_at = updated_at + interval '1 day'
              `
              return yield* live.eventually(live.allDone, live.invoices)
            })
            const [invoice] = yield* live.withDeployment(ksef, program)
            const [original] = ksef.ledger.accepted()
            assert.lengthOf(ksef.ledger.accepted(), 1)
            assert.lengthOf(calls(ksef, "sendInvoice"), 2)
            assert.strictEqual(invoice!.status, status)
            assert.strictEqual(invoice!.official_number, isOlder ? null : original!.ksefNumber)
            assert.lengthOf(calls(ksef, "downloadInvoice"), isOlder ? 0 : 1)
          })
        )
      )
    }

    for (const extensions of ["right", "none", "wrong-session"] as const) {
      for (const original of ["matching", "other-hash"] as const) {
        it.effect(`resolves a duplicate by download: original ${original}, extensions ${extensions}`, () =>
          Effect.gen(function* () {
            const faults: ReadonlyArray<Fault> = [
              { do: "verdict", code: 500 },
              { do: "440", nth: 2, original, extensions }
            ]
            const grainMs = extensions === "none" ? longGrainMs : 5000
            // Its receipt is in the session that is named.
            const isFinal = ([one]: ReadonlyArray<live.LiveInvoice>) =>
              one!.status !== "submitted" && one!.status !== "submitting" && one!.status !== "queued"
            const isDone = extensions === "wrong-session" ? isFinal : live.allDone
            const { all, ksef } = yield* finalUnder(faults, 1, grainMs, isDone)
            const [invoice] = all
            const [first] = ksef.ledger.accepted()
            if (extensions === "none") {
              // Nothing names the original: it is looked for during a day.
              assert.deepInclude(invoice, { status: "failed" })
              assert.strictEqual(invoice!.failure?.code, "duplicate_unresolved")
            } else if (original === "matching") {
              assert.deepInclude(invoice, { status: "accepted", official_number: first?.ksefNumber ?? "none" })
            } else {
              assert.strictEqual(invoice!.rejection?.code, "duplicate_invoice")
              assert.include(invoice!.rejection?.message, first?.ksefNumber)
            }
          })
        )
      }
    }

    it.effect("fails no duplicate while the lookup of its original is refused by a limit, also after a day", () =>
      simulated.simulate({ grainMs: longGrainMs }, ({ ksef, now }) =>
        Effect.gen(function* () {
          const startedAt = now()
          ksef.faults.add({ do: "verdict", code: 500 })
          ksef.faults.add({ do: "440", nth: 2, original: "matching", extensions: "right" })
          // A lookup every 15 minutes: more than a day.
          ksef.faults.add({ do: "429", retryAfter: 60, on: "downloadInvoice", times: 110 })
          const program = Effect.gen(function* () {
            const organizationId = yield* live.taxpayer(ksef)
            yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 1)
            return yield* live.eventually(live.allDone, live.invoices)
          })
          const all = yield* live.withDeployment(ksef, program)
          assert.isAbove(now() - startedAt, 24 * 3_600_000)
          assert.strictEqual(all[0]!.status, "accepted")
        })
      )
    )

    it.effect("sends the documents of a batch once more if its session cannot be read for an hour", () =>
      simulated.simulate({ grainMs: 60_000 }, ({ ksef, now }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const startedAt = now()
          ksef.faults.add({ do: "session-gone", on: "getSession" })
          const program = Effect.gen(function* () {
            const organizationId = yield* live.taxpayer(ksef)
            yield* simulated.submitNumbers(organizationId, ksef.nip, 1, batchSize)
            const isAccepted = (all: ReadonlyArray<live.LiveInvoice>) =>
              all.every(({ status }) => status === "accepted")
            return yield* live.eventually(isAccepted, live.invoices)
          })
          // Time advances further at once than a usual lease lasts.
          const all = yield* live.withDeployment(ksef, program, { leaseMs: 600_000 })
          assert.isAtLeast(now() - startedAt, hour)
          assertExactlyOnce(ksef, all)
          assert.lengthOf(new Set(ksef.ledger.accepted().map(({ sha256 }) => sha256)), batchSize)
          const sessions =
            yield* sql`SELECT state, code FROM national_sessions WHERE kind = 'batch' ORDER BY id LIMIT 1`
          assert.deepStrictEqual(sessions, [{ state: "abandoned", code: 403 }])
          assert.lengthOf(yield* sql`SELECT 1 FROM national_submissions WHERE state IN ('sending', 'sent')`, 0)
        })
      )
    )

    for (const [what, operation, sending, count] of [
      ["a batch", "getSession", "openBatchSession", batchSize],
      ["an interactive session", "getInvoice", "sendInvoice", 1]
    ] as const) {
      it.effect(`waits for ${what} that is processed for hours and cannot be read for less than one of them`, () =>
        Effect.gen(function* () {
          // The 41st poll is more than an hour after the first.
          const faults: ReadonlyArray<Fault> = [
            { do: "stuck-150", polls: 50, times: count },
            { do: "exception", code: 21173, on: operation, nth: 30, times: 2 }
          ]
          const { all, ksef, tookMs } = yield* finalUnder(faults, count, 60_000)
          assert.isAbove(tookMs, hour)
          assert.isTrue(all.every(({ status }) => status === "accepted"))
          assert.strictEqual(calls(ksef, operation).filter(({ status }) => status === 400).length, 2)
          assert.lengthOf(calls(ksef, sending), 1, "nothing is sent again")
          assertExactlyOnce(ksef, all)
        })
      )
    }

    it.effect("opens a full batch again after a minute, then two, while uploads are refused", () =>
      simulated.simulate({ grainMs: 5000 }, (simulation) =>
        Effect.gen(function* () {
          const { ksef } = simulation
          ksef.faults.add({ do: "html", status: 403, on: "uploadPart", times: 2 })
          const program = Effect.gen(function* () {
            const organizationId = yield* live.taxpayer(ksef)
            yield* simulated.withoutCalls(ksef.nip, "invoiceSend")
            yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 2000)
            return organizationId
          })
          yield* live.withDeployment(ksef, program, { hasWorker: false })
          const all = yield* live.withDeployment(ksef, live.finished())
          assertExactlyOnce(ksef, all)
          const [first, second, third, ...others] = calls(ksef, "openBatchSession").map(({ startedAt }) => startedAt)
          assert.isAtLeast(second! - first!, 60_000)
          assert.isAtLeast(third! - second!, 120_000)
          assert.lengthOf(others, 0)
        })
      )
    )

    it.effect("sends documents one by one while uploads are refused, and fails an attachment in the end", () =>
      simulated.simulate({ grainMs: longestGrainMs }, ({ ksef, now }) =>
        Effect.gen(function* () {
          const startedAt = now()
          ksef.faults.add({ do: "html", status: 403, on: "uploadPart", times: "always" })
          const program = Effect.gen(function* () {
            const organizationId = yield* live.taxpayer(ksef)
            yield* live.submit(organizationId, live.fa3({ number: "FV/A", seller: ksef.nip, extra: attachment }), "a")
            yield* simulated.submitNumbers(organizationId, ksef.nip, 1, batchSize)
            return yield* live.eventually(live.allDone, live.invoices)
          })
          const [first, ...others] = yield* live.withDeployment(ksef, program)
          assert.deepInclude(first, { status: "failed", official_number: null })
          assert.strictEqual(first!.failure?.code, "gateway_unavailable")
          assert.match(first!.failure!.message, /archive of a batch could not be uploaded/u)
          assert.isAtLeast(now() - startedAt, 168 * hour)
          assert.isAtMost(calls(ksef, "openBatchSession").length, 168 + 10, "one an hour")
          assert.isTrue(others.every(({ status }) => status === "accepted"))
          assertExactlyOnce(ksef, others)
        })
      )
    )

    it.effect("sends an attachment in a batch, and rejects one that the taxpayer may not send", () =>
      simulated.simulate({}, ({ ksef }) =>
        Effect.gen(function* () {
          const program = Effect.gen(function* () {
            const organizationId = yield* live.taxpayer(ksef)
            const submitOne = (number: string) =>
              live.submit(organizationId, live.fa3({ number, seller: ksef.nip, extra: attachment }), number)
            yield* submitOne("FV/1")
            yield* live.eventually(live.allDone, live.invoices)
            yield* Effect.promise(() =>
              fetch(`${ksef.url}/testdata/attachment`, {
                method: "POST",
                headers: { "content-type": "application/json" },
                body: JSON.stringify({ nip: ksef.nip })
              })
            )
            yield* submitOne("FV/2")
            return yield* live.eventually((all) => all.length === 2 && live.allDone(all), live.invoices)
          })
          const all = yield* live.withDeployment(ksef, program)
          assert.strictEqual(all[0]!.rejection?.code, "attachment_not_allowed")
          assert.strictEqual(all[1]!.status, "accepted")
          assert.lengthOf(calls(ksef, "openOnlineSession"), 0)
          assert.lengthOf(calls(ksef, "openBatchSession"), 2)
        })
      )
    )

    it.effect("fetches receipts by the API if the links of a batch return a page", () =>
      Effect.gen(function* () {
        const { all, ksef } = yield* finalUnder([{ do: "upo-html", times: "always" }], batchSize)
        assert.isTrue(all.every(({ status, upo_available: isThere }) => status === "accepted" && isThere))
        assert.isAtLeast(calls(ksef, "getInvoiceUpo").length, batchSize)
        assertExactlyOnce(ksef, all)
      })
    )

    // Neither the API has the receipt, nor the link of the verdict.
    const withoutReceipts: ReadonlyArray<Fault> = [
      { do: "upo-late", times: "always" },
      { do: "upo-html", times: "always" }
    ]

    it.effect("keeps an accepted invoice without its receipt, and stops asking for it after a week", () =>
      simulated.simulate({ grainMs: longestGrainMs, faults: withoutReceipts }, (simulation) =>
        Effect.gen(function* () {
          const { ksef } = simulation
          const sql = yield* SqlClient.SqlClient
          const program = Effect.gen(function* () {
            const organizationId = yield* live.taxpayer(ksef)
            yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 1)
            yield* live.eventually(([one]) => one!.status === "accepted", live.invoices)
            const due = sql<{ readonly isDue: boolean }>`
            SELECT due_at IS NOT NULL AS "isDue" FROM national_submissions
          `
            yield* live.poll(due, ([row]) => row?.isDue === false)
          })
          yield* live.withDeployment(ksef, program)
          const [invoice] = yield* live.invoices
          assert.deepInclude(invoice, { status: "accepted", upo_available: false, failure: null })
          const requests = calls(ksef, "getInvoiceUpo")
          assert.isAtLeast(requests.at(-1)!.startedAt - requests[0]!.startedAt, 6.7 * 24 * hour)
        })
      )
    )

    it.effect("fails an invoice that was never sent, after the time to give up", () =>
      simulated.simulate({ grainMs: longestGrainMs }, ({ ksef, now }) =>
        Effect.gen(function* () {
          const startedAt = now()
          const program = Effect.gen(function* () {
            const organizationId = yield* live.taxpayer(ksef)
            const state = Effect.flatMap(
              SqlClient.SqlClient,
              (sql) => sql<{ readonly s: string }>`SELECT credential_state AS s FROM organizations`
            )
            yield* live.poll(state, ([row]) => row?.s === "accepted")
            ksef.faults.add({ do: "5xx", on: "*", times: "always" })
            yield* simulated.submitNumbers(organizationId, ksef.nip, 1, 1)
            return yield* live.eventually(live.allDone, live.invoices)
          })
          const [invoice] = yield* live.withDeployment(ksef, program)
          assert.strictEqual(invoice!.status, "failed")
          assert.strictEqual(invoice!.failure?.code, "gateway_unavailable")
          assert.isAtLeast(now() - startedAt, 168 * hour)
        })
      )
    )
  }
)
