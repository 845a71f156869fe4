import { assert } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import type { ClaimedDelivery } from "../../src/deliveries/ClaimedDelivery.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as AloneWorker from "../../src/deliveries/AloneWorker.ts"
import * as fixtures from "../support/fixtures.ts"
import { claim, complete, describeQueue, leaseMs, promoteDue, worker } from "./support/deliveryQueue.ts"

const { completion } = fixtures

describeQueue("DeliveryQueue: completions, leases", (test) => {
  test("complete: writes completions of many organizations in one statement", () =>
    Effect.gen(function* () {
      const organizations = yield* Effect.forEach(Array.from({ length: 8 }), () => fixtures.backlog(4, 4))
      const { deliveries } = yield* claim()
      const outcomes = deliveries.map((one, index) =>
        index % 3 === 0
          ? completion(one)
          : index % 3 === 1
            ? completion(one, {
                status: "retrying",
                last_http_status: null,
                last_error_summary: "The connection failed.",
                next_retry_at: "2026-11-20T10:00:05.000Z"
              })
            : completion(one, {
                status: "failed",
                last_http_status: 404,
                last_error_summary: "The endpoint returned HTTP 404."
              })
      )
      assert.sameMembers(
        [...(yield* complete(outcomes))],
        deliveries.map(({ id }) => id)
      )
      for (const outcome of outcomes) {
        const row = yield* fixtures.readDelivery(outcome.id)
        const written = {
          ...outcome,
          last_attempted_at: row.last_attempted_at?.toISOString() ?? null,
          next_retry_at: row.next_retry_at?.toISOString() ?? null,
          updated_at: row.updated_at.toISOString()
        }
        assert.deepStrictEqual(written, outcome)
        assert.include(row, { status: outcome.status, is_due: false, last_http_status: outcome.last_http_status })
        assert.strictEqual(row.last_error_summary, outcome.last_error_summary)
        assert.strictEqual(row.due_at?.toISOString() ?? null, outcome.next_retry_at)
        assert.deepStrictEqual(row.delivered_at, outcome.status === "succeeded" ? row.updated_at : null)
      }
      for (const { id } of organizations) {
        assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
      }
    }))

  test("claim: allocates the slots of completions as if they had never been taken", () =>
    Effect.gen(function* () {
      const { endpoints, id } = yield* fixtures.backlog(20, 0)
      for (let turn = 0; turn < 3; turn++) {
        const { deliveries } = yield* claim()
        assert.strictEqual(deliveries.length, 5)
        assert.deepStrictEqual((yield* fixtures.inFlight(id)).counted, { [endpoints[0]!]: 5 })
        yield* complete(deliveries.map((one) => completion(one)))
      }
    }))

  test("complete: discards the completion of a worker that lost its lease", () =>
    Effect.gen(function* () {
      const { endpoints, id: organizationId } = yield* fixtures.backlog(1)
      const [late] = (yield* claim()).deliveries
      yield* TestClock.adjust(leaseMs)
      assert.include(yield* promoteDue, { leases: 1, retries: 0, anyDue: false })
      assert.deepStrictEqual(yield* complete([completion(late!)]), [])
      yield* TestClock.adjust(6000)
      assert.include(yield* promoteDue, { leases: 0, retries: 1, anyDue: true })
      const [successor] = (yield* claim()).deliveries
      assert.include(successor, { id: late!.id, fencing_token: 2, attempt_count: 1, last_attempted_at: null })

      const before = yield* fixtures.readDelivery(late!.id)
      assert.deepStrictEqual(yield* complete([completion(late!)]), [])
      assert.deepStrictEqual(yield* fixtures.readDelivery(late!.id), before)
      assert.deepStrictEqual((yield* fixtures.inFlight(organizationId)).counted, { [endpoints[0]!]: 1 })

      assert.deepStrictEqual(yield* complete([completion(successor!)]), [late!.id])
      assert.deepStrictEqual(yield* complete([completion(successor!)]), [])
      assert.deepStrictEqual((yield* fixtures.inFlight(organizationId)).counted, {})
    }))

  test("promote: frees the slots of a lost worker, also when it had all", () =>
    Effect.gen(function* () {
      const { endpoints, id } = yield* fixtures.backlog(30)
      const lost = yield* claim()
      assert.strictEqual(lost.deliveries.length, 10)
      yield* TestClock.adjust(leaseMs - 1)
      assert.include(yield* promoteDue, { leases: 0 })
      assert.strictEqual((yield* promoteDue).next, leaseMs)
      assert.strictEqual((yield* claim()).deliveries.length, 0)

      yield* TestClock.adjust(1)
      assert.include(yield* promoteDue, { leases: 10 })
      assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
      // The interrupted deliveries wait; the others do not.
      const again = yield* claim()
      const interrupted = new Set<string>(lost.deliveries.map((one) => one.id))
      assert.strictEqual(again.deliveries.filter((one) => interrupted.has(one.id)).length, 0)
      assert.strictEqual(again.deliveries.length, 10)
      assert.deepStrictEqual((yield* fixtures.inFlight(id)).counted, { [endpoints[0]!]: 10 })
      // None of the late completions frees a slot.
      yield* complete(lost.deliveries.map((one) => completion(one)))
      assert.deepStrictEqual(yield* fixtures.inFlight(id), {
        counted: { [endpoints[0]!]: 10 },
        actual: { [endpoints[0]!]: 10 }
      })
    }))

  test("promote: rescues each lease of an organization when it expires, and no other", () =>
    Effect.gen(function* () {
      const { endpoints, id } = yield* fixtures.backlog(30)
      const early = yield* claim({ limit: 3 })
      yield* TestClock.adjust(12_300)
      const late = yield* claim({ limit: 4 })
      yield* TestClock.adjust(leaseMs - 12_300)
      assert.include(yield* promoteDue, { leases: 3 })
      // Interrupted deliveries are due after 4 to 6 s.
      const { next } = yield* promoteDue
      assert.isAtLeast(next!, 34_000)
      assert.isAtMost(next!, 36_000)
      assert.deepStrictEqual(yield* fixtures.inFlight(id), {
        counted: { [endpoints[0]!]: 4 },
        actual: { [endpoints[0]!]: 4 }
      })
      assert.deepStrictEqual(yield* complete([completion(early.deliveries[0]!)]), [])
      assert.deepStrictEqual(yield* complete([completion(late.deliveries[0]!)]), [late.deliveries[0]!.id])

      yield* TestClock.adjust(12_299)
      assert.include(yield* promoteDue, { leases: 0, retries: 3, next: 43_000 })
      yield* TestClock.adjust(701)
      assert.include(yield* promoteDue, { leases: 3 })
      assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
    }))

  test("promote: fails a delivery with its fourth interruption, which is attempted alone from the second on", () =>
    Effect.gen(function* () {
      const { id } = yield* fixtures.backlog(1)
      const alone = yield* AloneWorker.makeClaim
      const claimAlone = alone({ perOrganization: 10, leaseMs })
      const summaries: Array<unknown> = []
      for (let interruptions = 0; interruptions < 4; interruptions++) {
        yield* promoteDue
        const [claimed] = (yield* claim()).deliveries
        const claimedAlone = yield* claimAlone
        assert.strictEqual(interruptions < 2, claimed !== undefined)
        assert.strictEqual(interruptions >= 2, claimedAlone !== undefined)
        const delivery = claimed ?? claimedAlone!
        assert.include(delivery, { attempt_count: 1, fencing_token: interruptions + 1 })
        assert.isUndefined(yield* claimAlone)
        // Leases that expire within a second are checked together.
        yield* TestClock.adjust(leaseMs + 1000)
        assert.include(yield* promoteDue, { leases: 1 })
        const row = yield* fixtures.readDelivery(delivery.id)
        summaries.push([row.status, row.interruption_count, row.last_error_summary])
        // As long as the wait of the retry schedule for that number, with jitter.
        const wait = row.due_at === null ? 0 : row.due_at.getTime() - (yield* Clock.currentTimeMillis)
        const step = [5000, 30_000, 120_000, 0][interruptions]!
        assert.isAtLeast(wait, 0.8 * step)
        assert.isAtMost(wait, 1.2 * step)
        yield* TestClock.adjust(wait)
      }
      const retrying = "The attempt was interrupted."
      assert.deepStrictEqual(summaries, [
        ["retrying", 1, retrying],
        ["retrying", 2, retrying],
        ["retrying", 3, retrying],
        ["failed", 4, "The delivery was stopped because sending it repeatedly interrupted the sender."]
      ])
      assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
    }))

  test("claims of deliveries that are attempted alone keep the limit of their organization, and take turns", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const organizations = yield* Effect.forEach([1, 2, 3], () => fixtures.backlog(3))
      yield* sql`
        UPDATE deliveries SET is_due = false, interruption_count = 2, status = 'retrying', failure_status = 'retrying', next_retry_at = due_at
      `
      yield* TestClock.adjust(1000)
      const alone = yield* AloneWorker.makeClaim
      const claimed: Array<string> = []
      for (let n = 0; n < 6; n++) claimed.push((yield* alone({ perOrganization: 2, leaseMs }))!.organization_id)
      assert.sameMembers(
        claimed.slice(0, 3),
        organizations.map(({ id }) => id)
      )
      assert.isUndefined(yield* alone({ perOrganization: 2, leaseMs }))
      assert.isDefined(yield* alone({ perOrganization: 3, leaseMs }))
    }))

  test("an organization that may have nothing in flight delays no delivery that is attempted alone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ids = (yield* Effect.forEach([1, 2, 3], () => fixtures.backlog(1))).map(({ id }) => id).sort()
      yield* sql`
        UPDATE deliveries SET is_due = false, interruption_count = 2, status = 'retrying', failure_status = 'retrying', next_retry_at = due_at
      `
      yield* sql`UPDATE organization_concurrency SET max_in_flight = 0 WHERE organization_id = ${ids[0]!}`
      yield* TestClock.adjust(1000)
      const alone = yield* AloneWorker.makeClaim
      for (const id of ids.slice(1)) {
        assert.strictEqual((yield* alone({ perOrganization: 1, leaseMs }))?.organization_id, id)
      }
      assert.isUndefined(yield* alone({ perOrganization: 1, leaseMs }))
    }))

  test("promote: makes a retry available at its time, and not before", () =>
    Effect.gen(function* () {
      yield* fixtures.backlog(1)
      const [one] = (yield* claim()).deliveries
      yield* complete([
        completion(one!, {
          status: "retrying",
          next_retry_at: new Date(5000).toISOString(),
          last_http_status: 503,
          last_error_summary: "The endpoint returned HTTP 503."
        })
      ])
      yield* TestClock.adjust(4999)
      assert.deepStrictEqual(yield* promoteDue, { retries: 0, leases: 0, next: 5000, anyDue: false })
      assert.strictEqual((yield* claim()).deliveries.length, 0)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* promoteDue, { retries: 1, leases: 0, next: leaseMs, anyDue: true })
      const waiting = yield* fixtures.readDelivery(one!.id)
      assert.include(waiting, { status: "retrying", is_due: true, fencing_token: 1, last_http_status: 503 })
      assert.strictEqual(waiting.next_retry_at?.getTime(), 5000)
      const [again] = (yield* claim()).deliveries
      assert.include(again, { id: one!.id, fencing_token: 2, attempt_count: 2 })
      assert.strictEqual((yield* fixtures.readDelivery(one!.id)).next_retry_at, null)
    }))

  test("keeps every concurrency limit while workers claim, complete and get lost at the same time", () =>
    Effect.gen(function* () {
      const bound = 6
      const organizations = yield* Effect.forEach([[60], [60], [30, 30], [20, 20, 20]], (counts) =>
        fixtures.backlog(...counts)
      )
      const lost: Array<ClaimedDelivery> = []
      let most = 0

      const one = (seed: number) =>
        Effect.gen(function* () {
          const queue = yield* DeliveryQueue.DeliveryQueue
          let state = seed
          const random = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31
          for (let round = 0; round < 25; round++) {
            const limit = 1 + Math.floor(random() * 20)
            const { deliveries } = yield* queue.claim({ limit, perOrganization: bound, leaseMs })
            const kept = deliveries.filter(() => random() < 0.9)
            lost.push(...deliveries.filter((delivery) => !kept.includes(delivery)))
            for (const { id } of organizations) {
              const { actual, counted } = yield* fixtures.inFlight(id)
              most = Math.max(
                most,
                Object.values(counted).reduce((sum, n) => sum + n, 0)
              )
              most = Math.max(
                most,
                Object.values(actual).reduce((sum, n) => sum + n, 0)
              )
            }
            yield* queue.complete(kept.map((delivery) => completion(delivery)))
          }
        }).pipe(Effect.provide(worker))

      const claimAlone = Effect.suspend(
        yield* Effect.map(AloneWorker.makeClaim, (claim) => () => claim({ perOrganization: bound, leaseMs }))
      )
      const sql = yield* SqlClient.SqlClient
      const unfinished = Effect.map(
        sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM deliveries WHERE status <> 'succeeded'`,
        ([row]) => row!.n
      )
      for (let generation = 0; (yield* unfinished) > 0 && generation < 20; generation++) {
        const workers = yield* Effect.forEach([1, 2, 3, 4], (seed) => Effect.forkChild(one(seed * 7919 + generation)))
        yield* Effect.forEach(workers, Fiber.join)
        yield* TestClock.adjust(leaseMs)
        yield* promoteDue
        for (let delivery = yield* claimAlone; delivery !== undefined; delivery = yield* claimAlone) {
          yield* complete([completion(delivery)])
        }
      }

      assert.strictEqual(yield* unfinished, 0)
      assert.isAbove(lost.length, 0)
      assert.strictEqual(most, bound)
      for (const { id } of organizations) {
        assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
      }
      const stale: ReadonlyArray<Ids.DeliveryId> = yield* complete(lost.map((delivery) => completion(delivery)))
      assert.deepStrictEqual(stale, [])
      assert.isAbove(yield* Clock.currentTimeMillis, leaseMs)
    }))
})
