import { assert } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import type { ClaimedDelivery } from "../../src/webhooks/ClaimedDelivery.ts"
import type { Completion } from "../../src/webhooks/Completion.ts"
import * as DeliveryQueue from "../../src/webhooks/DeliveryQueue.ts"
import * as QuarantineQueue from "../../src/webhooks/QuarantineQueue.ts"
import * as fixtures from "../support/fixtures.ts"
import { claim, complete, describeQueue, leaseMs, promoteDue, worker } from "./support/deliveryQueue.ts"

const { completion } = fixtures

describeQueue("DeliveryQueue: cursors, completions, leases", (test) => {
  test("claim: resumes at its cursors, and without resuming finds deliveries with an earlier due time", () =>
    Effect.gen(function* () {
      const organizationId = yield* fixtures.organization
      const endpointId = yield* fixtures.endpoint(organizationId)
      yield* fixtures.deliveries(organizationId, endpointId, 30, { dueAt: 5000 })
      const first = yield* claim({ limit: 5, perOrganization: 5, resume: true })
      const [late] = yield* fixtures.deliveries(organizationId, endpointId, 1, { dueAt: 1000 })
      const other = yield* fixtures.backlog(2)

      const resumed = yield* claim({
        limit: 10,
        perOrganization: 10,
        resume: true,
        completions: first.deliveries.map((one) => completion(one))
      })
      assert.strictEqual(resumed.completed.length, 5)
      assert.strictEqual(resumed.deliveries.length, 10)
      assert.notInclude(
        resumed.deliveries.map(({ id }) => id),
        late!
      )
      assert.includeMembers(
        resumed.deliveries.map((one) => one.organization_id),
        [organizationId, other.id]
      )

      const fromTheFront = yield* claim({ limit: 1, perOrganization: 20 })
      assert.deepStrictEqual(
        fromTheFront.deliveries.map(({ id }) => id),
        [late!]
      )
    }))

  test("claim: takes every delivery once when it resumes again and again", () =>
    Effect.gen(function* () {
      const counts = Array.from({ length: 12 }, (_, index) => [index * 4, 40 - index * 3])
      yield* Effect.forEach(counts, (ofEndpoints) => fixtures.backlog(...ofEndpoints))
      const seen: Array<string> = []
      let completions: ReadonlyArray<Completion> = []
      for (let empty = 0; empty < 2;) {
        const { deliveries } = yield* claim({ limit: 15, perOrganization: 6, resume: true, completions })
        completions = deliveries.map((one) => completion(one))
        seen.push(...deliveries.map(({ id }) => id))
        empty = deliveries.length === 0 ? empty + 1 : 0
      }
      assert.strictEqual(new Set(seen).size, seen.length)
      assert.strictEqual(
        seen.length,
        counts.flat().reduce((sum, count) => sum + count)
      )
    }))

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
                next_retry_at: "2026-11-20T10:00:05.000Z",
                delivered_at: null
              })
            : completion(one, {
                status: "failed",
                last_http_status: 404,
                last_error_summary: "The endpoint returned HTTP 404.",
                delivered_at: null
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
          delivered_at: row.delivered_at?.toISOString() ?? null,
          updated_at: row.updated_at.toISOString()
        }
        assert.deepStrictEqual(written, outcome)
        assert.include(row, { status: outcome.status, is_due: false, last_http_status: outcome.last_http_status })
        assert.strictEqual(row.last_error_summary, outcome.last_error_summary)
        assert.strictEqual(row.due_at?.toISOString() ?? null, outcome.next_retry_at)
      }
      for (const { id } of organizations) {
        assert.deepStrictEqual(yield* fixtures.inFlight(id), { counted: {}, actual: {} })
      }
    }))

  test("claim: writes completions, and fills their slots in the same statement", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { endpoints, id } = yield* fixtures.backlog(25)
      const other = yield* fixtures.backlog(1)
      const queue = yield* DeliveryQueue.DeliveryQueue
      const options = { limit: 100, perOrganization: 10, leaseMs }
      const concurrencyRow = Effect.map(
        sql<{
          readonly at: string
        }>`SELECT ctid::text AS at FROM organization_concurrency WHERE organization_id = ${id}`,
        ([row]) => row!.at
      )

      const first = yield* queue.claim(options)
      assert.strictEqual(first.deliveries.length, 11)
      const own = first.deliveries.filter((one) => one.organization_id === id)
      const before = yield* concurrencyRow
      const second = yield* queue.claim({ ...options, completions: own.slice(0, 4).map((one) => completion(one)) })
      assert.sameMembers(
        [...second.completed],
        own.slice(0, 4).map((one) => one.id)
      )
      assert.strictEqual(second.deliveries.length, 4)
      assert.deepStrictEqual(second.atConcurrencyLimit, [id])
      assert.deepStrictEqual(yield* fixtures.inFlight(id), {
        counted: { [endpoints[0]!]: 10 },
        actual: { [endpoints[0]!]: 10 }
      })
      // As many were claimed as completed: the concurrency row was not updated.
      assert.strictEqual(yield* concurrencyRow, before)

      const rest = [...first.deliveries, ...second.deliveries].filter((one) => !second.completed.includes(one.id))
      const all = [...rest, ...own.slice(0, 4)].map((one) => completion(one))
      const third = yield* queue.claim({ ...options, limit: 3, completions: all })
      // Four of them had been completed before.
      assert.strictEqual(third.completed.length, all.length - 4)
      assert.strictEqual(third.deliveries.length, 3)
      assert.deepStrictEqual((yield* fixtures.inFlight(id)).counted, { [endpoints[0]!]: 3 })
      assert.deepStrictEqual((yield* fixtures.inFlight(other.id)).counted, {})
    }))

  test("claim: allocates the slots of completions as if they had never been taken", () =>
    Effect.gen(function* () {
      const { endpoints, id } = yield* fixtures.backlog(20, 0)
      let completions: ReadonlyArray<Completion> = []
      for (let turn = 0; turn < 3; turn++) {
        const { deliveries } = yield* claim({ completions })
        assert.strictEqual(deliveries.length, 5)
        assert.deepStrictEqual((yield* fixtures.inFlight(id)).counted, { [endpoints[0]!]: 5 })
        completions = deliveries.map((one) => completion(one))
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

  test("promote: makes a retry available at its time, and not before", () =>
    Effect.gen(function* () {
      yield* fixtures.backlog(1)
      const [one] = (yield* claim()).deliveries
      yield* complete([
        completion(one!, {
          status: "retrying",
          next_retry_at: new Date(5000).toISOString(),
          delivered_at: null,
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

      const quarantine = yield* Effect.provide(QuarantineQueue.QuarantineQueue, QuarantineQueue.layer)
      const claimQuarantined = quarantine.claim({ perOrganization: bound, leaseMs })
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
        for (let delivery = yield* claimQuarantined; delivery !== undefined; delivery = yield* claimQuarantined) {
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
