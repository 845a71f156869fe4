/** Batches of submissions: what a connection that dies leaves behind, and fields that are absent. */
import { assert, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as SqlErrors from "../../src/database/SqlErrors.ts"
import { NationalSystem } from "../../src/invoices/ksef/NationalSystem.ts"
import * as TestSettings from "../support/TestSettings.ts"
import * as SubmitInvoice from "../../src/invoices/SubmitInvoice.ts"
import * as fixtures from "../support/fixtures.ts"
import { fa3, poll } from "../support/live.ts"
import { database, layerPostgres } from "../support/TestDatabase.ts"

// Submissions only compare it with `undefined`.
const liveMode = Layer.succeed(NationalSystem)({} as never)

const submissions = SubmitInvoice.layer.pipe(Layer.provide([TestSettings.layer(), liveMode]))

/** Runs an effect while another transaction keeps a lock. */
const whileLocked = <A, E, R, B, E2>(
  lockStatement: (sql: SqlClient.SqlClient) => Effect.Effect<B, E2>,
  effect: Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const isLocked = yield* Deferred.make<void>()
    const isOver = yield* Deferred.make<void>()
    const lock = yield* lockStatement(sql).pipe(
      Effect.andThen(Deferred.succeed(isLocked, undefined)),
      Effect.andThen(Deferred.await(isOver)),
      sql.withTransaction,
      Effect.forkScoped
    )
    yield* Deferred.await(isLocked)
    const result = yield* effect
    yield* Deferred.succeed(isOver, undefined)
    yield* Fiber.join(lock)
    return result
  })

layer(Layer.provideMerge(submissions, layerPostgres), { timeout: "120 seconds", excludeTestServices: true })(
  "a batch of submissions",
  (it) => {
    it.effect("fails alone when its connection dies, and its repetition stores each key once", () =>
      Effect.gen(function* () {
        const { submit } = yield* SubmitInvoice.SubmitInvoice
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* fixtures.organization
        yield* fixtures.endpoint(organizationId)
        // Two batches, of 64 and 36. The second has 16 keys of its own, and 20 of the first.
        const given = Array.from({ length: 100 }, (_, index) =>
          fixtures.submission({ organizationId, idempotencyKey: `key ${index % 80}` })
        )
        const submitAll = Effect.forEach(given, (submission) => Effect.exit(submit(submission)), {
          concurrency: "unbounded"
        })
        const waiting = sql<{ readonly pid: number }>`
          SELECT pid FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%WITH entry AS MATERIALIZED%'
        `
        const first = yield* whileLocked(
          (sql) => sql`LOCK TABLE idempotency_records IN SHARE ROW EXCLUSIVE MODE`,
          Effect.gen(function* () {
            const all = yield* Effect.forkScoped(submitAll)
            const [batch] = yield* poll(waiting, ({ length }) => length === 2)
            const killed = yield* sql`SELECT pg_terminate_backend(${batch!.pid}::int) AS killed`
            assert.deepStrictEqual([...killed], [{ killed: true }])
            yield* poll(waiting, ({ length }) => length === 1)
            return all
          })
        ).pipe(Effect.flatMap(Fiber.join))

        const failed = first.flatMap((exit, index) => (Exit.isFailure(exit) ? [index] : []))
        const indexes = [...given.keys()]
        assert.includeDeepMembers([indexes.slice(0, 64), indexes.slice(64)], [failed])
        for (const exit of first) {
          if (Exit.isFailure(exit)) assert.isTrue(SqlErrors.isTransient(Cause.squash(exit.cause)))
        }

        const counts = sql`
          SELECT (SELECT count(*)::int FROM idempotency_records WHERE organization_id = ${organizationId}) AS keys,
                 (SELECT count(*)::int FROM invoices WHERE organization_id = ${organizationId}) AS invoices,
                 (SELECT count(*)::int FROM invoice_documents
                  WHERE organization_id = ${organizationId}) AS documents,
                 (SELECT count(*)::int FROM events WHERE organization_id = ${organizationId}) AS events,
                 (SELECT count(*)::int FROM deliveries WHERE organization_id = ${organizationId}) AS deliveries
        `
        const ofEach = (n: number) => ({ keys: n, invoices: n, documents: n, events: n, deliveries: n })
        const stored = new Set(first.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value.invoiceId] : [])))
        assert.deepStrictEqual([...(yield* counts)], [ofEach(stored.size)])

        const repeated = yield* Effect.forEach(yield* submitAll, (exit) => exit)
        assert.deepStrictEqual([...(yield* counts)], [ofEach(80)])
        const idOf = new Map(repeated.map(({ invoiceId }, index) => [given[index]!.idempotencyKey, invoiceId]))
        assert.strictEqual(new Set(idOf.values()).size, 80)
        for (const [index, { invoiceId, replayed }] of repeated.entries()) {
          assert.strictEqual(invoiceId, idOf.get(given[index]!.idempotencyKey))
          const exit = first[index]!
          if (Exit.isFailure(exit)) continue
          assert.strictEqual(invoiceId, exit.value.invoiceId)
          assert.isTrue(replayed)
        }
      })
    )

    it.effect(
      "is stored but for the submissions of an organization whose row another session has locked, which wait apart",
      () =>
        Effect.gen(function* () {
          const { submit } = yield* SubmitInvoice.SubmitInvoice
          const held = yield* fixtures.organization
          const free = yield* fixtures.organization
          const submitTo = (organizationId: typeof held, idempotencyKey: string) =>
            Effect.exit(submit(fixtures.submission({ organizationId, idempotencyKey })))
          const submitAll = (organizationId: typeof held, count: number) =>
            Effect.forEach(Array.from({ length: count }).keys(), (n) => submitTo(organizationId, `key ${n}`), {
              concurrency: "unbounded"
            })
          const waiting = yield* whileLocked(
            (sql) =>
              Effect.andThen(
                sql`SET LOCAL idle_in_transaction_session_timeout = 0`,
                sql`SELECT FROM organizations WHERE id = ${held} FOR UPDATE`
              ),
            Effect.gen(function* () {
              const all = yield* Effect.forkScoped(submitAll(held, 150))
              for (const exit of yield* submitAll(free, 150)) assert.isTrue(Exit.isSuccess(exit))
              // One after the other, as long as the others wait.
              for (let n = 0; n < 50; n++) assert.isTrue(Exit.isSuccess(yield* submitTo(free, `later ${n}`)))
              return all
            })
          )
          const exits = yield* Fiber.join(waiting)
          const failed = exits.filter(Exit.isFailure)
          for (const { cause } of failed) assert.isTrue(SqlErrors.isLockTimeout(Cause.squash(cause)))
          assert.isBelow(failed.length, 20)
        })
    )
  }
)

