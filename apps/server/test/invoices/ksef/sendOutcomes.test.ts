import { assert, describe, it } from "@effect/vitest"
import { notOpened, notSent } from "../../../src/invoices/ksef/sendOutcomes.ts"
import type { StepFailure } from "../../../src/invoices/ksef/LaneContext.ts"
import type { SendingInvoice, SubmissionRow } from "../../../src/invoices/ksef/laneRows.ts"
import * as StatusRules from "../../../src/invoices/ksef/StatusRules.ts"

const minute = 60_000
const hour = 60 * minute
const giveUp = { giveUpMs: 168 * hour, random: 0.5 }
const reason = { code: "gateway_unavailable", message: "KSeF failed." }
const attempt: StepFailure = { reason, kind: "attempt", until: 0, stopsLane: true }

// Has the columns that the rule reads.
const invoice = { submission_id: "9", status: "submitted", attempt_count: 2, updated_at: new Date(0) } as SendingInvoice

/** Submissions, the newest first, by when they were begun and how they ended. */
const all = (...ends: ReadonlyArray<readonly [handedOverAt: number, code: number | null]>) =>
  ends.map(([at, code]) => ({ handed_over_at: new Date(at), code }) as SubmissionRow)

const dueAt = (submissions: ReadonlyArray<SubmissionRow>, now: number, failure = attempt) =>
  notSent(invoice, submissions, failure, now, giveUp).submissions?.[0]?.dueAt?.getTime()

describe("a submitted invoice that KSeF did not judge, and that cannot be sent again", () => {
  const judged = [-hour, 500] as const

  it("is tried after waits that grow from a minute to six hours", () => {
    assert.strictEqual(dueAt(all([0, null], judged), 0), minute)
    const tries = (count: number) => Array.from({ length: count }, (_, index) => [-index * hour, null] as const)
    assert.strictEqual(dueAt(all(...tries(30), judged), 0), 6 * hour)
  })

  it("fails if it could not be sent for the time to give up, with the error of KSeF and the reason", () => {
    const submissions = all([0, null], [-giveUp.giveUpMs, null], judged)
    assert.isNumber(dueAt(submissions, -1))
    const { submissions: changes, transitions } = notSent(invoice, submissions, attempt, 0, giveUp)
    assert.deepStrictEqual(changes, [{ id: "9", state: "refused", dueAt: null }])
    assert.deepInclude(transitions?.[0]?.transition, {
      status: "failed",
      emits: "invoice.failed",
      failure: {
        code: "national_system_error",
        message: "KSeF did not process the invoice, and it could not be sent again. KSeF failed."
      }
    })
  })

  it("is tried for the whole time after each error of KSeF", () => {
    assert.isNumber(dueAt(all([0, null], [-minute, 500], [-giveUp.giveUpMs, null], judged), 0))
  })

  it("is tried without end if KSeF may have it", () => {
    const submissions = all([0, null], [-2 * giveUp.giveUpMs, StatusRules.unreadableSession])
    assert.isAtLeast(dueAt(submissions, 0)!, minute)
  })

  it("is tried in another session each minute, and after some of them with the waits of other errors", () => {
    const again = { ...attempt, kind: "again" } as const
    const tries = (count: number) => all(...Array.from({ length: count }, () => [0, null] as const), judged)
    assert.strictEqual(dueAt(tries(3), 0, again), minute)
    assert.strictEqual(dueAt(tries(30), 0, again), 6 * hour)
    const old = all(...Array.from({ length: 4 }, () => [-giveUp.giveUpMs, null] as const), judged)
    assert.strictEqual(notSent(invoice, old, again, 0, giveUp).transitions?.[0]?.transition.status, "failed")
  })

  it("waits for a limit without end", () => {
    const postponed = { ...attempt, kind: "postponed", until: 10 * minute } as const
    assert.strictEqual(dueAt(all([0, null], [-2 * giveUp.giveUpMs, null]), 0, postponed), 10 * minute)
  })
})

describe("a submitted invoice whose session cannot be opened", () => {
  const newest = (failures: number, code: number | null = 500) =>
    ({
      status: "submitted",
      submission_id: "9",
      submission_state: "refused",
      handed_over_at: new Date(-2 * giveUp.giveUpMs),
      updated_at: new Date(0),
      check_count: failures,
      code
    }) as SubmissionRow
  const change = (failures: number, failure = attempt) =>
    notOpened([newest(failures)], failure, 0, giveUp).submissions?.[0]

  it("waits longer after each failure, and counts the failures at its submission", () => {
    assert.deepStrictEqual(change(0), { id: "9", state: "refused", dueAt: new Date(minute), checkCount: 1 })
    assert.deepInclude(change(20), { dueAt: new Date(6 * hour), checkCount: 21 })
  })

  it("fails after the time to give up since the first failure, however long KSeF took before", () => {
    const failedAt = Array.from({ length: 100 }, (_, count) => count).find(
      (count) => notOpened([newest(count)], attempt, 0, giveUp).transitions !== undefined
    )
    assert.approximately(failedAt!, giveUp.giveUpMs / (6 * hour) + 5, 4)
    const [pending] = notOpened([newest(failedAt!)], attempt, 0, giveUp).transitions!
    assert.strictEqual(pending!.transition.failure?.code, "national_system_error")
  })

  it("does not fail if KSeF may have it", () => {
    const { submissions, transitions } = notOpened([newest(100, StatusRules.unreadableSession)], attempt, 0, giveUp)
    assert.isUndefined(transitions)
    assert.deepStrictEqual(submissions?.[0]?.dueAt, new Date(6 * hour))
  })

  it("does not fail by a defect either if KSeF may have it", () => {
    const defect = { ...attempt, kind: "fail" } as const
    const { submissions, transitions } = notOpened([newest(0, StatusRules.unreadableSession)], defect, 0, giveUp)
    assert.isUndefined(transitions)
    assert.deepStrictEqual(submissions?.[0]?.dueAt, new Date(minute))
    assert.isUndefined(notSent(invoice, all([0, null], [-hour, 403]), defect, 0, giveUp).transitions)
  })

  it("fails at once by a defect, and not by a limit", () => {
    assert.strictEqual(
      notOpened([newest(0)], { ...attempt, kind: "fail" }, 0, giveUp).transitions?.[0]?.transition.status,
      "failed"
    )
    assert.isUndefined(change(0, { ...attempt, kind: "postponed" }))
  })
})
