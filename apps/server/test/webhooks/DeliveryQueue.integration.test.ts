import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import type { ClaimedDelivery } from "../../src/webhooks/ClaimedDelivery.ts"
import type { Completion } from "../../src/webhooks/Completion.ts"
import * as DeliveryQueue from "../../src/webhooks/DeliveryQueue.ts"
import * as QuarantineQueue from "../../src/webhooks/QuarantineQueue.ts"
import * as DeliveryScheduler from "../../src/webhooks/DeliveryScheduler.ts"
import { databases } from "../support/TestDatabase.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"

const leaseMs = 30_000

const claim = (options: Partial<DeliveryQueue.DeliveryClaimOptions> = {}) =>
  Effect.flatMap(DeliveryQueue.DeliveryQueue, (queue) =>
    queue.claim({ limit: 100, perOrganization: 10, leaseMs, ...options })
  )

const { completion } = fixtures

const complete = (completions: ReadonlyArray<Completion>) =>
  Effect.flatMap(DeliveryQueue.DeliveryQueue, (queue) => queue.complete(completions))

const promoteDue = Effect.flatMap(DeliveryScheduler.DeliveryScheduler, (scheduler) => scheduler.promoteDue)

const countBy = (ids: ReadonlyArray<string>): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const id of ids) counts[id] = (counts[id] ?? 0) + 1
  return counts
}

