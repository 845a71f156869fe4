import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import * as Cte from "../../src/database/Cte.ts"
import { StatementTime } from "../../src/database/StatementTime.ts"
import * as WorkerGroup from "../../src/jobs/WorkerGroup.ts"
import { claim as claimStatement, type ClaimRow } from "../../src/webhooks/claim.sql.ts"
import * as DeliveryQueue from "../../src/webhooks/DeliveryQueue.ts"
import type { ClaimParameters } from "../../src/webhooks/scan.sql.ts"
import * as fixtures from "../support/fixtures.ts"
import { claim, complete, describeQueue, leaseMs, worker } from "./support/deliveryQueue.ts"

const { completion } = fixtures

const countBy = (ids: ReadonlyArray<string>): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const id of ids) counts[id] = (counts[id] ?? 0) + 1
  return counts
}

describeQueue("DeliveryQueue", (test) => {
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
        standard_webhooks: false,
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

  test("claim: takes only what is in the given partitions, and completes what is in others", () =>
    Effect.gen(function* () {
      const { partitionOf, partitions } = WorkerGroup
      const first = yield* fixtures.backlog(3)
      const second = yield* fixtures.backlog(3)
      const own = [partitionOf(first.id)]
      const others = partitions.filter((one) => !own.includes(one))
      const foreign = yield* claim({ partitions: others })
      const completions = foreign.deliveries.map((delivery) => completion(delivery))
      const { completed, deliveries, more } = yield* claim({ partitions: own, completions })
      assert.sameMembers(
        [...completed],
        foreign.deliveries.map(({ id }) => id)
      )
      const expected = partitionOf(second.id) === own[0] ? { [first.id]: 3, [second.id]: 3 } : { [first.id]: 3 }
      assert.deepStrictEqual(countBy(deliveries.map(({ organization_id }) => organization_id)), expected)
      assert.isFalse(more)
      assert.deepStrictEqual((yield* claim({ partitions: [] })).deliveries, [])
    }))

  test("claim: counts only the endpoints of its partitions for its limit, and passes the others", () =>
    Effect.gen(function* () {
      const { partitionOf } = WorkerGroup
      const organizations = yield* Effect.forEach(Array.from({ length: 40 }), () => fixtures.backlog(1))
      const own = [partitionOf(organizations[0]!.id), partitionOf(organizations.at(-1)!.id)]
      const expected = organizations.map(({ id }) => id).filter((id) => own.includes(partitionOf(id)))
      const { deliveries } = yield* claim({ partitions: own, limit: expected.length })
      assert.sameMembers(
        deliveries.map(({ organization_id }) => organization_id),
        expected
      )
    }))

  test("claim: returns a resume cursor for each endpoint of another partition that it passes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const organizations = yield* Effect.forEach(Array.from({ length: 3 }), () => fixtures.backlog(2, 1))
      const parameters: ClaimParameters = {
        completions: [],
        after: "",
        resumeCursors: [],
        partitions: [],
        limit: 10,
        general: 10,
        perOrganization: 10,
        leaseMs,
        now: yield* (yield* StatementTime)(sql)
      }
      const rows = yield* Cte.make<ClaimRow, ClaimParameters>(sql, claimStatement, parameters)
      assert.strictEqual(rows.length, 1)
      assert.sameMembers(
        rows[0]!.scan_summary!.resumeCursors.map(([, endpoint]) => endpoint),
        organizations.flatMap(({ endpoints }) => endpoints)
      )
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

  test("claim: takes one delivery of an organization that has none in flight when no general slot is left", () =>
    Effect.gen(function* () {
      const busy = yield* Effect.forEach(Array.from({ length: 8 }), () => fixtures.backlog(20))
      const first = yield* claim({ limit: 16, perOrganization: 5 })
      assert.deepStrictEqual(
        countBy(first.deliveries.map(({ organization_id }) => organization_id)),
        Object.fromEntries(busy.map(({ id }) => [id, 2]))
      )
      // Their endpoints are last in the scan.
      yield* TestClock.adjust(10)
      const idle = yield* Effect.forEach(Array.from({ length: 2 }), () => fixtures.backlog(20))

      // Two of the twelve slots are general. Others take them, and each organization without a delivery still gets one.
      const second = yield* claim({ limit: 12, general: 2, perOrganization: 5 })
      const counts = countBy(second.deliveries.map(({ organization_id }) => organization_id))
      assert.isTrue(second.more)
      assert.strictEqual(second.deliveries.length, 4)
      for (const { id } of idle) assert.isAtLeast(counts[id] ?? 0, 1)

      // All have deliveries in flight, and wait for general slots or a completion.
      const third = yield* claim({ limit: 10, general: 0, perOrganization: 5 })
      assert.deepStrictEqual(third.deliveries, [])
      assert.isFalse(third.more)
      assert.sameMembers(
        [...third.atConcurrencyLimit],
        [...busy, ...idle].map(({ id }) => id)
      )

      const ended = [...first.deliveries, ...second.deliveries].filter((one) => one.organization_id === idle[1]!.id)
      const last = yield* claim({
        limit: 11,
        general: 0,
        perOrganization: 5,
        completions: ended.map((one) => completion(one))
      })
      assert.deepStrictEqual(
        last.deliveries.map(({ organization_id }) => organization_id),
        [idle[1]!.id]
      )
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
})
