import { assert, describe, it } from "@effect/vitest"
import type { Changes, SubmissionRow } from "../../../src/invoices/ksef/laneRows.ts"
import * as StatusRules from "../../../src/invoices/ksef/StatusRules.ts"

// Has the columns that the rule reads.
const submission = (id: string, columns: Partial<SubmissionRow> = {}) =>
  ({ id: "inv_1", submission_id: id, status: "submitted", check_count: 4, code: null, ...columns }) as SubmissionRow

const now = 1_000_000

describe("an accepted document", () => {
  const number = "5265877635-20250626-010080DD2B5E-26"
  const accepted = (ksefNumber: string, permanentStorageDate?: number | null, invoiceHash = "AQID") => {
    const sha256 = Uint8Array.of(1, 2, 3)
    const row = submission("1", { seller_nip: "5265877635", form_code: "FA (3)", sha256, updated_at: new Date(0) })
    const answer = { status: { code: 200 }, invoiceHash, ksefNumber, permanentStorageDate } as StatusRules.InvoiceStatus
    return StatusRules.decide(row, answer, now) as { changes: Changes; isUnknown?: boolean }
  }
  const [change] = accepted(number, 5000).changes.submissions!

  it("has the time when KSeF stored it permanently, if KSeF reports it", () => {
    assert.deepInclude(change, { state: "decided", code: 200, storedAt: new Date(5000) })
    for (const none of [undefined, null]) {
      assert.notProperty(accepted(number, none).changes.submissions![0], "storedAt")
    }
  })

  it("is not taken as accepted if its number has a wrong checksum or another seller", () => {
    for (const wrong of [`${number.slice(0, -1)}7`, "9999999999-20250626-010080DD2B5E-26"]) {
      const { changes, isUnknown } = accepted(wrong)
      assert.isTrue(isUnknown)
      assert.isUndefined(changes.transitions)
    }
  })

  it("is not taken as accepted if the answer is about another document", () => {
    const { changes, isUnknown } = accepted(number, null, "BAUG")
    assert.isTrue(isUnknown)
    assert.isUndefined(changes.transitions)
    assert.include(changes.reasons?.[0]?.failure?.message, "not about this one")
  })
})

describe("a document that KSeF does not list", () => {
  const unlisted = (ageMs: number, failure: SubmissionRow["failure"]) => {
    const row = submission("1", { submission_state: "sent", failure, handed_over_at: new Date(now - ageMs) })
    return { reasons: StatusRules.unlisted(row, now).reasons, isNew: StatusRules.isNewlyUnlisted(row, now) }
  }

  it("shows that after half a minute, and is polled on", () => {
    assert.deepStrictEqual(unlisted(29_000, null), { reasons: undefined, isNew: false })
    const { isNew, reasons } = unlisted(30_000, null)
    assert.isTrue(isNew)
    assert.deepInclude(reasons?.[0]?.failure, { code: "gateway_unavailable" })
    assert.deepStrictEqual(unlisted(40_000, reasons![0]!.failure), { reasons: undefined, isNew: false })
  })
})

describe("an attachment that KSeF does not take (415)", () => {
  const decide = (kind: "online" | "batch") => {
    const row = submission("1", { session_kind: kind, updated_at: new Date(0) })
    const answer = { status: { code: 415 } } as StatusRules.InvoiceStatus
    return (StatusRules.decide(row, answer, now) as { changes: Changes }).changes
  }

  it("is sent in a batch if it was sent alone", () => {
    assert.deepStrictEqual(decide("online"), {
      submissions: [{ id: "1", state: "refused", code: 415, checkCount: 0, dueAt: new Date(now) }]
    })
  })

  it("is rejected if it was sent in a batch", () => {
    const { submissions, transitions } = decide("batch")
    assert.deepStrictEqual(submissions, [{ id: "1", state: "decided", code: 415, dueAt: null }])
    assert.strictEqual(transitions?.[0]?.transition.rejection?.code, "attachment_not_allowed")
  })
})