for (const database of databases) {
  // The layer keeps the state of the scan, so a queue of its own stands for a worker of its own.
  const worker = Layer.fresh(DeliveryQueue.layer)
  const scheduler = DeliveryScheduler.layer.pipe(Layer.provide(TestSettings.layer()))
  const begin = Effect.andThen(fixtures.clear, TestClock.setTime(0))

  layer(database.layer, { timeout: "60 seconds" })(`DeliveryQueue (${database.name})`, (it) => {
    const test = (
      name: string,
      body: () => Effect.Effect<
        void,
        unknown,
        DeliveryQueue.DeliveryQueue | DeliveryScheduler.DeliveryScheduler | SqlClient.SqlClient
      >
    ) => it.effect(name, () => body().pipe(Effect.provide([worker, scheduler]), (test) => Effect.andThen(begin, test)))

    test("claim: returns due deliveries with everything that an attempt needs", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* fixtures.organization
        const endpointId = yield* fixtures.endpoint(organizationId, { url: "https://example.com/a" })
        const [id] = yield* fixtures.deliveries(organizationId, endpointId, 1)
        yield* sql`UPDATE events SET traceparent = '00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01'`
        yield* TestClock.adjust("3 seconds")

        const { deliveries, atConcurrencyLimit, more } = yield* claim()
        assert.strictEqual(deliveries.length, 1)
        const [delivery] = deliveries
        const row = yield* fixtures.readDelivery(id!)
        assert.include(delivery, {
          id: id!,
          organization_id: organizationId,
          endpoint_id: endpointId,
          event_type: "invoice.received",
          fencing_token: 1,
          attempt_count: 1,
          last_attempted_at: null,
          body: `{"id":"${delivery!.event_id}"}`,
          traceparent: "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01",
          url: "https://example.com/a",
          endpoint_enabled: true,
          next_secret: null,
          next_secret_at: null
        })
        assert.match(delivery!.invoice_id, /^inv_/)
        assert.strictEqual(delivery!.available_at.toISOString(), "1970-01-01T00:00:00.000Z")
        assert.strictEqual(
          fixtures.keyRing.open(delivery!.secret, { column: "webhook_endpoints.secret", row: endpointId }),
          fixtures.secret
        )
        assert.deepStrictEqual({ atConcurrencyLimit, more }, { atConcurrencyLimit: [], more: false })
        assert.include(row, {
          status: "delivering",
          is_due: true,
          fencing_token: 1,
          attempt_count: 0,
          next_retry_at: null
        })
        assert.strictEqual(row.lease_expires_at?.toISOString(), "1970-01-01T00:00:33.000Z")
        assert.strictEqual(row.last_attempted_at, null)
        assert.strictEqual(row.updated_at.toISOString(), "1970-01-01T00:00:03.000Z")
      }))

    test("claim: takes nothing twice while a lease lasts, and tells whether the endpoint is enabled", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { endpoints } = yield* fixtures.backlog(3, 1, 1)
        yield* sql`UPDATE webhook_endpoints SET enabled = false WHERE id = ${endpoints[1]!}`
        yield* sql`UPDATE webhook_endpoints SET deleted_at = updated_at WHERE id = ${endpoints[2]!}`
        const first = yield* claim()
        const usable = Object.fromEntries(first.deliveries.map((one) => [one.endpoint_id, one.endpoint_enabled]))
        assert.deepStrictEqual(usable, { [endpoints[0]!]: true, [endpoints[1]!]: false, [endpoints[2]!]: false })
        assert.strictEqual(first.deliveries.length, 5)
        assert.deepStrictEqual((yield* claim()).deliveries, [])
      }))

    test("claim: takes the oldest deliveries of an endpoint first", () =>
      Effect.gen(function* () {
        const organizationId = yield* fixtures.organization
        const endpointId = yield* fixtures.endpoint(organizationId)
        const late = yield* fixtures.deliveries(organizationId, endpointId, 5, { dueAt: 1000 })
        const early = yield* fixtures.deliveries(organizationId, endpointId, 5, { dueAt: 500 })
        const { deliveries } = yield* claim({ perOrganization: 6 })
        assert.sameMembers(
          deliveries.map(({ id }) => id),
          [...early, late[0]!]
        )
      }))

    test("claim: the only endpoint of an organization takes all its slots and no more", () =>
      Effect.gen(function* () {
        const { endpoints, id } = yield* fixtures.backlog(25)
        const first = yield* claim()
        assert.strictEqual(first.deliveries.length, 10)
        assert.deepStrictEqual(first.atConcurrencyLimit, [id])
        assert.deepStrictEqual((yield* fixtures.inFlight(id)).counted, { [endpoints[0]!]: 10 })
        assert.strictEqual((yield* claim()).deliveries.length, 0)

        yield* complete(first.deliveries.slice(0, 4).map((one) => completion(one)))
        assert.deepStrictEqual((yield* fixtures.inFlight(id)).counted, { [endpoints[0]!]: 6 })
        assert.strictEqual((yield* claim()).deliveries.length, 4)
        yield* complete(first.deliveries.slice(4).map((one) => completion(one)))
        assert.strictEqual((yield* claim()).deliveries.length, 6)
      }))

    test("claim: follows a concurrency limit that was lowered, and one that was raised", () =>
      Effect.gen(function* () {
        yield* fixtures.backlog(30)
        const first = yield* claim({ perOrganization: 10 })
        assert.strictEqual((yield* claim({ perOrganization: 4 })).deliveries.length, 0)
        yield* complete(first.deliveries.slice(0, 7).map((one) => completion(one)))
        assert.strictEqual((yield* claim({ perOrganization: 4 })).deliveries.length, 1)
        assert.strictEqual((yield* claim({ perOrganization: 12 })).deliveries.length, 8)
      }))

    test("claim: leaves a slot for another endpoint of the organization when others hang", () =>
      Effect.gen(function* () {
        const { endpoints, id } = yield* fixtures.backlog(100, 0, 0)
        const slow = yield* claim()
        assert.deepStrictEqual((yield* fixtures.inFlight(id)).counted, { [endpoints[0]!]: 5 })
        assert.deepStrictEqual(slow.atConcurrencyLimit, [id])

        // The next one that hangs takes its half of what is left.
        yield* fixtures.deliveries(id, endpoints[1]!, 100)
        yield* claim()
        assert.deepStrictEqual((yield* fixtures.inFlight(id)).counted, { [endpoints[0]!]: 5, [endpoints[1]!]: 3 })

        yield* fixtures.deliveries(id, endpoints[2]!, 1)
        const { deliveries } = yield* claim()
        assert.deepStrictEqual(
          deliveries.map((one) => one.endpoint_id),
          [endpoints[2]]
        )
      }))

    test("claim: allocates slots evenly to endpoints that all have a backlog", () =>
      Effect.gen(function* () {
        const { endpoints, id } = yield* fixtures.backlog(50, 50, 50)
        yield* claim()
        const { counted } = yield* fixtures.inFlight(id)
        // A slot is left for a fourth endpoint; the others differ by one at most.
        assert.sameMembers(
          endpoints.map((endpoint) => counted[endpoint]!),
          [3, 3, 2]
        )
      }))

    test("claim: allocates to an endpoint with nothing in flight while a slot is free", () =>
      Effect.gen(function* () {
        const { id } = yield* fixtures.backlog(...Array.from({ length: 15 }, () => 5))
        const { deliveries } = yield* claim()
        assert.deepStrictEqual(
          Object.values(countBy(deliveries.map((one) => one.endpoint_id))),
          Array.from({ length: 10 }, () => 1)
        )
        // With a limit of one, the endpoints take turns.
        yield* complete(deliveries.map((one) => completion(one)))
        const served: Array<string> = []
        for (let turn = 0; turn < 15; turn++) {
          const { deliveries } = yield* claim({ perOrganization: 1, limit: 1 })
          assert.strictEqual(deliveries.length, 1)
          served.push(deliveries[0]!.endpoint_id)
          yield* complete(deliveries.map((one) => completion(one)))
        }
        assert.strictEqual(new Set(served).size, 15)
        assert.deepStrictEqual((yield* fixtures.inFlight(id)).counted, {})
      }))

    test("claim: organizations take turns, with large and small backlogs", () =>
      Effect.gen(function* () {
        const big = yield* fixtures.backlog(500)
        const small = yield* Effect.forEach(Array.from({ length: 9 }), () => fixtures.backlog(1))
        const { deliveries } = yield* claim({ limit: 10 })
        assert.deepStrictEqual(
          countBy(deliveries.map((one) => one.organization_id)),
          Object.fromEntries([big, ...small].map(({ id }) => [id, 1]))
        )
      }))

    test("claim: begins behind the organization served last, and wraps around", () =>
      Effect.gen(function* () {
        const organizations = yield* Effect.forEach(Array.from({ length: 9 }), () => fixtures.backlog(10))
        const served: Array<string> = []
        for (let turn = 0; turn < 9; turn++) {
          const { deliveries } = yield* claim({ limit: 3, perOrganization: 3 })
          served.push(...deliveries.map((one) => one.organization_id))
        }
        // Three rounds: no organization is served again before all were.
        for (let round = 0; round < 27; round += 9) {
          assert.sameMembers(
            served.slice(round, round + 9),
            organizations.map(({ id }) => id)
          )
        }
      }))

    test("claim: finds due deliveries behind any number of organizations at their limit", () =>
      Effect.gen(function* () {
        const held = yield* Effect.forEach(Array.from({ length: 12 }), () => fixtures.backlog(3))
        while ((yield* claim({ perOrganization: 1, limit: 5 })).deliveries.length > 0);
        const last = yield* fixtures.backlog(1)
        const { deliveries } = yield* claim({ perOrganization: 1, limit: 5 })
        assert.deepStrictEqual(
          deliveries.map((one) => one.organization_id),
          [last.id]
        )
        const empty = yield* claim({ perOrganization: 1, limit: 5 })
        assert.deepStrictEqual([empty.deliveries, empty.more], [[], false])
        assert.sameMembers(
          [...empty.atConcurrencyLimit],
          held.map(({ id }) => id)
        )
      }))

    test("claim: reports the organizations at their limit, or that there is more, when it scans as many as it may take", () =>
      Effect.gen(function* () {
        const held = yield* Effect.forEach([1, 2], () => fixtures.backlog(20))
        assert.strictEqual((yield* claim()).deliveries.length, 20)
        const { id } = yield* fixtures.backlog(20)
        // It reads ten candidates of each of three endpoints.
        const first = yield* claim({ limit: 12 })
        assert.strictEqual(first.deliveries.length, 10)
        const last = first.more ? yield* claim({ limit: 12 }) : first
        assert.strictEqual(last.more, false)
        assert.sameMembers([...last.atConcurrencyLimit], [...held.map(({ id }) => id), id])
      }))

    for (const resume of [false, true]) {
      test(`claim: reports that there is more whenever another claim would find something${resume ? ", and resumes" : ""}`, () =>
        Effect.gen(function* () {
          yield* Effect.forEach(Array.from({ length: 30 }), (_, index) => fixtures.backlog(index % 7, (index * 3) % 11))
          const other = yield* Effect.provide(DeliveryQueue.DeliveryQueue, worker)
          let turns = 0
          for (let more = true; more; turns++) more = (yield* claim({ limit: 20, perOrganization: 100, resume })).more
          // A worker that reads everything anew finds nothing.
          const rest = yield* other.claim({ limit: 100, perOrganization: 100, leaseMs })
          assert.deepStrictEqual(rest.deliveries, [])
          assert.isBelow(turns, 40)
        }))
    }

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

    test("claim: writes to no index", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* fixtures.backlog(20)
        const updates = sql<{ readonly all: number; readonly in_place: number }>`
          SELECT pg_stat_get_xact_tuples_updated('deliveries'::regclass)::int AS all,
                 pg_stat_get_xact_tuples_hot_updated('deliveries'::regclass)::int AS in_place
        `
        const [[before], [after]] = yield* sql.withTransaction(
          Effect.all([updates, Effect.andThen(claim({ perOrganization: 15 }), updates)])
        )
        assert.strictEqual(after!.all - before!.all, 15)
        assert.strictEqual(after!.in_place - before!.in_place, 15)
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
}
