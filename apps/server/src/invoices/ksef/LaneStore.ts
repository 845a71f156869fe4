/**
 * What a lane remembers: sessions, submissions and the transitions of their invoices. Each is written under the lease of the
 * lane, or not at all.
 */
import type { Ids } from "@govoice/core"
import { Context, Duration, Effect, Layer, Metric, Schedule } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import * as SqlErrors from "../../database/SqlErrors.ts"
import * as EngineMetrics from "../../observability/EngineMetrics.ts"
import { type Lane, LaneLost, LaneQueue } from "./LaneQueue.ts"
import * as TransitionSteps from "../TransitionSteps.ts"
import * as statements from "./laneStore.sql.ts"
import type {
  Changes,
  InvoiceXml,
  LaneOrganization,
  SendingInvoice,
  SessionKind,
  SessionRow,
  SubmissionRow,
  WaitingInvoice
} from "./laneRows.ts"

type Written = Effect.Effect<void, LaneLost | SqlError.SqlError>

/** Submissions that are due, and when the next of the others is. */
export interface Due {
  readonly rows: ReadonlyArray<SubmissionRow>
  readonly nextAt: number
}

/** Reads and writes what a lane has to remember. */
export class LaneStore extends Context.Service<
  LaneStore,
  {
    readonly organizations: (context: string) => Effect.Effect<ReadonlyArray<LaneOrganization>, SqlError.SqlError>
    /** The oldest invoices of an organization that wait to be sent, up to a limit, each with when the next one will. */
    readonly waiting: (
      organizationId: Ids.OrganizationId,
      limit: number
    ) => Effect.Effect<ReadonlyArray<WaitingInvoice>, SqlError.SqlError>
    /** When the next invoice of these organizations is to be sent, after now. */
    readonly nextWaitingAt: (
      context: string,
      organizations: ReadonlyArray<string>
    ) => Effect.Effect<number, SqlError.SqlError>
    /** Adds a sentence to the message of those of these invoices that wait because the national system is unavailable. */
    readonly explain: (
      ids: ReadonlyArray<Ids.InvoiceId>,
      sentence: string
    ) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>
    /** Claims an invoice that was tried and not sent, for the transition of a failure. */
    readonly find: (id: Ids.InvoiceId) => Effect.Effect<SendingInvoice | undefined, SqlError.SqlError>
    /** Stores the intent to open an interactive session. */
    readonly beginSession: (
      lane: Lane,
      organizationId: Ids.OrganizationId,
      kind: SessionKind
    ) => Effect.Effect<string, LaneLost | SqlError.SqlError>
    /**
     * Stores the intent to send an invoice in an interactive session, and returns it where it may be sent: not where its
     * organization has deleted the credential.
     */
    readonly beginSubmission: (
      lane: Lane,
      sessionId: string,
      id: Ids.InvoiceId,
      dueAt: Date
    ) => Effect.Effect<(SendingInvoice & InvoiceXml) | undefined, LaneLost | SqlError.SqlError>
    /** Stores the intent to send these invoices as a batch, and returns those that may be sent. */
    readonly beginBatch: (
      lane: Lane,
      sessionId: string,
      ids: ReadonlyArray<Ids.InvoiceId>
    ) => Effect.Effect<ReadonlyArray<Ids.InvoiceId>, LaneLost | SqlError.SqlError>
    /** Returns the SHA-256 of a document in Base64. */
    readonly documentHash: (id: Ids.InvoiceId) => Effect.Effect<string | undefined, SqlError.SqlError>
    /** Reads documents, in the order of the identifiers of their invoices. */
    readonly documents: (
      ids: ReadonlyArray<Ids.InvoiceId>
    ) => Effect.Effect<ReadonlyArray<InvoiceXml>, SqlError.SqlError>
    readonly write: (lane: Lane, changes: Changes) => Written
    /** Makes the look due at sends of interactive sessions whose outcome is not known. */
    readonly lookAtSends: (lane: Lane) => Written
    readonly unfinishedSessions: (context: string) => Effect.Effect<ReadonlyArray<SessionRow>, SqlError.SqlError>
    /** Submissions whose verdict is due, the longest due first. */
    readonly dueVerdicts: (context: string, limit: number) => Effect.Effect<Due, SqlError.SqlError>
    readonly dueReceipts: (context: string, limit: number) => Effect.Effect<Due, SqlError.SqlError>
    /** Some submissions of a session whose outcome is open, in the order of their identifiers, after one of them. */
    readonly members: (
      sessionId: string,
      after?: SubmissionRow
    ) => Effect.Effect<ReadonlyArray<SubmissionRow>, SqlError.SqlError>
    /** All submissions of an invoice, the newest first. */
    readonly submissionsOf: (id: Ids.InvoiceId) => Effect.Effect<ReadonlyArray<SubmissionRow>, SqlError.SqlError>
    /** The references of a session's submissions, as far as they are known. */
    readonly referencesOf: (sessionId: string) => Effect.Effect<ReadonlyArray<string>, SqlError.SqlError>
    /** Stores since when this login cannot read a session; null where it was read again. */
    readonly markUnreadable: (lane: Lane, sessionId: string, since: Date | null) => Written
    /**
     * Whether another invoice with the same document has no verdict yet, so that it may have its number. Of two that KSeF calls
     * duplicates, only the later one waits for the other.
     */
    readonly hasOpenCopy: (invoice: Pick<SubmissionRow, "id" | "sha256">) => Effect.Effect<boolean, SqlError.SqlError>
    /** The live invoice that has a KSeF number. */
    readonly invoiceOfNumber: (number: string) => Effect.Effect<Ids.InvoiceId | undefined, SqlError.SqlError>
  }
