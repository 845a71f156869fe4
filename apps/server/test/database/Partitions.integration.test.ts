/** Weeks begin and end without a loss: at the border, beside a transaction that keeps the tables, and when the drop is cut off. */
import { assert, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as SqlErrors from "../../src/database/SqlErrors.ts"
import * as SubmitInvoice from "../../src/invoices/SubmitInvoice.ts"
import * as InvoiceWorker from "../../src/invoices/sandbox/InvoiceWorker.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as DeliveryRecords from "../../src/deliveries/DeliveryRecords.ts"
import * as Partitions from "../../src/database/Partitions.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"

const week = 7 * 86_400_000

// A Monday.
const border = Date.UTC(1970, 0, 12)

// Those of the two weeks at the border.
const makePartitions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const existing = yield* sql<{ readonly name: string }>`
    SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent IN ('events'::regclass, 'deliveries'::regclass)
  `
  for (const { name } of existing) yield* sql`DROP TABLE ${sql(name)}`
  yield* TestClock.setTime(border - week)
  yield* Partitions.make(1)
  yield* Partitions.dropBefore(border - week)
})

const begin = Effect.andThen(fixtures.clear, makePartitions)

const count = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly deliveries: number; readonly events: number; readonly weeks: number }>`
    SELECT (SELECT count(*)::int FROM deliveries) AS deliveries, (SELECT count(*)::int FROM events) AS events,
           (SELECT count(DISTINCT tableoid)::int FROM deliveries) AS weeks
  `
  return row!
})

const services = Layer.mergeAll(SubmitInvoice.layer, DeliveryRecords.layer).pipe(
  Layer.provideMerge(layerPostgres),
  Layer.provideMerge(TestSettings.layer({ sandboxStepMs: 1 }))
)

