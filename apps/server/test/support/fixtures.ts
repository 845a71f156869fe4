/** Inserts organizations, endpoints, invoices, events and deliveries into a database, and reads them. */
import type { Ids } from "@govoice/core"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import type { ClaimedDelivery } from "../../src/deliveries/ClaimedDelivery.ts"
import type { Completion } from "../../src/deliveries/Completion.ts"
import * as KeyRing from "../../src/crypto/KeyRing.ts"
import * as IdGenerator from "../../src/crypto/IdGenerator.ts"
import { readSubmission } from "../../src/invoices/readSubmission.ts"
import type { OrganizationSubmission } from "../../src/invoices/SubmitInvoice.ts"
import { textArray } from "../../src/database/Arrays.ts"

export const keyRing = KeyRing.make([{ id: "k1", bytes: new Uint8Array(randomBytes(32)) }])

export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

const seal = (id: string, plain: string) => keyRing.seal(plain, { column: "webhook_endpoints.secret", row: id })

export interface DeliveryRow {
  readonly id: Ids.DeliveryId
  readonly organization_id: Ids.OrganizationId
  readonly endpoint_id: Ids.EndpointId
  readonly status: string
  readonly is_due: boolean
  readonly fencing_token: number
  readonly attempt_count: number
  readonly interruption_count: number
  readonly last_http_status: number | null
  readonly last_error_summary: string | null
  readonly due_at: Date | null
  readonly lease_expires_at: Date | null
  readonly next_retry_at: Date | null
  readonly last_attempted_at: Date | null
  readonly delivered_at: Date | null
  readonly updated_at: Date
}

/** All tables, those that refer to others first. */
export const tables: ReadonlyArray<string> = [
  ["national_environment", "national_lanes", "national_logins", "national_submissions", "national_sessions"],
  ["deliveries", "events", "receipts", "invoice_documents", "idempotency_records", "invoices"],
  ["organization_concurrency", "webhook_endpoints", "api_keys", "offline_certificates", "organizations"],
  ["refresh_tokens", "sessions", "accounts", "cell_moves", "cell_buckets", "cell_taxpayers", "cells"]
].flat()

/**
 * Removes everything, so that a test sees only what it made itself. `TRUNCATE` makes new files for all tables and indexes,
 * which took 80 ms of processor time for each test; to delete a few rows takes 2 ms. Many would stay in the indexes for the
 * plans of the next test. A partitioned table has no size of its own. The lock waits for statements of earlier tests.
 */