describe("a send whose answer was lost, of a document that KSeF does not have", () => {
  const timing = { mayArriveMs: 80_000, intervalMs: 30_000 }
  const giveUp = { giveUpMs: 3_600_000, random: 0.5 }
  const afterLookup = (firstFailedAt: Date | null) => {
    const columns = { status: "submitting", check_count: 1, attempt_count: 3, updated_at: new Date(0) } as const
    const row = submission("1", { ...columns, handed_over_at: new Date(0), first_failed_at: firstFailedAt })
    return StatusRules.afterLookup(row, undefined, now, timing, giveUp, []).transitions?.[0]
  }

  it("is a failed attempt, which is repeated after a wait", () => {
    const pending = afterLookup(null)
    assert.strictEqual(pending?.transition.status, "retrying")
    assert.isAbove(pending!.transition.nextAttemptAt!.getTime(), now)
    assert.strictEqual(pending!.invoice.attempt_count, 3)
  })

  it("fails the invoice if the first failure is as old as the time to give up", () => {
    assert.strictEqual(afterLookup(new Date(now - giveUp.giveUpMs + 1))?.transition.status, "retrying")
    assert.strictEqual(afterLookup(new Date(now - giveUp.giveUpMs))?.transition.status, "failed")
  })
})

describe("a submitted invoice whose resend lost its answer, and is not in KSeF", () => {
  const giveUp = { giveUpMs: 168 * 3_600_000, random: 0.5 }
  const judged = {
    submission_state: "refused",
    code: 500,
    handed_over_at: new Date(now - 2 * giveUp.giveUpMs)
  } as const
  const absent = (count: number, firstAgeMs: number) => {
    const lost = Array.from({ length: count }, (_, index) =>
      submission(String(count - index), { handed_over_at: new Date(now - firstAgeMs), updated_at: new Date(0) })
    )
    return StatusRules.absent(lost[0]!, [...lost, submission("0", judged)], now, giveUp)
  }

  it("is sent again after longer and longer waits", () => {
    const waits = [1, 2, 3, 20].map((count) => absent(count, 1000).submissions![0]!.dueAt!.getTime() - now)
    assert.strictEqual(waits[0], 5000)
    assert.deepStrictEqual(
      waits,
      [...new Set(waits)].toSorted((left, right) => left - right)
    )
    assert.strictEqual(waits.at(-1), 6 * 3_600_000)
  })

  it("fails if KSeF received none for the time to give up", () => {
    assert.isUndefined(absent(20, giveUp.giveUpMs - 1).transitions?.[0])
    const { submissions, transitions } = absent(20, giveUp.giveUpMs)
    assert.deepStrictEqual(submissions, [{ id: "20", state: "refused", dueAt: null }])
    assert.strictEqual(transitions?.[0]?.transition.failure?.code, "national_system_error")
  })
})

describe("a session that cannot be read", () => {
  it("has its document sent once more", () => {
    const row = submission("1")
    assert.deepStrictEqual(StatusRules.unreadable(row, [row], now), {
      submissions: [{ id: "1", state: "refused", checkCount: 0, code: 403, dueAt: new Date(now) }]
    })
  })

  it("has its document wait if that was sent once more already", () => {
    const row = submission("2")
    const earlier = submission("1", { submission_state: "refused", code: 403 })
    const { reasons, submissions, transitions } = StatusRules.unreadable(row, [row, earlier], now)
    assert.deepStrictEqual(submissions, [
      { id: "2", checkCount: 5, dueAt: new Date(now + StatusRules.postponeMs), code: 403 }
    ])
    assert.strictEqual(reasons?.[0]?.failure?.code, "gateway_session_unreadable")
    assert.isUndefined(transitions)
  })

  it("does not count as a resend after an error of KSeF", () => {
    const givenUp = submission("1", { submission_state: "refused", code: 403 })
    const failed = submission("2", { submission_state: "refused", code: 500 })
    assert.strictEqual(StatusRules.resendsOf([givenUp, failed]), 1)
  })
})
