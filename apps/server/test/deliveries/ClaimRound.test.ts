import { assert, describe, it } from "vitest"
import { ClaimRound } from "../../src/deliveries/ClaimRound.ts"

const delivery = (endpoint_id: string, endpoint_slow = false) => ({ endpoint_id, endpoint_slow })
const slots = { limit: 2, slow: 1 }
const now = 10 * 60_000

/** What a claim saw that visited endpoints up to `last`. */
const summary = (last: string | null, scanned: number, oldest: number | null = null) => ({
  candidates: scanned,
  last,
  now: new Date(now),
  oldest: oldest === null ? null : new Date(oldest),
  scanned
})

describe("ClaimRound", () => {
  it("goes on behind the last endpoint served by a full claim", () => {
    const round = new ClaimRound()
    assert.strictEqual(round.next(now).after, "")
    assert.deepStrictEqual(round.visited(slots, summary("we_9", 4), [delivery("we_1"), delivery("we_2")]), {
      isEnd: false,
      isFull: true
    })
    assert.strictEqual(round.next(now).after, "we_2")
    assert.isFalse(round.isAtBeginning)
  })

  it("goes on behind the last endpoint visited by one that is not full", () => {
    const round = new ClaimRound()
    round.visited(slots, summary("we_9", round.next(now).endpoints), [delivery("we_1")])
    assert.strictEqual(round.next(now).after, "we_9")
  })

  it("ends where fewer endpoints are left than it would visit", () => {
    const round = new ClaimRound()
    round.next(now)
    assert.isTrue(round.visited(slots, summary("we_9", 1), [delivery("we_9")]).isEnd)
    assert.isTrue(round.isAtBeginning)
  })

  it("begins at the oldest due time of the round before, with a margin each second, and at the beginning each minute", () => {
    const round = new ClaimRound()
    const endRound = (oldest: number | null) => round.visited(slots, summary("we_9", 1, oldest), [])
    const since = (at: number) => round.next(at).since.getTime()
    assert.strictEqual(since(now), 0)
    endRound(now - 120_000)
    assert.strictEqual(since(now + 500), now - 120_000)
    endRound(null)
    assert.strictEqual(since(now + 999), now - 5000, "what is due since a few seconds is always read")
    endRound(null)
    assert.strictEqual(since(now + 1000), now - 65_000)
    endRound(null)
    assert.strictEqual(since(now + 60_000), 0)
  })

  it("gives slow endpoints a turn of their own, and visits as many as it may until that has come around", () => {
    const round = new ClaimRound()
    const few = round.next(now).endpoints
    round.visited(slots, summary("we_3", 3), [delivery("we_2"), delivery("we_3", true)])
    assert.include(round.next(now), { afterSlow: "we_3", endpoints: 250 })
    // None is behind it, but a slot for one was free: the turn comes around, and the round goes on.
    round.visited(slots, summary("we_3", 3), [])
    assert.strictEqual(round.next(now).afterSlow, "we_3", "the round began before the turn did")
    assert.isFalse(round.visited(slots, summary("we_3", 3), []).isEnd)
    assert.include(round.next(now), { afterSlow: "", endpoints: 4 })
    assert.isAbove(few, 4)
  })
})
