/**
 * Processes the invoices of test mode, which are in the `invoices` table: one transaction locks those that are due, and writes
 * their transitions with receipts, events and deliveries.
 *
 * There is no lease, because nothing leaves the process: a worker that ends leaves the invoices as they were.
 */
import { Clock, Effect, Layer, Metric } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { textArray } from "../../database/Arrays.ts"
import * as SqlErrors from "../../database/SqlErrors.ts"
import { StatementTime } from "../../database/StatementTime.ts"
import { Notifier } from "../../jobs/Notifier.ts"
import * as WorkerLoop from "../../jobs/WorkerLoop.ts"
import * as EngineMetrics from "../../observability/EngineMetrics.ts"
import * as TraceContext from "../../observability/TraceContext.ts"
import { Settings } from "../../settings/Settings.ts"
import { type ClaimedInvoice, columnsOf, type PendingTransition } from "../ClaimedInvoice.ts"
import * as TransitionSteps from "../TransitionSteps.ts"
import * as Sandbox from "./Sandbox.ts"

// Each is loaded with what its receipt needs, so this bounds memory, too.
const batch = 100

// An invoice that cannot be written, which is a fault of the server, is tried again later, and holds up no other.
const postponeMs = 60_000

type DueInvoice = ClaimedInvoice & { readonly now: Date }

/** What one transaction did. */
interface Advanced {
  readonly due: number
  readonly written: ReadonlyArray<PendingTransition>
}

/** Makes the effects of the worker. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const statementTime = (yield* StatementTime)(sql)
  const transitionSteps = yield* TransitionSteps.make
  const { sandboxStepMs } = yield* Settings

  // In the time of `Clock`, which may differ from that of the database.
  const nextDueAt = Effect.gen(function* () {
    const clock = yield* Clock.currentTimeMillis
    const now = yield* statementTime
    const [next] = yield* sql<{ readonly due_at: Date; readonly now: Date }>`
      SELECT due_at, ${now} AS now FROM invoices WHERE mode = 'test' AND due_at IS NOT NULL ORDER BY due_at LIMIT 1
    `
    return next === undefined ? Infinity : clock + next.due_at.getTime() - next.now.getTime()
  })

  const lockDue = Effect.fnUntraced(function* (only: ReadonlyArray<string> | undefined) {
    const now = yield* statementTime
    return yield* sql<DueInvoice>`
      WITH due AS MATERIALIZED (
        SELECT * FROM invoices WHERE mode = 'test' AND due_at <= ${now}
          ${only === undefined ? sql`` : sql`AND id = ANY (${textArray(only)})`}
        ORDER BY due_at LIMIT ${batch}::int FOR UPDATE SKIP LOCKED
      )
      SELECT ${sql.literal(columnsOf("due"))}, ${now} AS now, sha256, seller_nip, issue_date, invoice_number, form_code, schema_version
      FROM due JOIN invoice_documents ON invoice_id = due.id
    `
  })

  const transitionOf = ({ now, ...invoice }: DueInvoice): Effect.Effect<PendingTransition> =>
    Effect.sync(() => Sandbox.advance(invoice, sandboxStepMs, now)).pipe(
      Effect.withSpan("InvoiceWorker.advance", { attributes: { invoiceId: invoice.id, status: invoice.status } }),
      (advanced) => TraceContext.under(advanced, invoice.traceparent)
    )

  const postpone = Effect.fnUntraced(function* (id: string) {
    const now = yield* statementTime
    yield* sql`
      UPDATE invoices SET due_at = ${now} + ${postponeMs}::float8 * interval '1 millisecond' WHERE id = ${id} AND due_at <= ${now}
    `
  })

  // A permanent error of a batch is the fault of one invoice: each is then written alone.
  const advanceSome = (only?: ReadonlyArray<string>): Effect.Effect<Advanced, SqlError.SqlError> => {
    let locked: ReadonlyArray<string> = []
    return sql
      .withTransaction(
        Effect.gen(function* () {
          const due = yield* lockDue(only)
          locked = due.map(({ id }) => id)
          const pending = yield* Effect.forEach(due, transitionOf)
          if (pending.length > 0) {
            const fence = sql`invoices.status = transition.status_before`
            yield* sql`WITH ${transitionSteps(pending, fence)} SELECT id FROM transitioned`
          }
          return { due: due.length, written: pending }
        })
      )
      .pipe(
        Effect.catchDefect(Effect.fail),
        Effect.catch((error): Effect.Effect<Advanced, SqlError.SqlError> => {
          if (SqlErrors.isTransient(error)) return Effect.fail(error)
          const [id] = locked
          if (id === undefined) return Effect.die(error)
          if (locked.length === 1) {
            const log = Effect.logError("Test invoice could not be processed; will retry in a minute", error)
            const postponed = Effect.andThen(Effect.annotateLogs(log, { invoiceId: id }), postpone(id))
            return Effect.as(postponed, { due: 1, written: [] })
          }
          return Effect.map(
            Effect.forEach(locked, (one) => advanceSome([one])),
            (all) => ({ due: locked.length, written: all.flatMap(({ written }) => written) })
          )
        })
      )
  }

  return { nextDueAt, advanceDue: advanceSome() }
})

/** Layer that runs the worker. */
export const layer: Layer.Layer<never, never, Notifier | Settings | SqlClient.SqlClient> = Layer.effectDiscard(
  Effect.gen(function* () {
    const notifier = yield* Notifier
    const { advanceDue, nextDueAt } = yield* make

    const iterate = Effect.fnUntraced(function* () {
      const dueAt = yield* nextDueAt
      if (dueAt > (yield* Clock.currentTimeMillis)) return { sleepUntil: dueAt }
      const { due, written } = yield* EngineMetrics.timed(EngineMetrics.claimDuration("invoices"), advanceDue)
      for (const { transition } of written) {
        yield* Metric.update(EngineMetrics.invoiceTransitions.test(transition.status), 1)
      }
      if (written.some(({ transition }) => transition.emits !== null)) yield* notifier.wake("deliveries")
      // Another worker holds those that are due.
      return due === 0 ? "backoff" : "again"
    })

    yield* WorkerLoop.run({ kind: "invoices", iterate, notifier })
  })
)