layer(Layer.provideMerge(submissions, database.layer), { timeout: "120 seconds" })(
  `a batch of submissions (${database.name})`,
  (it) => {
    it.effect("stores NULL for each absent field, beside submissions that have the field", () =>
      Effect.gen(function* () {
        const { submit } = yield* SubmitInvoice.SubmitInvoice
        const sql = yield* SqlClient.SqlClient
        const organizationId = yield* fixtures.organization
        const full = fa3({ number: "FV/1", seller: "5265877635" })
        const absent = {
          seller_nip: null,
          issue_date: null,
          invoice_number: null,
          form_code: null,
          schema_version: null
        }
        const given = Array.from({ length: 60 }, (_, index) => ({
          mode: index % 2 === 0 ? ("live" as const) : ("test" as const),
          // One field in turn, all of them, or none.
          parts: [[], Object.keys(absent), ...Object.keys(absent).map((name) => [name])][Math.floor(index / 2) % 7]!
        }))
        const answers = yield* Effect.forEach(
          given,
          ({ mode, parts }, index) => {
            const submission = fixtures.submission({
              organizationId,
              mode,
              invoiceXml: full,
              idempotencyKey: `${mode} ${index}`
            })
            const { formCode, invoiceNumber, issueDate, schemaVersion, sellerNip } = submission.summary
            const has = (name: string, value: string | null) => (parts.includes(name) ? value : null)
            return submit({
              ...submission,
              summary: {
                ...submission.summary,
                sellerNip: has("seller_nip", sellerNip),
                issueDate: has("issue_date", issueDate),
                invoiceNumber: has("invoice_number", invoiceNumber),
                formCode: has("form_code", formCode),
                schemaVersion: has("schema_version", schemaVersion)
              }
            })
          },
          { concurrency: "unbounded" }
        )
        const { summary } = fixtures.submission({ organizationId, invoiceXml: full, idempotencyKey: "of the values" })
        const present: Readonly<Record<string, string | null>> = {
          seller_nip: summary.sellerNip,
          issue_date: summary.issueDate,
          invoice_number: summary.invoiceNumber,
          form_code: summary.formCode,
          schema_version: summary.schemaVersion
        }
        assert.notInclude(Object.values(present), null)
        for (const [index, { invoiceId }] of answers.entries()) {
          const [row] = yield* sql`
              SELECT scenario, invoices.traceparent, seller_nip, issue_date, invoice_number, form_code, schema_version,
                     events.traceparent AS event_traceparent
              FROM invoices JOIN invoice_documents AS document ON document.invoice_id = invoices.id
              JOIN events ON events.invoice_id = invoices.id WHERE invoices.id = ${invoiceId}
            `
          const { mode, parts } = given[index]!
          assert.deepStrictEqual(row, {
            ...absent,
            ...Object.fromEntries(parts.map((name) => [name, present[name]])),
            scenario: mode === "live" ? null : "accepted",
            traceparent: null,
            event_traceparent: null
          })
        }
      })
    )
  }
)
