/**
 * Submits an invoice: stores it, its document, its idempotency record and its first event with the deliveries, in one
 * statement.
 *
 * Submissions that arrive together are stored together. A submission with an idempotency key that is in use returns the
 * response that was stored with the key.
 */
import { PgTypes } from "@effect/sql-pg"
import { type Ids, type Invoice, InvoiceState } from "@govoice/core"
import { VerificationLink, WorkingDays } from "@govoice/ksef/format"
import { Clock, Context, Data, Effect, Layer, Metric } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import * as IdGenerator from "../crypto/IdGenerator.ts"
import * as Arrays from "../database/Arrays.ts"
import { HotStatements } from "../database/HotStatements.ts"
import * as SqlErrors from "../database/SqlErrors.ts"
import { EvaluationTime, StatementTime } from "../database/StatementTime.ts"
import * as Batcher from "../jobs/Batcher.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import * as EventOutbox from "../deliveries/EventOutbox.ts"
import * as Sandbox from "./sandbox/Sandbox.ts"
import { Settings } from "../settings/Settings.ts"
import { NationalSystem } from "./ksef/NationalSystem.ts"
import { type InvoiceRow, toApi } from "./InvoiceRow.ts"
import type { SubmissionContext, ValidSubmission } from "./readSubmission.ts"
import { earlyMs, lateMs } from "./SettledInvoices.ts"
import * as LaneQueue from "./ksef/LaneQueue.ts"

/** The idempotency key was used for another request. */
export class IdempotencyConflict extends Data.TaggedError("IdempotencyConflict") {}

/** The deployment has no gateway for the mode of the submission. */
export class GatewayNotConfigured extends Data.TaggedError("GatewayNotConfigured") {}

/** A valid submission of an organization. */
export interface OrganizationSubmission extends SubmissionContext, ValidSubmission {
  readonly organizationId: Ids.OrganizationId
  readonly idempotencyKey: string
  /** The link behind the second QR code of one that is issued offline. */
  readonly certificateUrl?: string | undefined
  /** What the check of its document found. */
  readonly warnings?: ReadonlyArray<Invoice.Warning> | undefined
}

/** A submission that is stored. */
export interface StoredSubmission {
  readonly invoiceId: Ids.InvoiceId
  /** The response body: the invoice as JSON, the same text for every repetition. */
  readonly body: string
  /** Whether an earlier submission with the same key stored it. */
  readonly replayed: boolean
}

/** Submits invoices. */
export class SubmitInvoice extends Context.Service<
  SubmitInvoice,
  {
    /** Returns what an earlier submission with the same key stored, or `undefined` while the key is free. */
    readonly findEarlier: (
      submission: OrganizationSubmission
    ) => Effect.Effect<StoredSubmission | undefined, IdempotencyConflict>
    /** Durable when it returns. */
    readonly submit: (
      submission: OrganizationSubmission
    ) => Effect.Effect<StoredSubmission, GatewayNotConfigured | IdempotencyConflict>
  }
>()("@govoice/server/invoices/SubmitInvoice") {}

// The link behind the first QR code. It needs the hash of the document and nothing of the national system, so that it is known
// from the beginning. The sandbox has those of the test environment.
const verificationUrl = (
  { mode, summary: { issueDate, sellerNip, sha256 } }: OrganizationSubmission,
  liveEnvironment: string | undefined
): string | null => {
  const environment = mode === "test" ? "test" : liveEnvironment
  if (environment === undefined || sellerNip === null || issueDate === null) return null
  return VerificationLink.make({
    origin: VerificationLink.originOf(environment),
    sellerNip,
    issueDate,
    documentHash: Buffer.from(sha256).toString("base64")
  })
}

const sendBy = ({ invoicingMode, summary: { issueDate } }: OrganizationSubmission): string | null =>
  invoicingMode === "offline" && issueDate !== null ? WorkingDays.next(issueDate) : null

const newRow = (submission: OrganizationSubmission, now: Date, liveEnvironment: string | undefined): InvoiceRow => ({
  id: IdGenerator.at("inv", now.getTime(), submission.organizationId),
  mode: submission.mode,
  status: InvoiceState.initial,
  scenario: submission.scenario,
  metadata: submission.metadata,
  document: submission.summary.document,
  verification_url: verificationUrl(submission, liveEnvironment),
  certificate_url: submission.certificateUrl ?? null,
  invoicing_mode: submission.invoicingMode,
  official_mode: null,
  send_by: sendBy(submission),
  corrects: (submission.correctsInvoiceId ?? null) as Ids.InvoiceId | null,
  warnings: submission.warnings?.length ? submission.warnings : null,
  official_number: null,
  rejection: null,
  failure: null,
  upo_available: false,
  attempt_count: 0,
  next_attempt_at: null,
  created_at: now,
  updated_at: now,
  submitted_at: null,
  completed_at: null
})