export const clear = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    DO $$ BEGIN
      LOCK TABLE ${tables.join(", ")} IN ACCESS EXCLUSIVE MODE;
      IF (
        SELECT sum(pg_table_size(coalesce(relid, name)))
        FROM unnest('{${tables.join(", ")}}'::regclass[]) AS name LEFT JOIN pg_partition_tree(name) ON true
      ) > 524288 THEN
        TRUNCATE ${tables.join(", ")};
      ELSE
        ${tables.map((table) => `DELETE FROM ${table};`).join("\n        ")}
      END IF;
    END $$
  `)
})

export const organization = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const account = IdGenerator.at("acct", now)
  const id = IdGenerator.at("org", now)
  yield* sql`
    INSERT INTO accounts (id, created_at, email, password_hash)
    VALUES (${account}, ${new Date(now)}, ${`${account}@example.com`}, 'hash')
  `
  yield* sql`
    INSERT INTO organizations (id, account_id, created_at, name) VALUES (${id}, ${account}, ${new Date(now)}, 'Company')
  `
  yield* sql`INSERT INTO organization_concurrency (organization_id) VALUES (${id})`
  return id
})

export const endpoint = Effect.fnUntraced(function* (
  organizationId: Ids.OrganizationId,
  options: {
    readonly url?: string
    readonly enabled?: boolean
    readonly eventTypes?: ReadonlyArray<string>
    readonly next?: { readonly secret: string; readonly at: Date }
  } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const id = IdGenerator.at("we", now)
  yield* sql`
    INSERT INTO webhook_endpoints
      (id, organization_id, created_at, updated_at, enabled, pace, url, event_types, secret, next_secret, next_secret_at)
    VALUES (
      ${id}, ${organizationId}, ${new Date(now)}, ${new Date(now)}, ${options.enabled ?? true}, 'steady',
      ${options.url ?? "https://example.com/hook"}, ${textArray(options.eventTypes ?? ["*"])}, ${seal(id, secret)},
      ${options.next === undefined ? null : seal(id, options.next.secret)}::bytea,
      ${options.next?.at ?? null}::timestamptz
    )
  `
  return id
})

/** An accepted invoice that nothing is left to do for. */
export const invoice = Effect.fnUntraced(function* (organizationId: Ids.OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  const id = IdGenerator.at("inv", now.getTime())
  yield* sql`
    INSERT INTO invoices
      (id, organization_id, created_at, updated_at, completed_at, mode, status, scenario, official_number, metadata)
    VALUES (${id}, ${organizationId}, ${now}, ${now}, ${now}, 'test', 'accepted', 'accepted', 'n', '{}')
  `
  yield* sql`
    INSERT INTO invoice_documents (invoice_id, organization_id, xml, sha256)
    VALUES (${id}, ${organizationId}, '<Faktura/>', sha256('<Faktura/>'))
  `
  return id
})

/** Deliveries of as many events to one endpoint, due one millisecond after the other. */
export const deliveries = Effect.fnUntraced(function* (
  organizationId: Ids.OrganizationId,
  endpointId: Ids.EndpointId,
  count: number,
  options: { readonly dueAt?: number } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const invoiceId = yield* invoice(organizationId)
  const now = yield* Clock.currentTimeMillis
  const dueAt = options.dueAt ?? now
  const ids = Array.from({ length: count }, () => ({
    event: IdGenerator.at("evt", now),
    delivery: IdGenerator.at("wd", now)
  }))
  if (count > 0) {
    yield* sql`
      WITH one AS (
        SELECT event, delivery, ordinality AS n
        FROM unnest(${textArray(ids.map(({ event }) => event))}, ${textArray(ids.map(({ delivery }) => delivery))})
          WITH ORDINALITY AS one (event, delivery, ordinality)
      ), event AS (
        INSERT INTO events (id, organization_id, invoice_id, type, body)
        SELECT event, ${organizationId}, ${invoiceId}, 'invoice.received', '{"id":"' || event || '"}'
        FROM one
      )
      INSERT INTO deliveries
        (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, is_due, status)
      SELECT delivery, ${organizationId}, ${endpointId}, event, 'invoice.received', ${new Date(now)}, ${new Date(now)},
             ${new Date(dueAt)}::timestamptz + n * interval '1 millisecond' - interval '1 millisecond', true, 'pending'
      FROM one
    `
  }
  return ids.map(({ delivery }) => delivery)
})

/** An organization with endpoints, and deliveries to each. */
export const backlog = Effect.fnUntraced(function* (...counts: ReadonlyArray<number>) {
  const id = yield* organization
  const endpoints: Array<Ids.EndpointId> = []
  for (const count of counts) {
    const endpointId = yield* endpoint(id)
    endpoints.push(endpointId)
    yield* deliveries(id, endpointId, count)
  }
  return { id, endpoints }
})

export const readDelivery = Effect.fnUntraced(function* (id: Ids.DeliveryId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<DeliveryRow>`SELECT * FROM deliveries WHERE id = ${id}`
  return row!
})

/** How many deliveries an organization has in flight, by endpoint: as counted, and as they are. */
export const inFlight = Effect.fnUntraced(function* (organizationId: Ids.OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly in_flight: Readonly<Record<string, number>> }>`
    SELECT in_flight FROM organization_concurrency WHERE organization_id = ${organizationId}
  `
  const rows = yield* sql<{ readonly endpoint_id: string; readonly n: number }>`
    SELECT endpoint_id, count(*)::int AS n FROM deliveries
    WHERE organization_id = ${organizationId} AND status = 'delivering' AND lease_expires_at IS NOT NULL GROUP BY endpoint_id
  `
  return { counted: row!.in_flight, actual: Object.fromEntries(rows.map(({ endpoint_id, n }) => [endpoint_id, n])) }
})

/** The completion of a successful attempt, with the given changes. */
export const completion = (delivery: ClaimedDelivery, changes: Partial<Completion> = {}): Completion => ({
  id: delivery.id,
  organization_id: delivery.organization_id,
  endpoint_id: delivery.endpoint_id,
  event_id: delivery.event_id,
  fencing_token: delivery.fencing_token,
  status: "succeeded",
  attempt_count: delivery.attempt_count,
  pace: "steady",
  works: (changes.status ?? "succeeded") === "succeeded",
  last_attempted_at: "2026-11-20T10:00:00.000Z",
  last_http_status: 204,
  last_error_summary: null,
  next_retry_at: null,
  updated_at: "2026-11-20T10:00:00.000Z",
  ...changes
})

/** A submission as the API reads it from a request. */
export const submission = ({
  idempotencyKey,
  invoiceXml = "<Faktura/>",
  metadata = {},
  mode = "test",
  organizationId,
  scenario = mode === "test" ? "accepted" : null
}: Pick<OrganizationSubmission, "idempotencyKey" | "organizationId"> &
  Partial<Pick<OrganizationSubmission, "invoiceXml" | "metadata" | "mode" | "scenario">>): OrganizationSubmission => {
  const body = Buffer.from(JSON.stringify({ invoice_xml: invoiceXml, metadata }))
  const read = readSubmission(body, { mode, scenario })
  if (read._tag === "Invalid") throw new Error(JSON.stringify(read.fault))
  return { organizationId, idempotencyKey, mode, scenario, ...read.submission }
}
