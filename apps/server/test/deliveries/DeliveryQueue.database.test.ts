import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
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

      const { deliveries, left, more } = yield* claim()
      assert.strictEqual(deliveries.length, 1)
      const [delivery] = deliveries
      const row = yield* fixtures.readDelivery(id!)
      assert.include(delivery, {
        id: id!,
        organization_id: organizationId,
        endpoint_id: endpointId,
        fencing_token: 1,
        attempt_count: 1,
        last_attempted_at: null,
        body: `{"id":"${delivery!.event_id}"}`,
        traceparent: "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01",
        url: "https://example.com/a",
        endpoint_enabled: true,
        endpoint_slow: false,
        standard_webhooks: false,
        headers: null,
        next_secret: null,
        next_secret_at: null
      })
      assert.match(delivery!.invoice_id, /^inv_/)
      assert.strictEqual(delivery!.available_at.toISOString(), "1970-01-01T00:00:00.000Z")
      assert.strictEqual(
        fixtures.keyRing.open(delivery!.secret, { column: "webhook_endpoints.secret", row: endpointId }),
        fixtures.secret
      )
      assert.deepStrictEqual({ left, more }, { left: false, more: false })
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
      assert.isTrue(first.left)
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
      assert.isTrue(slow.left)

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

  test("claim: the slots in reserve are for organizations that have fewer in flight than slots are free", () =>
    Effect.gen(function* () {
      yield* Effect.forEach(Array.from({ length: 4 }), () => fixtures.backlog(20))
      const busy = yield* claim({ limit: 20, free: 20, reserve: 4 })
      // Each takes a fifth where five are free or more than the reserve, and one less is free than it would have then.
      assert.lengthOf(busy.deliveries, 16)
      assert.isTrue(busy.left)
      assert.lengthOf((yield* claim({ limit: 4, free: 4, reserve: 4 })).deliveries, 0)
      const idle = yield* fixtures.backlog(20)
      const { deliveries } = yield* claim({ limit: 4, free: 4, reserve: 4 })
      assert.deepStrictEqual(
        deliveries.map((one) => one.organization_id),
        [idle.id, idle.id]
      )
    }))

  test("claim: finds due deliveries behind any number of organizations at their limit", () =>
    Effect.gen(function* () {
      yield* Effect.forEach(Array.from({ length: 12 }), () => fixtures.backlog(3))
      while ((yield* claim({ perOrganization: 1, limit: 5 })).deliveries.length > 0);
      const last = yield* fixtures.backlog(1)
      const { deliveries } = yield* claim({ perOrganization: 1, limit: 5 })
      assert.deepStrictEqual(
        deliveries.map((one) => one.organization_id),
        [last.id]
      )
      const empty = yield* claim({ perOrganization: 1, limit: 5 })
      assert.deepStrictEqual(empty, { deliveries: [], left: true, more: false })
    }))

  test("claim: reports that there is more whenever another claim would find something", () =>
    Effect.gen(function* () {
      yield* Effect.forEach(Array.from({ length: 30 }), (_, index) => fixtures.backlog(index % 7, (index * 3) % 11))
      const other = yield* Effect.provide(DeliveryQueue.DeliveryQueue, worker)
      let turns = 0
      for (let more = true; more; turns++) more = (yield* claim({ limit: 20, perOrganization: 100 })).more
      // A worker that begins anew finds nothing.
      const rest = yield* other.claim({ limit: 100, perOrganization: 100, leaseMs })
      assert.deepStrictEqual(rest.deliveries, [])
      assert.isBelow(turns, 40)
    }))

  test("claim: an organization and an endpoint may have limits of their own", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const organization = yield* fixtures.backlog(30)
      const endpoint = yield* fixtures.backlog(30, 30)
      yield* sql`UPDATE organization_concurrency SET max_in_flight = 3 WHERE organization_id = ${organization.id}`
      yield* sql`UPDATE webhook_endpoints SET max_in_flight = 2 WHERE id = ${endpoint.endpoints[0]!}`
      yield* claim()
      assert.deepStrictEqual((yield* fixtures.inFlight(organization.id)).counted, { [organization.endpoints[0]!]: 3 })
      const { counted } = yield* fixtures.inFlight(endpoint.id)
      assert.strictEqual(counted[endpoint.endpoints[0]!], 2)
      assert.isAtLeast(counted[endpoint.endpoints[1]!]!, 4)
      assert.deepStrictEqual((yield* claim()).deliveries, [])

      yield* sql`UPDATE organization_concurrency SET max_in_flight = 25 WHERE organization_id = ${organization.id}`
      assert.strictEqual((yield* claim()).deliveries.length, 22)
    }))

  const paceOf = Effect.fnUntraced(function* (id: string) {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly pace: string }>`SELECT pace FROM webhook_endpoints WHERE id = ${id}`
    return row!.pace
  })

  const retrying = { status: "retrying", next_retry_at: new Date(3_600_000).toISOString() } as const

  test("an endpoint is slow from an attempt without an answer until one that succeeds, and has one in flight meanwhile", () =>
    Effect.gen(function* () {
      const { endpoints, id } = yield* fixtures.backlog(30)
      const first = yield* claim()
      assert.strictEqual(first.deliveries.length, 10)
      yield* complete(first.deliveries.slice(0, 9).map((one) => completion(one)))
      yield* complete([completion(first.deliveries[9]!, { ...retrying, pace: "slow" })])
      assert.strictEqual(yield* paceOf(endpoints[0]!), "slow")
      const second = yield* claim()
      assert.deepStrictEqual(
        [second.deliveries.length, second.deliveries[0]?.endpoint_slow, second.left],
        [1, true, true]
      )
      assert.deepStrictEqual((yield* claim()).deliveries, [])

      // An error is an answer, but no success.
      yield* complete([completion(second.deliveries[0]!, { ...retrying, last_http_status: 503 })])
      assert.strictEqual(yield* paceOf(endpoints[0]!), "slow")
      const third = yield* claim()
      assert.strictEqual(third.deliveries.length, 1)
      yield* complete([completion(third.deliveries[0]!)])
      assert.strictEqual(yield* paceOf(endpoints[0]!), "steady")
      assert.strictEqual((yield* claim()).deliveries.length, 10)
      assert.deepStrictEqual((yield* fixtures.inFlight(id)).counted, { [endpoints[0]!]: 10 })
    }))

  test("a new endpoint has one in flight until its first answer", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { endpoints } = yield* fixtures.backlog(20)
      yield* sql`UPDATE webhook_endpoints SET pace = 'new'`
      const first = yield* claim({ slow: 0 })
      assert.deepStrictEqual([first.deliveries.length, first.deliveries[0]?.endpoint_slow], [1, false])
      assert.deepStrictEqual((yield* claim()).deliveries, [])
      yield* complete([completion(first.deliveries[0]!, { ...retrying, last_http_status: 503 })])
      assert.strictEqual(yield* paceOf(endpoints[0]!), "steady")
      assert.strictEqual((yield* claim()).deliveries.length, 10)
    }))

  test("claim: takes as many for slow endpoints as it may, in turn, and all of the others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const slow = yield* Effect.forEach(Array.from({ length: 9 }), () => fixtures.backlog(5))
      yield* sql`UPDATE webhook_endpoints SET pace = 'slow'`
      const steady = yield* Effect.forEach(Array.from({ length: 4 }), () => fixtures.backlog(3))
      const served = new Set<string>()
      const first = yield* claim({ slow: 3 })
      const slowOf = (deliveries: typeof first.deliveries) => deliveries.filter((one) => one.endpoint_slow)
      assert.strictEqual(slowOf(first.deliveries).length, 3)
      assert.deepStrictEqual(
        countBy(first.deliveries.filter((one) => !one.endpoint_slow).map((one) => one.organization_id)),
        Object.fromEntries(steady.map(({ id }) => [id, 3]))
      )
      assert.deepStrictEqual((yield* claim({ slow: 0 })).deliveries, [])
      for (const { organization_id } of first.deliveries) served.add(organization_id)
      const second = yield* claim({ slow: 100 })
      for (const { organization_id } of second.deliveries) served.add(organization_id)
      assert.strictEqual(second.deliveries.length, 6)
      assert.isTrue(slow.every(({ id }) => served.has(id)))
    }))

  test("claim: begins at the oldest due time of the round before, and finds one with an earlier due time within a second", () =>
    Effect.gen(function* () {
      const { endpoints, id } = yield* fixtures.backlog(0)
      yield* fixtures.deliveries(id, endpoints[0]!, 30, { dueAt: 100_000 })
      yield* TestClock.adjust(200_000)
      const first = yield* claim({ limit: 5 })
      yield* complete(first.deliveries.map((one) => completion(one)))
      yield* claim({ limit: 1, perOrganization: 1 })
      yield* claim({ limit: 1, perOrganization: 1 })
      const [early] = yield* fixtures.deliveries(id, endpoints[0]!, 1, { dueAt: 60_000 })
      const passing = yield* claim({ limit: 3 })
      assert.notInclude(
        passing.deliveries.map((one) => one.id),
        early!
      )
      yield* TestClock.adjust(1000)
      assert.include(
        (yield* claim({ limit: 3 })).deliveries.map((one) => one.id),
        early!
      )
    }))

  test("claim: writes to no index", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.backlog(20)
      const updates = sql<{ readonly all: number; readonly in_place: number }>`
        SELECT sum(pg_stat_get_xact_tuples_updated(inhrelid))::int AS all,
               sum(pg_stat_get_xact_tuples_hot_updated(inhrelid))::int AS in_place
        FROM pg_inherits WHERE inhparent = 'deliveries'::regclass
      `
      const [[before], [after]] = yield* sql.withTransaction(
        Effect.all([updates, Effect.andThen(claim({ perOrganization: 15 }), updates)])
      )
      assert.strictEqual(after!.all - before!.all, 15)
      assert.strictEqual(after!.in_place - before!.in_place, 15)
    }))
})