/** A submission that waits to be stored. */
interface Pending {
  readonly submission: OrganizationSubmission
  readonly traceparent: string | null
}

/** The rows that the statement inserts for a submission. */
interface Entry {
  readonly submission: OrganizationSubmission
  readonly row: InvoiceRow
  readonly body: string
  readonly dueAt: number
  readonly event: EventOutbox.OutboxEvent
}

// The type of each column, and its field.
const entryColumns: Readonly<Record<string, readonly [Arrays.ElementType, (entry: Entry) => unknown]>> = {
  id: ["text", ({ row }) => row.id],
  organization_id: ["text", ({ submission }) => submission.organizationId],
  mode: ["text", ({ row }) => row.mode],
  status: ["text", ({ row }) => row.status],
  scenario: ["text", ({ row }) => row.scenario],
  metadata: ["text", ({ row }) => JSON.stringify(row.metadata)],
  record_document: ["text", ({ row }) => row.document && JSON.stringify(row.document)],
  verification_url: ["text", ({ row }) => row.verification_url],
  certificate_url: ["text", ({ row }) => row.certificate_url],
  invoicing_mode: ["text", ({ row }) => row.invoicing_mode],
  send_by: ["text", ({ row }) => row.send_by],
  corrects: ["text", ({ row }) => row.corrects],
  warnings: ["text", ({ row }) => row.warnings && JSON.stringify(row.warnings)],
  created_at: ["timestamptz", ({ row }) => row.created_at.getTime()],
  due_at: ["timestamptz", ({ dueAt }) => dueAt],
  traceparent: ["text", ({ event }) => event.traceparent],
  key: ["text", ({ submission }) => submission.idempotencyKey],
  request_hash: ["bytea", ({ submission }) => submission.requestHash],
  body: ["text", ({ body }) => body],
  xml: ["text", ({ submission }) => submission.invoiceXml],
  sha256: ["bytea", ({ submission }) => submission.summary.sha256],
  seller_nip: ["text", ({ submission }) => submission.summary.sellerNip],
  buyer_tax_id: ["text", ({ row }) => row.document?.buyer?.tax_id ?? null],
  issue_date: ["text", ({ submission }) => submission.summary.issueDate],
  invoice_number: ["text", ({ submission }) => submission.summary.invoiceNumber],
  form_code: ["text", ({ submission }) => submission.summary.formCode],
  schema_version: ["text", ({ submission }) => submission.summary.schemaVersion],
  has_attachment: ["bool", ({ submission }) => submission.summary.hasAttachment],
  event_id: ["text", ({ event }) => event.eventId],
  delivery_id: ["text", ({ event }) => event.deliveryId],
  event_type: ["text", ({ event }) => event.type],
  event_body: ["text", ({ event }) => event.body]
}

interface IdempotencyRecord {
  readonly request_hash: Uint8Array
  readonly invoice_id: Ids.InvoiceId
  readonly body: string
}

// Two at once make larger batches than more would, and a statement costs as much as many of its rows.
const batches = { atOnce: 2, atMost: 64 }

// In UTF-16 code units. A larger document would delay the others of its batch.
const maxBatchedLength = 100_000

