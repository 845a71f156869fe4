/** Stores deliveries of a time with their events, invoices, documents, receipts and idempotency records, by SQL. */
import { Pool } from "pg"
import * as IdGenerator from "../../apps/server/src/crypto/IdGenerator.ts"

const perMoment = 1000

/** The time of stored records, in milliseconds since the epoch. */
export interface FillTime {
  readonly from: number
  readonly until: number
}

/**
 * Stores `count` deliveries, spread evenly over the endpoints of the database. One in a hundred failed, and its invoice was
 * rejected. Vacuums nothing.
 */
export const fill = async (databaseUrl: string, count: number, { from, until }: FillTime): Promise<void> => {
  const pool = new Pool({ connectionString: databaseUrl, max: 1 })
  const all = Math.ceil(count / perMoment)
  const moments = Array.from({ length: all }, (_, n) => from + Math.floor((n * (until - from)) / all))
  // Identifiers begin with the time, as those of the server do.
  const times = moments.map((moment) => IdGenerator.at("wd", moment).slice("wd_".length, "wd_".length + 10))
  const rows = `
    FROM unnest($1::text[], $2::float8[]) WITH ORDINALITY AS moment (time, milliseconds, batch)
    CROSS JOIN generate_series(0, ${Math.min(perMoment, count) - 1}) AS n
    CROSS JOIN LATERAL (SELECT time || lpad(batch::text, 8, '0') || lpad(n::text, 8, '0') AS suffix,
                               to_timestamp(milliseconds / 1000) AS at, n / 10 % 100 = 7 AS failed) AS one
    JOIN (SELECT id, organization_id, row_number() OVER (ORDER BY id) - 1 AS position, count(*) OVER () AS endpoints
          FROM webhook_endpoints) AS endpoint ON endpoint.position = n % endpoint.endpoints`
  const statements = [
    `INSERT INTO invoices (id, organization_id, created_at, updated_at, submitted_at, completed_at, mode, status, scenario,
                           official_number, rejection, upo_available, metadata)
     SELECT 'inv_' || suffix, organization_id, at, at, at, at, 'test', CASE WHEN failed THEN 'rejected' ELSE 'accepted' END,
            'accepted', CASE WHEN NOT failed THEN '5265877635-20261120-0100001AF629-61' END,
            CASE WHEN failed THEN '{"code":"sandbox_rejected","message":"x"}'::jsonb END, NOT failed, '{"order":"4711"}'`,
    `INSERT INTO invoice_documents (invoice_id, organization_id, xml, sha256, seller_nip, issue_date, invoice_number)
     SELECT 'inv_' || suffix, organization_id, '<Faktura/>', sha256(suffix::bytea), '5265877635', '2026-11-20', 'FV/' || suffix`,
    `INSERT INTO receipts (invoice_id, organization_id, created_at, xml)
     SELECT 'inv_' || suffix, organization_id, at, '<UPO/>'`,
    `INSERT INTO idempotency_records (organization_id, mode, key, created_at, request_hash, invoice_id, body)
     SELECT organization_id, 'test', md5(suffix), at, sha256(suffix::bytea), 'inv_' || suffix, '{}'`,
    `INSERT INTO events (id, organization_id, invoice_id, type, body)
     SELECT 'evt_' || suffix, organization_id, 'inv_' || suffix,
            CASE WHEN failed THEN 'invoice.rejected' ELSE 'invoice.accepted' END, '{}'`,
    `INSERT INTO deliveries (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, attempt_count,
                             is_due, status, failure_status, last_attempted_at, last_http_status, delivered_at)
     SELECT 'wd_' || suffix, organization_id, endpoint.id, 'evt_' || suffix,
            CASE WHEN failed THEN 'invoice.rejected' ELSE 'invoice.accepted' END, at, at, 1, false,
            CASE WHEN failed THEN 'failed' ELSE 'succeeded' END, CASE WHEN failed THEN 'failed' END, at,
            CASE WHEN failed THEN 500 ELSE 204 END, CASE WHEN NOT failed THEN at END`
  ]
  await pool.query("SET session_replication_role = replica")
  await pool.query("SET synchronous_commit = off")
  for (const statement of statements) await pool.query(statement + rows, [times, moments])
  await pool.end()
}
