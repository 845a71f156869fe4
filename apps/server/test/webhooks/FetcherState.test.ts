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

  it("reserves a quarter of the slots, except those that four organizations need for their limits", () => {
    const reserved = (concurrency: number, organizationConcurrency: number) =>
      FetcherState.reservedSlots(FetcherState.initial(concurrency, organizationConcurrency))
    assert.strictEqual(reserved(670, 10), 167)
    assert.strictEqual(reserved(42, 10), 2)
    for (const concurrency of [1, 2, 10, 40]) assert.strictEqual(reserved(concurrency, 10), 0)
    for (let concurrency = 1; concurrency < 60; concurrency++) {
      for (let limit = 1; limit < 60; limit++) {
        assert.isAtLeast(concurrency - reserved(concurrency, limit), Math.min(4 * limit, concurrency))
      }
    }
  })

  it("claims for reserved slots when no general one is free, and every few milliseconds otherwise", () => {
    const begun = FetcherState.woken(FetcherState.initial(40, 5))
    assert.deepStrictEqual(FetcherState.claimSize(begun, 40, 1000), { limit: 40, general: 30 })
    const after = FetcherState.claimed(begun, claimOf(30), undefined, { limit: 40, general: 30 }, 1000)
    assert.deepStrictEqual(FetcherState.claimSize(after, 12, 1049), { limit: 2, general: 2 })
    assert.deepStrictEqual(FetcherState.claimSize(after, 12, 1050), { limit: 12, general: 2 })
    assert.deepStrictEqual(FetcherState.claimSize(after, 10, 1001), { limit: 10, general: 0 })
    const general = FetcherState.claimed(after, claimOf(2), undefined, { limit: 2, general: 2 }, 1049)
    assert.deepStrictEqual(FetcherState.claimSize(general, 12, 1050), { limit: 12, general: 2 })
    const large = FetcherState.initial(1000, 10)
    assert.deepStrictEqual(FetcherState.claimSize(large, 1000, 0), { limit: 250, general: 250 })
    assert.deepStrictEqual(FetcherState.claimSize(large, 300, 0), { limit: 250, general: 50 })
  })

  it("keeps reserved slots free from 100 organizations that take all they may, in any order", () => {
    const { concurrency, reserved, organizationConcurrency } = {
      ...FetcherState.initial(670, 10),
      reserved: FetcherState.reservedSlots(FetcherState.initial(670, 10))
    }
    for (const perRound of [1, 3, 10]) {
      const inFlight: Array<number> = Array.from({ length: 100 }, () => 0)
      let free = concurrency
      for (let isChanged = true; isChanged;) {
        isChanged = false
        for (const [index, n] of inFlight.entries()) {
          const general = Math.max(0, free - reserved)
          const taken = Math.min(perRound, organizationConcurrency - n, Math.max(general, n === 0 ? 1 : 0))
          if (taken <= 0) continue
          inFlight[index] = n + taken
          free -= taken
          isChanged = true
        }
      }
      assert.isAtLeast(free, 118)
    }
  })

  it("claims again when more general slots are free than a claim had that left organizations without", () => {
    const begun = FetcherState.woken(FetcherState.initial(40, 5))
    const full = FetcherState.claimed(begun, claimOf(30, { atConcurrencyLimit: ["org_9"] }), undefined, {
      limit: 10,
      general: 0
    })
    assert.strictEqual(FetcherState.generalSlots(full, none), 0)
    assert.strictEqual(FetcherState.planned(full, completions(1), none).limit, 0)
    const ended = FetcherState.attemptEnded(full)
    assert.strictEqual(FetcherState.generalSlots(ended, none), 1)
    assert.strictEqual(FetcherState.planned(ended, completions(1), none).limit, 11)
    assert.strictEqual(FetcherState.planned(FetcherState.stopped(ended), completions(1), none).limit, 0)
    // The organization is at its own limit, or none has more.
    const limited = FetcherState.claimed(begun, claimOf(20, { atConcurrencyLimit: ["org_9"] }), undefined, {
      limit: 40,
      general: 30
    })
    const satisfied = FetcherState.claimed(begun, claimOf(30), undefined, { limit: 10, general: 0 })
    for (const state of [limited, satisfied]) {
      assert.strictEqual(FetcherState.planned(FetcherState.attemptEnded(state), completions(1), none).limit, 0)
    }
  })

  it("has a batch ready when half of the general slots are free", () => {
    const after = (count: number) =>
      FetcherState.claimed(FetcherState.initial(40, 5), claimOf(count, { more: true }), undefined, {
        limit: 10,
        general: 0
      })
    assert.isTrue(FetcherState.isBatchReady(after(15), none))
    assert.isFalse(FetcherState.isBatchReady(after(16), none))
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

  it("does not wake for a promotion after it has stopped", () => {
    const stopped = FetcherState.stopped(attempting(4))
    assert.isAtMost(attempting(4).promoteAt, Date.now())
    assert.strictEqual(FetcherState.sleepUntil(stopped), Infinity)
    const written = FetcherState.nextIteration(stopped, { limit: 0, claimed: 0, backlog: none })
    assert.deepStrictEqual(written, { sleepUntil: Infinity })
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
    const freed = (...given: Parameters<typeof FetcherState.foreignFreed>) => FetcherState.foreignFreed(...given)
    assert.deepStrictEqual(freed(idle, completions(1), ["2"]), ["org_1"])
    assert.deepStrictEqual(freed(idle, completions(1), ["1"]), [])
    assert.deepStrictEqual(freed(idle, completions(1), undefined), [])
    assert.deepStrictEqual(freed(idle, [], ["2"]), [])
    assert.deepStrictEqual(freed(everywhere, completions(1), ["2"]), [])
    assert.deepStrictEqual(freed(FetcherState.stopped(idle), completions(1), ["1"]), ["org_1"])
    assert.deepStrictEqual(freed(FetcherState.stopped(idle), [], ["1"]), [])
  })
})