const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/** Provides `SubmitInvoice` from a migrated database. */
export const layer: Layer.Layer<SubmitInvoice, never, Settings | SqlClient.SqlClient> = Layer.effect(
  SubmitInvoice,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { sandboxStepMs } = yield* Settings
    const nationalSystem = yield* NationalSystem
    const statementTime = (yield* StatementTime)(sql)
    const evaluationTime = (yield* EvaluationTime)(sql)
    const wakeStatement = yield* LaneQueue.makeWakeStatement
    const outboxSteps = yield* EventOutbox.makeStepsFrom

    // A live submission makes the lane of its taxpayer due.
    const wakeStep = (now: Statement.Fragment) => {
      const contexts = sql`
        SELECT credential_context FROM entry JOIN reserved ON invoice_id = entry.id
        JOIN organizations ON organizations.id = entry.organization_id
        WHERE entry.mode = 'live' AND credential_context IS NOT NULL
      `
      return sql`woken AS (${wakeStatement(contexts, now)}),`
    }

    const columnNames = sql.literal(Object.keys(entryColumns).join(", "))
    const selectEntries = (entries: ReadonlyArray<Entry>) => {
      const arrays = Object.values(entryColumns).map(([type, field]) => sql`${Arrays.column(type, entries, field)}`)
      return sql`SELECT * FROM unnest(${sql.csv(arrays)}) AS entry (${columnNames})`
    }

    const events = sql`
      SELECT event_id AS "eventId", delivery_id AS "deliveryId", organization_id AS "organizationId", id AS "invoiceId",
             event_type AS type, mode, created_at AS at, event_body AS body, traceparent
      FROM entry
    `

    // One round trip and one transaction. A key that a concurrent statement has inserted blocks this one until that commits;
    // then nothing is inserted for it. Keys are inserted in their order, so that no two statements block each other.
    //
    // Nothing is inserted if `isInTime` is false, and the statement returns a row without an identifier. The statement fails while
    // another session has locked a row that it needs, so that the other entries can be written without the one at fault.
    const insert = (entries: ReadonlyArray<Entry>, now: Statement.Fragment, isInTime: Statement.Fragment) => sql<{
      readonly id: Ids.InvoiceId | null
    }>`
      WITH entry AS MATERIALIZED (
        ${selectEntries(entries)}
      ), in_time AS MATERIALIZED (
        SELECT ${isInTime} AS is_in_time
      ), reserved AS (
        INSERT INTO idempotency_records (organization_id, mode, key, created_at, request_hash, invoice_id, body)
        SELECT organization_id, mode, key, created_at, request_hash, id, body FROM entry
        WHERE (SELECT is_in_time FROM in_time)
        ORDER BY organization_id, mode, key
        ON CONFLICT DO NOTHING
        RETURNING invoice_id
      ), transitioned AS (
        INSERT INTO invoices
          (id, organization_id, mode, status, scenario, metadata, document, verification_url, certificate_url, invoicing_mode,
           send_by, corrects, warnings, created_at, updated_at, due_at, traceparent)
        SELECT id, organization_id, mode, status, scenario, metadata::json, record_document::json, verification_url, certificate_url,
               invoicing_mode, send_by, corrects, warnings::json, created_at, created_at, due_at, traceparent
        FROM entry JOIN reserved ON invoice_id = id
        RETURNING id
      ), document AS (
        INSERT INTO invoice_documents
          (invoice_id, organization_id, xml, sha256, seller_nip, buyer_tax_id, issue_date, invoice_number, form_code,
           schema_version, has_attachment)
        SELECT id, organization_id, xml, sha256, seller_nip, buyer_tax_id, issue_date, invoice_number, form_code,
               schema_version, has_attachment
        FROM entry JOIN transitioned USING (id)
      ), ${entries.some(({ row }) => row.mode === "live") ? wakeStep(now) : sql``} ${outboxSteps(events)}
      SELECT id FROM transitioned UNION ALL SELECT NULL FROM in_time WHERE NOT is_in_time
    `

    const toEntry = ({ submission, traceparent }: Pending, now: Date): Entry => {
      const row = newRow(submission, now, nationalSystem?.environmentId)
      const invoice = toApi(row)
      const waitMs = submission.mode === "live" ? 0 : Sandbox.submitAfterMs(submission.scenario, sandboxStepMs)
      return {
        submission,
        row,
        body: JSON.stringify(invoice),
        dueAt: now.getTime() + waitMs,
        event: EventOutbox.make(InvoiceState.createdEvent, submission.organizationId, invoice, now, traceparent)
      }
    }

    const insertAt = Effect.fnUntraced(function* (
      pending: ReadonlyArray<Pending>,
      at: number,
      isInTime: Statement.Fragment
    ) {
      const entries = pending.map((one) => toEntry(one, new Date(at)))
      const ids = (yield* insert(entries, yield* statementTime, isInTime)).map(({ id }) => id)
      return { entries, ids: new Set(ids), isLate: ids.includes(null) }
    })

    // Lists wait for the transactions that have a lock of the table. This one has it before it reads the time.
    const insertWithLock = (pending: ReadonlyArray<Pending>) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`LOCK TABLE invoices IN ROW EXCLUSIVE MODE`
          const [row] = yield* sql<{ readonly now: number }>`
            SELECT (extract(epoch FROM time) * 1000)::float8 AS now FROM (SELECT ${yield* evaluationTime} AS time) AS one
          `
          return yield* insertAt(pending, Math.floor(row!.now), sql`true`)
        })
      )

    const insertInTime = Effect.fnUntraced(function* (pending: ReadonlyArray<Pending>) {
      const at = yield* Clock.currentTimeMillis
      const stored = sql`${PgTypes.timestamptz(at)} - ${yield* evaluationTime}`
      const isInTime = sql`
        ${stored} BETWEEN ${-lateMs}::int * interval '1 millisecond' AND ${earlyMs}::int * interval '1 millisecond'
      `
      return yield* insertAt(pending, at, isInTime)
    })

    const write = (pending: ReadonlyArray<Pending>) =>
      Effect.gen(function* () {
        let { entries, ids, isLate } = yield* insertInTime(pending)
        if (isLate) ({ entries, ids } = yield* insertWithLock(pending))
        yield* Metric.update(EngineMetrics.submissionBatchSize, entries.length)
        return entries.map(({ body, row: { id } }) =>
          ids.has(id) ? { invoiceId: id, body, replayed: false } : undefined
        )
      })

    const hotStatements = yield* HotStatements
    hotStatements.add("submission", insertInTime([]))
    const isShared = (error: SqlError.SqlError) => SqlErrors.isTransient(error) && !SqlErrors.isLockTimeout(error)
    const owner = {
      of: ({ submission }: Pending) => submission.organizationId,
      concerns: SqlErrors.isLockTimeout
    }
    const writeBatched = yield* Batcher.make({ write, isShared, owner, ...batches })

    const writeOne = (pending: Pending): Effect.Effect<StoredSubmission | undefined, SqlError.SqlError> =>
      pending.submission.invoiceXml.length > maxBatchedLength
        ? Effect.map(write([pending]), ([stored]) => stored)
        : writeBatched(pending)

    const toReplay = (
      { requestHash }: OrganizationSubmission,
      record: IdempotencyRecord
    ): Effect.Effect<StoredSubmission, IdempotencyConflict> =>
      equalBytes(record.request_hash, requestHash)
        ? Effect.succeed({ invoiceId: record.invoice_id, body: record.body, replayed: true })
        : Effect.fail(new IdempotencyConflict())

    // An index lookup for each key, also when the statement was planned for a small table.
    const selectRecords = (keys: ReadonlyArray<OrganizationSubmission>) =>
      sql<IdempotencyRecord & { readonly position: number }>`
        SELECT position::int4, record.* FROM unnest(
          ${Arrays.column("text", keys, ({ organizationId }) => organizationId)},
          ${Arrays.column("text", keys, ({ mode }) => mode)},
          ${Arrays.column("text", keys, ({ idempotencyKey }) => idempotencyKey)}
        ) WITH ORDINALITY AS wanted (organization_id, mode, key, position)
        CROSS JOIN LATERAL (
          SELECT request_hash, invoice_id, body FROM idempotency_records
          WHERE organization_id = wanted.organization_id AND mode = wanted.mode AND key = wanted.key
          LIMIT 1
        ) record
      `.pipe(
        Effect.map((records) => {
          const byPosition = new Map(records.map((record) => [record.position, record]))
          return keys.map((_, index) => byPosition.get(index + 1))
        })
      )

    const selectBatched = yield* Batcher.make({ write: selectRecords, isShared: SqlErrors.isTransient, ...batches })

    const findEarlier: SubmitInvoice["Service"]["findEarlier"] = Effect.fn("SubmitInvoice.findEarlier")(
      function* (submission) {
        const record = yield* Effect.orDie(selectBatched(submission))
        return record && (yield* toReplay(submission, record))
      }
    )

    const submit: SubmitInvoice["Service"]["submit"] = Effect.fnUntraced(function* (submission) {
      if (submission.mode === "live" && nationalSystem === undefined) return yield* new GatewayNotConfigured()

      const stored = yield* Effect.orDie(writeOne({ submission, traceparent: yield* TraceContext.current }))
      if (stored !== undefined) return stored

      const record = yield* Effect.orDie(selectBatched(submission))
      // The record was pruned in between: the key is free again.
      if (record === undefined) return yield* submit(submission)
      return yield* toReplay(submission, record)
    }, TraceContext.withSpan("SubmitInvoice.submit"))

    return { findEarlier, submit }
  })
)