>()("@govoice/server/invoices/ksef/LaneStore") {}

/** How many members of a batch are read at once. They are garbage before the next ones are read. */
export const membersAtOnce = 200

const now = Effect.clockWith((clock) => clock.currentTimeMillis)

const nowAsDate = Effect.map(now, (at) => new Date(at))

const first = <A, E, R>(rows: Effect.Effect<ReadonlyArray<A>, E, R>): Effect.Effect<A | undefined, E, R> =>
  Effect.map(rows, ([row]) => row)

/** Provides `LaneStore` from a migrated database, for credentials of this environment. Writes are retried for `retryForMs`. */
export const layerOf = (
  environmentId: string,
  retryForMs: number
): Layer.Layer<LaneStore, never, LaneQueue | SqlClient.SqlClient> =>
  Layer.effect(
    LaneStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { fence } = yield* LaneQueue
      const transitionSteps = yield* TransitionSteps.make
      const storeRetries = Schedule.spaced("250 millis").pipe(Schedule.upTo({ duration: Duration.millis(retryForMs) }))

      // The last step of a statement returns a row for each it wrote; the lane is lost where its step returned none.
      const fenced = <Row extends statements.Leased>(
        lane: Lane,
        statement: (fenceStep: Statement.Fragment) => Statement.Statement<Row>
      ) =>
        Effect.flatMap(now, (clock) => {
          const markStored = lane.windows.beginStore()
          return Effect.tap(statement(fence(lane, clock)), () => Effect.sync(markStored))
        }).pipe(
          Effect.retry({ schedule: storeRetries, while: SqlErrors.isTransient }),
          Effect.flatMap((rows) =>
            rows[0]?.lane_is_leased === true ? Effect.succeed(rows) : new LaneLost({ context: lane.context })
          )
        )

      // One statement where something is due: what is next comes with it.
      const due = Effect.fnUntraced(function* (context: string, step: statements.DueStep, limit: number) {
        const at = yield* now
        const rows = yield* statements.selectDue(sql, context, step, limit, new Date(at))
        const next = rows[0] ?? (yield* first(statements.selectNextDue(sql, context, step, new Date(at))))
        return { rows, nextAt: rows.length === limit ? at : (next?.next_due_at?.getTime() ?? Infinity) }
      })

      const begin = Effect.fnUntraced(function* <Row extends { readonly id: Ids.InvoiceId }>(
        lane: Lane,
        intent: Omit<statements.Intent, "at" | "context" | "environmentId">
      ) {
        const at = yield* nowAsDate
        const rows = yield* fenced(lane, (fenceStep) =>
          statements.insertSubmissions<Row>(sql, fenceStep, { ...intent, at, context: lane.context, environmentId })
        )
        return rows.filter((row): row is Row & statements.Leased => row.id !== null)
      })

      return {
        organizations: (context) => statements.selectOrganizations(sql, environmentId, context),

        waiting: Effect.fn("LaneStore.waiting")(function* (organizationId, limit) {
          return yield* statements.selectWaiting(sql, organizationId, limit, yield* nowAsDate)
        }),

        nextWaitingAt: Effect.fn("LaneStore.nextWaitingAt")(function* (context, organizations) {
          const row = yield* first(statements.selectNextWaiting(sql, environmentId, context, organizations))
          return row?.at?.getTime() ?? Infinity
        }),

        explain: Effect.fn("LaneStore.explain")((ids, sentence) => statements.explain(sql, ids, sentence)),

        find: Effect.fn("LaneStore.find")((id) => first(statements.selectSending(sql, id))),

        beginSession: Effect.fn("LaneStore.beginSession")(function* (lane, organizationId, kind) {
          const at = yield* nowAsDate
          const [row] = yield* fenced(lane, (fenceStep) =>
            statements.insertSession(sql, fenceStep, organizationId, kind, at)
          )
          return row!.id
        }),

        beginSubmission: Effect.fn("LaneStore.beginSubmission")(function* (lane, sessionId, id, dueAt) {
          const intent = { sessionId, ids: [id], dueAt, columns: statements.sentAloneColumns }
          return yield* first(begin<SendingInvoice & InvoiceXml>(lane, intent))
        }),

        beginBatch: Effect.fn("LaneStore.beginBatch")(function* (lane, sessionId, ids) {
          const intent = { sessionId, ids, dueAt: null, columns: "transitioned.id" }
          return (yield* begin<{ readonly id: Ids.InvoiceId }>(lane, intent)).map(({ id }) => id)
        }),

        documentHash: (id) => Effect.map(first(statements.selectDocumentHash(sql, id)), (row) => row?.hash),

        documents: (ids) => statements.selectDocuments(sql, ids),

        write: Effect.fn("LaneStore.write")(function* (lane, changes) {
          const { transitions = [] } = changes
          yield* fenced(lane, (fenceStep) =>
            statements.write(sql, fenceStep, transitionSteps(transitions, statements.mayTransition(sql)), changes)
          )
          for (const { transition } of transitions)
            yield* Metric.update(EngineMetrics.invoiceTransitions.live(transition.status), 1)
        }),

        lookAtSends: Effect.fn("LaneStore.lookAtSends")(function* (lane) {
          const at = yield* nowAsDate
          yield* fenced(lane, (fenceStep) => statements.lookAtSends(sql, fenceStep, at))
        }),

        markUnreadable: Effect.fn("LaneStore.markUnreadable")((lane, sessionId, since) =>
          Effect.asVoid(fenced(lane, (fenceStep) => statements.markUnreadable(sql, fenceStep, sessionId, since)))
        ),

        unfinishedSessions: (context) => statements.selectUnfinishedSessions(sql, context),

        dueVerdicts: (context, limit) => due(context, "verdicts", limit),
        dueReceipts: (context, limit) => due(context, "receipts", limit),

        members: (sessionId, after) =>
          statements.selectMembers(sql, sessionId, after?.submission_id ?? "0", membersAtOnce),

        submissionsOf: (id) => statements.selectSubmissions(sql, id),

        referencesOf: (sessionId) =>
          Effect.map(statements.selectReferences(sql, sessionId), (rows) => rows.map(({ reference }) => reference)),

        hasOpenCopy: (invoice) => Effect.map(statements.selectOpenCopy(sql, invoice), ({ length }) => length > 0),

        invoiceOfNumber: (number) => Effect.map(first(statements.selectByNumber(sql, number)), (row) => row?.id)
      }
    })
  )
