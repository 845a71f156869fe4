import { assert, describe, it } from "@effect/vitest"
import type { SubmissionRow } from "../../../../src/invoices/live/ksef/laneRows.ts"
import * as StatusRules from "../../../../src/invoices/live/ksef/StatusRules.ts"

// Has the columns that the rule reads.
const submission = (id: string, columns: Partial<SubmissionRow> = {}) =>
  ({ id: "inv_1", submission_id: id, status: "submitted", check_count: 4, code: null, ...columns }) as SubmissionRow

const now = 1_000_000

describe("a session that cannot be read", () => {
  it("has its document sent once more", () => {
    const row = submission("1")
    assert.deepStrictEqual(StatusRules.unreadable(row, [row], now), {
      submissions: [{ id: "1", state: "refused", code: 403, dueAt: new Date(now) }]
    })
  })

  it("has a document wait that was sent once more", () => {
    const row = submission("2")
    const earlier = submission("1", { submission_state: "refused", code: 403 })
    assert.deepStrictEqual(StatusRules.unreadable(row, [row, earlier], now), {
      submissions: [{ id: "2", checkCount: 5, dueAt: new Date(now + StatusRules.parkMs), code: 403 }]
    })
  })

  it("is no error of KSeF that counts as a resend", () => {
    const givenUp = submission("1", { submission_state: "refused", code: 403 })
    const failed = submission("2", { submission_state: "refused", code: 500 })
    assert.strictEqual(StatusRules.resendsOf([givenUp, failed]), 1)
  })
})
