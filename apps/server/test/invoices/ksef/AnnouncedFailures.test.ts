import { assert, describe, it } from "vitest"
import { ended as endedAt } from "../../../src/invoices/ksef/AnnouncedFailures.ts"

const begun = {
  eventId: 7,
  category: "FAILURE",
  type: "FAILURE_START",
  start: "2026-11-27T10:00:00.000Z",
  end: null
}
const over = { ...begun, type: "FAILURE_END", start: "2026-11-27T12:00:00.000Z", end: "2026-11-27T13:00:00.000Z" }

const ended = (messages: Parameters<typeof endedAt>[0]) => endedAt(messages, Date.parse("2026-11-27T14:00:00.000Z"))

describe("the failures of KSeF that ended", () => {
  it("begin with the first message of their event", () => {
    const failure = { start: new Date(begun.start), end: new Date(over.end) }
    assert.deepStrictEqual(ended([begun, over]), [failure])
    assert.deepStrictEqual(ended([over]), [{ ...failure, start: new Date(over.start) }])
  })

  it("are none that goes on, will end later, is total, is maintenance, or has no time", () => {
    for (const change of [
      { type: "FAILURE_START" },
      { end: null },
      { end: "2026-11-28T13:00:00.000Z" },
      { category: "TOTAL_FAILURE" },
      { category: "MAINTENANCE" },
      { end: "today" },
      { end: "0001-01-01T00:00:00" },
      { start: "0001-01-01T00:00:00" }
    ]) {
      assert.isEmpty(ended([{ ...over, ...change }]), JSON.stringify(change))
    }
  })
})
