import { assert, describe, it } from "vitest"
import * as FetcherState from "../../src/webhooks/FetcherState.ts"
import { claimOf, completion, completions } from "../support/completions.ts"

const none: FetcherState.Backlog = { pending: 0, uncommitted: 0 }
const idle = FetcherState.initial(10)
const woken = FetcherState.woken(idle)
const nothing = { retries: 0, leases: 0, next: undefined, anyDue: false }

/** A worker with as many attempts in flight. */
const attempting = (count: number, changes: Parameters<typeof claimOf>[1] = {}) =>
  FetcherState.claimed(woken, claimOf(count, changes))

describe("FetcherState", () => {
  it("claims nothing until it is woken", () => {
    assert.strictEqual(FetcherState.planned(idle, [], none).limit, 0)
    assert.strictEqual(FetcherState.planned(woken, [], none).limit, 10)
  })

  it("takes a slot from the claim to the end of the attempt", () => {
    const busy = attempting(4)
    assert.strictEqual(FetcherState.availableSlots(busy, none), 6)
    assert.strictEqual(FetcherState.availableSlots(FetcherState.attemptEnded(busy), none), 7)
  })

  it("takes no slot for a completion until more are uncommitted than there are slots", () => {
    assert.strictEqual(FetcherState.availableSlots(idle, { pending: 10, uncommitted: 10 }), 10)
    assert.strictEqual(FetcherState.availableSlots(idle, { pending: 13, uncommitted: 13 }), 7)
    assert.strictEqual(FetcherState.availableSlots(attempting(4), { pending: 10, uncommitted: 10 }), 6)
    assert.isAtMost(FetcherState.availableSlots(idle, { pending: 20, uncommitted: 20 }), 0)
  })

  it("claims again at once after a claim that left more", () => {
    const after = (more: boolean, count: number) => {
      const state = attempting(count, { more })
      return FetcherState.nextIteration(state, { limit: 10, claimed: count, backlog: none })
    }
    assert.strictEqual(after(true, 4), "again")
    assert.deepStrictEqual(after(false, 4), { sleepUntil: 0 })
    // All slots are taken: the end of an attempt wakes the worker.
    assert.deepStrictEqual(after(true, 10), { sleepUntil: 0 })
  })

  it("backs off when there is more and a claim took nothing, because another worker has locked the rows", () => {
    const state = attempting(0, { more: true })
    assert.strictEqual(FetcherState.nextIteration(state, { limit: 10, claimed: 0, backlog: none }), "backoff")
    const writesOnly = FetcherState.nextIteration(state, { limit: 0, claimed: 0, backlog: none })
    assert.strictEqual(writesOnly, "again")
  })

  it("claims for an organization at its concurrency limit when a completion frees a slot of it", () => {
    const limited = attempting(4, { atConcurrencyLimit: ["org_1"] })
    assert.strictEqual(FetcherState.planned(limited, completions(1), none).limit, 6)
    assert.strictEqual(FetcherState.planned(limited, [completion(1, { organization_id: "org_2" })], none).limit, 0)
    assert.isFalse(FetcherState.unblocksOrganization(attempting(4), completions(1)))
  })

  it("promotes at the time of the next retry, and at the latest after the poll interval", () => {
    assert.strictEqual(FetcherState.promoted(idle, { ...nothing, next: 1200 }, 1000, 500).promoteAt, 1200)
    assert.strictEqual(FetcherState.promoted(idle, { ...nothing, next: 9000 }, 1000, 500).promoteAt, 1500)
    assert.strictEqual(FetcherState.promoted(idle, nothing, 1000, 500).promoteAt, 1500)
  })

  it("promotes earlier when a completion schedules an earlier retry", () => {
    const state = { ...idle, promoteAt: 5000 }
    const retry = (milliseconds: number) => completion(1, { next_retry_at: new Date(milliseconds).toISOString() })
    assert.strictEqual(FetcherState.completed(state, [completion(0), retry(4000), retry(4500)]).promoteAt, 4000)
    assert.strictEqual(FetcherState.completed(state, [retry(6000)]).promoteAt, 5000)
  })

  it("resumes after a claim, and reads from the front after a promotion", () => {
    const claimed = attempting(1)
    assert.isTrue(claimed.resume)
    assert.isFalse(FetcherState.promoted(claimed, nothing, 0, 500).resume)
  })

  it("has work after a promotion if anything is due, and forgets no earlier work", () => {
    assert.isTrue(FetcherState.promoted(idle, { ...nothing, anyDue: true }, 0, 500).mayHaveWork)
    assert.isFalse(FetcherState.promoted(idle, nothing, 0, 500).mayHaveWork)
    assert.isTrue(FetcherState.promoted(woken, nothing, 0, 500).mayHaveWork)
  })

  it("has a batch ready when half of the slots are free, or as many completions are pending without work", () => {
    assert.isTrue(FetcherState.isBatchReady(attempting(5, { more: true }), none))
    assert.isFalse(FetcherState.isBatchReady(attempting(6, { more: true }), none))
    assert.isTrue(FetcherState.isBatchReady(attempting(6), { pending: 5, uncommitted: 5 }))
    assert.isFalse(FetcherState.isBatchReady(attempting(6), { pending: 4, uncommitted: 4 }))
    // A statement claims at most 250, so more free slots make no larger batch.
    assert.isTrue(FetcherState.isBatchReady(FetcherState.woken(FetcherState.initial(250)), none))
    const large = FetcherState.claimed(FetcherState.initial(1000), claimOf(750, { more: true }))
    assert.isTrue(FetcherState.isBatchReady(large, none))
  })

  it("claims nothing after it has stopped, also when it is woken", () => {
    const stopped = FetcherState.woken(FetcherState.stopped(attempting(4, { atConcurrencyLimit: ["org_1"] })))
    assert.strictEqual(FetcherState.planned(stopped, completions(1), none).limit, 0)
  })

  it("claims from all partitions once in a poll interval if anything is due, and otherwise from its own", () => {
    const due = { ...nothing, anyDue: true }
    assert.isFalse(woken.claimsEverywhere)
    assert.isFalse(FetcherState.promoted(idle, nothing, 1000, 500).claimsEverywhere)
    const promoted = FetcherState.promoted(idle, due, 1000, 500)
    assert.isTrue(promoted.claimsEverywhere)
    const claimed = FetcherState.claimed(promoted, claimOf(0), ["1"])
    assert.isFalse(claimed.claimsEverywhere)
    assert.isFalse(FetcherState.promoted(claimed, due, 1499, 500).claimsEverywhere)
    assert.isTrue(FetcherState.promoted(claimed, due, 1500, 500).claimsEverywhere)
    // A promotion wakes no other worker for its retries.
    assert.isTrue(FetcherState.promoted(claimed, { ...due, retries: 1 }, 1499, 500).claimsEverywhere)
  })

  it("goes on with the partitions of others only while it finds nothing in its own", () => {
    const everywhere = FetcherState.promoted(idle, { ...nothing, anyDue: true }, 1000, 500)
    // The deliveries are of `org_1`.
    const after = (own: FetcherState.OwnPartitions, changes: Parameters<typeof claimOf>[1] = {}, count = 2) =>
      FetcherState.claimed(everywhere, claimOf(count, changes), own).claimsEverywhere
    assert.isTrue(after(["2"]))
    assert.isFalse(after(["2"], {}, 0))
    assert.isFalse(after(["1", "2"]))
    assert.isFalse(after(["2"], { atConcurrencyLimit: ["org_2"] }))
    assert.isFalse(after(undefined))
  })

  it("tells when completions free slots that only another worker fills", () => {
    const everywhere = FetcherState.promoted(idle, { ...nothing, anyDue: true }, 1000, 500)
    assert.isTrue(FetcherState.freesForeignSlots(idle, completions(1), ["2"]))
    assert.isFalse(FetcherState.freesForeignSlots(idle, completions(1), ["1"]))
    assert.isFalse(FetcherState.freesForeignSlots(idle, completions(1), undefined))
    assert.isFalse(FetcherState.freesForeignSlots(idle, [], ["2"]))
    assert.isFalse(FetcherState.freesForeignSlots(everywhere, completions(1), ["2"]))
  })
})