layer(services, { timeout: "120 seconds" })("Partitions", (it) => {
  it.effect("an invoice is submitted, delivered, listed and replayed over the border of a week", () =>
    Effect.gen(function* () {
      yield* begin
      const { submit } = yield* SubmitInvoice.SubmitInvoice
      const { advanceDue } = yield* InvoiceWorker.make
      const queue = yield* Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
      const records = yield* DeliveryRecords.DeliveryRecords
      const organizationId = yield* fixtures.organization
      const endpointId = yield* fixtures.endpoint(organizationId)
      const submission = fixtures.submission({ organizationId, idempotencyKey: "key" })

      yield* TestClock.setTime(border - 1)
      const stored = yield* submit(submission)
      for (let step = 0; step < 5; step++) {
        yield* TestClock.adjust(1)
        yield* advanceDue
      }
      assert.deepStrictEqual(yield* count, { deliveries: 4, events: 4, weeks: 2 })
      assert.deepStrictEqual(yield* submit(submission), { ...stored, replayed: true })

      const claimed: Array<string> = []
      for (let n = 0; n < 4; n++) {
        const { deliveries } = yield* queue.claim({ limit: 10, perOrganization: 10, leaseMs: 10_000 })
        const completions = deliveries.map((one) => fixtures.completion(one))
        assert.lengthOf(yield* queue.complete(completions), deliveries.length)
        claimed.push(...deliveries.map(({ id }) => id))
      }
      const listed = yield* records.list(endpointId, {}, { limit: 10, after: undefined })
      assert.deepStrictEqual(listed.records.map(({ id }) => id).sort(), claimed.sort())
      assert.lengthOf(claimed, 4)
      for (const { event_id, id, status } of listed.records) {
        assert.strictEqual(status, "succeeded")
        const ofEvent = yield* records.list(endpointId, { eventId: event_id }, { limit: 10, after: undefined })
        assert.deepStrictEqual(
          ofEvent.records.map((one) => one.id),
          [id]
        )
        assert.strictEqual((yield* records.find(endpointId, id)).event_id, event_id)
      }
      const ofInvoice = yield* records.list(
        endpointId,
        { invoiceId: stored.invoiceId },
        { limit: 10, after: undefined }
      )
      assert.lengthOf(ofInvoice.records, 4)
    })
  )

  it.effect("a delivery that was claimed before its week is emptied is completed after it", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      const queue = yield* Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
      yield* fixtures.backlog(12)
      const { deliveries } = yield* queue.claim({ limit: 10, perOrganization: 1, leaseMs: 10_000 })
      assert.lengthOf(deliveries, 1)
      yield* sql`
        UPDATE deliveries SET status = 'failed', failure_status = 'failed', due_at = NULL, is_due = false, last_error_summary = 'x'
        WHERE lease_expires_at IS NULL
      `
      assert.strictEqual(yield* Partitions.dropBefore(border), 0)
      assert.deepStrictEqual(yield* count, { deliveries: 1, events: 1, weeks: 1 })
      assert.lengthOf(yield* queue.complete(deliveries.map((one) => fixtures.completion(one))), 1)
      assert.strictEqual(yield* Partitions.dropBefore(border), 1)
      assert.deepStrictEqual(yield* count, { deliveries: 0, events: 0, weeks: 0 })
    })
  )

  it.effect("neither waits long for a transaction that reads the tables, nor removes anything beside it", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.backlog(12)
      yield* sql`
        UPDATE deliveries SET status = 'failed', failure_status = 'failed', due_at = NULL, is_due = false, last_error_summary = 'x'
      `
      const isReading = yield* Deferred.make<void>()
      const isOver = yield* Deferred.make<void>()
      const reading = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT FROM events`
            yield* Deferred.succeed(isReading, undefined)
            yield* Deferred.await(isOver)
          })
        )
      )
      yield* Deferred.await(isReading)
      const error = yield* Effect.flip(Partitions.dropBefore(border))
      assert.isTrue(SqlErrors.isLockTimeout(error))
      assert.deepStrictEqual(yield* count, { deliveries: 12, events: 12, weeks: 1 })
      yield* Deferred.succeed(isOver, undefined)
      yield* Fiber.join(reading)
      assert.strictEqual(yield* Partitions.dropBefore(border), 1)
    })
  )

  it.effect("a session that is killed while it empties a week leaves all of it", () =>
    Effect.gen(function* () {
      yield* begin
      const sql = yield* SqlClient.SqlClient
      const { endpoints } = yield* fixtures.backlog(12)
      yield* sql`
        UPDATE deliveries SET status = 'failed', failure_status = 'failed', due_at = NULL, is_due = false, last_error_summary = 'x'
        WHERE id <> (SELECT min(id) FROM deliveries WHERE endpoint_id = ${endpoints[0]!})
      `
      // The session ends itself when the first row is put back.
      yield* sql`
        CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$
      `
      yield* sql`CREATE TRIGGER ends BEFORE INSERT ON events_19700105 FOR EACH ROW EXECUTE FUNCTION end_session()`
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Partitions.dropBefore(border))))
      assert.deepStrictEqual(yield* count, { deliveries: 12, events: 12, weeks: 1 })
      yield* sql`DROP TRIGGER ends ON events_19700105`
      yield* sql`DROP FUNCTION end_session`
      assert.strictEqual(yield* Partitions.dropBefore(border), 0)
      assert.deepStrictEqual(yield* count, { deliveries: 1, events: 1, weeks: 1 })
    })
  )

  it.effect("a submission in a week without partitions fails as in an outage, and is stored once there are some", () =>
    Effect.gen(function* () {
      yield* begin
      const { submit } = yield* SubmitInvoice.SubmitInvoice
      yield* TestClock.setTime(border + 2 * week)
      const submission = fixtures.submission({ organizationId: yield* fixtures.organization, idempotencyKey: "key" })
      const exit = yield* Effect.exit(submit(submission))
      assert.isTrue(Exit.isFailure(exit) && SqlErrors.isTransient(Cause.squash(exit.cause)))
      yield* Partitions.make(0)
      assert.isFalse((yield* submit(submission)).replayed)
    })
  )

  it.effect("says which week has no partitions", () =>
    Effect.gen(function* () {
      yield* begin
      assert.isUndefined(yield* Partitions.problem(1))
      assert.include(yield* Partitions.problem(2), "the week of 1970-01-19 ")
      yield* TestClock.setTime(border + week)
      assert.include(yield* Partitions.problem(0), "the week of 1970-01-19 ")
      yield* Partitions.make(0)
      assert.isUndefined(yield* Partitions.problem(0))
    })
  )
})
