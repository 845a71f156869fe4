import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as LaneOverview from "../../src/invoices/ksef/LaneOverview.ts"
import * as KsefMetrics from "../../src/invoices/ksef/KsefMetrics.ts"
import * as QueueGauges from "../../src/maintenance/QueueGauges.ts"
import * as EngineMetrics from "../../src/observability/EngineMetrics.ts"
import * as fixtures from "../support/fixtures.ts"
import { database, layerPostgres } from "../support/TestDatabase.ts"
import * as ConcurrencyLimits from "../../src/deliveries/ConcurrencyLimits.ts"
import * as DeliveryStats from "../../src/deliveries/DeliveryStats.ts"
import * as TestSettings from "../support/TestSettings.ts"

const perOrganization = 10

const valueOf = (gauge: Metric.Gauge<number>) => Effect.map(Metric.value(gauge), ({ value }) => value)

const depth = (queue: EngineMetrics.Queue) => valueOf(EngineMetrics.queueDepth(queue))

const isDue = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE queue_gauges SET read_at = '-infinity'`)

layer(Layer.merge(database.layer, TestSettings.layer({ liveMode: true })), { timeout: "120 seconds" })(
  `QueueGauges (${database.name})`,
  (it) => {
    it.effect("counts the rows of each queue, and returns the age of the oldest due row", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const nothing = yield* QueueGauges.read(perOrganization)
        assert.deepStrictEqual(
          nothing.map(({ depth, oldest, queue }) => [queue, depth, oldest]),
          [
            ["invoices", 0, null],
            ["deliveries", 0, null],
            ["limited", 0, null],
            ["retries", 0, null]
          ]
        )
        const { id } = yield* fixtures.backlog(4)
        const other = yield* fixtures.endpoint(id)
        yield* fixtures.deliveries(id, other, 2, { dueAt: -500 })
        const [retry] = yield* fixtures.deliveries(id, other, 1, { dueAt: 9000 })
        yield* sql`
            UPDATE deliveries SET status = 'retrying', failure_status = 'retrying', is_due = false, next_retry_at = due_at WHERE id = ${retry!}
          `
        const invoiceId = yield* fixtures.invoice(id)
        yield* sql`UPDATE invoices SET due_at = ${new Date(70)} WHERE id = ${invoiceId}`
        yield* TestClock.adjust(1000)
        const rows = yield* QueueGauges.read(perOrganization)
        assert.deepStrictEqual(
          rows.map(({ depth, oldest, queue }) => [queue, depth, oldest?.getTime()]),
          [
            ["invoices", 1, 70],
            ["deliveries", 6, -500],
            ["limited", 0, undefined],
            ["retries", 1, 9000]
          ]
        )
      })
    )

    it.effect("tells a delivery that could be sent from one that waits for the limit of its organization", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        const sql = yield* SqlClient.SqlClient
        const full = yield* fixtures.organization
        const [slow, sibling] = [yield* fixtures.endpoint(full), yield* fixtures.endpoint(full)]
        yield* fixtures.deliveries(full, slow!, 1, { dueAt: -9000 })
        yield* fixtures.deliveries(full, sibling!, 1, { dueAt: -8000 })
        const idle = yield* fixtures.organization
        yield* fixtures.deliveries(idle, yield* fixtures.endpoint(idle), 1, { dueAt: -500 })

        const oldest = Effect.fnUntraced(function* (inFlight: Readonly<Record<string, number>>) {
          yield* sql`
              UPDATE organization_concurrency SET in_flight = ${JSON.stringify(inFlight)}::jsonb WHERE organization_id = ${full}
            `
          const rows = yield* QueueGauges.read(perOrganization)
          return ["deliveries", "limited"].map((name) => rows.find(({ queue }) => queue === name)?.oldest?.getTime())
        })
        const stats = yield* Effect.provide(DeliveryStats.DeliveryStats, DeliveryStats.layer)
        const limitedSince = Effect.map(stats.limitedSince(full, perOrganization), (since) => since?.getTime())
        assert.deepStrictEqual(yield* oldest({}), [-9000, undefined])
        assert.isUndefined(yield* limitedSince)
        assert.deepStrictEqual(yield* oldest({ [slow!]: 6, [sibling!]: 4 }), [-500, -9000])
        assert.strictEqual(yield* limitedSince, -9000)
        assert.isNull(yield* stats.limitedSince(idle, perOrganization))
        // One of several endpoints leaves slots to the others.
        assert.deepStrictEqual(yield* oldest({ [slow!]: 5 }), [-8000, -9000])
        // Limits of the endpoint and of the organization count in place of that of the deployment.
        yield* sql`UPDATE webhook_endpoints SET max_in_flight = 2 WHERE id = ${slow!}`
        assert.deepStrictEqual(yield* oldest({ [slow!]: 2 }), [-8000, -9000])
        yield* ConcurrencyLimits.set(full, 2)
        assert.deepStrictEqual(yield* oldest({ [sibling!]: 2 }), [-500, -9000])
        yield* ConcurrencyLimits.set(full, null)
        assert.deepStrictEqual(yield* oldest({ [sibling!]: 2 }), [-9000, undefined])
      })
    )

    it.effect("is read once in 15 seconds for all processes, and every process exports what was read", () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        yield* isDue
        yield* fixtures.backlog(4)
        yield* QueueGauges.refresh
        assert.strictEqual(yield* depth("deliveries"), 4)
        assert.isAbove(yield* valueOf(EngineMetrics.queueOldestSeconds("deliveries")), 0)
        // Another process within these seconds exports what this one has read.
        yield* fixtures.clear
        yield* Metric.update(EngineMetrics.queueDepth("deliveries"), 0)
        yield* QueueGauges.refresh
        assert.strictEqual(yield* depth("deliveries"), 4)
        yield* isDue
        yield* QueueGauges.refresh
        assert.strictEqual(yield* depth("deliveries"), 0)
        assert.strictEqual(yield* valueOf(EngineMetrics.queueOldestSeconds("deliveries")), 0)
        assert.strictEqual(yield* valueOf(KsefMetrics.oldestUnsentSeconds), 0)
      })
    )

    it.effect(
      "tells a live invoice that is delayed from one whose organization has no credential that KSeF accepted",
      () =>
        Effect.gen(function* () {
          yield* fixtures.clear
          const sql = yield* SqlClient.SqlClient
          yield* sql`INSERT INTO national_environment (environment) VALUES ('test')`
          const waiting = Effect.fnUntraced(function* (dueAt: number, credential?: readonly [string, string]) {
            const organization = yield* fixtures.organization
            const invoice = yield* fixtures.invoice(organization)
            yield* sql`
            UPDATE invoices SET mode = 'live', scenario = NULL, status = 'queued', official_number = NULL, completed_at = NULL,
                                due_at = ${new Date(dueAt)}
            WHERE id = ${invoice}
          `
            if (credential === undefined) return
            const [state, environment] = credential
            yield* sql`
            UPDATE organizations SET credential = '\\x010000', credential_kind = 'ksef_token', credential_context = id,
                                     credential_updated_at = now(), credential_state = ${state}, credential_environment = ${environment}
            WHERE id = ${organization}
          `
          })
          const oldest = Effect.map(LaneOverview.readGauges, ({ oldest_unsent, oldest_without_credential }) => [
            oldest_unsent?.getTime(),
            oldest_without_credential?.getTime()
          ])
          assert.deepStrictEqual(yield* oldest, [undefined, undefined])
          yield* waiting(5000)
          assert.deepStrictEqual(yield* oldest, [undefined, 5000])
          yield* waiting(4000, ["refused", "test"])
          assert.deepStrictEqual(yield* oldest, [undefined, 4000])
          yield* waiting(9000, ["accepted", "test"])
          assert.deepStrictEqual(yield* oldest, [9000, 4000])
          yield* waiting(3000, ["accepted", "prod"])
          yield* waiting(8000, ["accepted", "test"])
          assert.deepStrictEqual(yield* oldest, [8000, 3000])
          yield* isDue
          yield* QueueGauges.refresh
          const [unsent, without] = [KsefMetrics.oldestUnsentSeconds, KsefMetrics.unsentWithoutCredentialSeconds]
          assert.strictEqual(Math.round((yield* valueOf(without)) - (yield* valueOf(unsent))), 5)
        })
    )
  }
)

layer(Layer.merge(layerPostgres, TestSettings.layer()), { timeout: "120 seconds" })(
  "QueueGauges over several connections",
  (it) => {
    it.effect("does not wait for a process that reads", () =>
      Effect.gen(function* () {
        yield* isDue
        const sql = yield* SqlClient.SqlClient
        const isRead = yield* Deferred.make<void>()
        const reading = yield* Deferred.make<void>()
        const reader = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`SELECT FROM queue_gauges FOR UPDATE`
              yield* Deferred.succeed(reading, undefined)
              yield* Deferred.await(isRead)
            })
          )
        )
        yield* Deferred.await(reading)
        yield* QueueGauges.refresh
        yield* Deferred.succeed(isRead, undefined)
        yield* Fiber.join(reader)
      })
    )

    it.effect("finds the oldest snapshot that a session holds open, and none when it has ended", () =>
      Effect.gen(function* () {
        const client = yield* PgClient.PgClient
        const isMeasured = yield* Deferred.make<void>()
        const holding = yield* Deferred.make<void>()
        const holder = yield* Effect.forkChild(
          client.withTransaction(
            Effect.gen(function* () {
              yield* client`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`
              yield* client`SELECT 1`
              yield* Deferred.succeed(holding, undefined)
              yield* Deferred.await(isMeasured)
            })
          )
        )
        yield* Deferred.await(holding)
        assert.instanceOf(yield* QueueGauges.oldestSnapshot, Date)
        yield* isDue
        yield* QueueGauges.refresh
        assert.isAbove(yield* valueOf(EngineMetrics.oldestSnapshotSeconds), 0)
        yield* Deferred.succeed(isMeasured, undefined)
        yield* Fiber.join(holder)
        assert.isNull(yield* QueueGauges.oldestSnapshot)
      })
    )

    it.effect("finds the WAL that is kept for a replication slot that nobody reads", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`SELECT FROM pg_create_physical_replication_slot('of_nobody', true)`
        yield* sql`SELECT FROM pg_logical_emit_message(false, 'test', repeat('x', 100000))`
        yield* isDue
        yield* QueueGauges.refresh
        assert.isAbove(yield* valueOf(EngineMetrics.retainedWalBytes), 100_000)
      }).pipe(
        Effect.ensuring(
          Effect.ignore(
            Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT FROM pg_drop_replication_slot('of_nobody')`)
          )
        )
      )
    )
  }
)
