/** Stores deliveries of the last seven days, with their events and invoices, by SQL. */
import { Pool } from "pg"
import * as IdGenerator from "../../apps/server/src/crypto/IdGenerator.ts"

const windowMs = 7 * 24 * 3_600_000
const perMoment = 1000

/** Stores `count` deliveries that succeeded, spread evenly over the endpoints of the database. Vacuums nothing. */
export const fill = async (databaseUrl: string, count: number): Promise<void> => {
  const pool = new Pool({ connectionString: databaseUrl, max: 1 })
  const now = Date.now()
  const moments = Array.from(
    { length: Math.ceil(count / perMoment) },
    (_, n, all = Math.ceil(count / perMoment)) => now - windowMs + Math.floor((n * windowMs) / all)
  )
  // Identifiers begin with the time, as those of the server do.
  const times = moments.map((moment) => IdGenerator.at("wd", moment).slice("wd_".length, "wd_".length + 10))
  const from = `
    FROM unnest($1::text[], $2::float8[]) WITH ORDINALITY AS moment (time, milliseconds, batch)
    CROSS JOIN generate_series(0, ${perMoment - 1}) AS n
    CROSS JOIN LATERAL (SELECT time || lpad(batch::text, 8, '0') || lpad(n::text, 8, '0') AS suffix,
                               to_timestamp(milliseconds / 1000) AS at) AS one
    JOIN (SELECT id, organization_id, row_number() OVER (ORDER BY id) - 1 AS position, count(*) OVER () AS endpoints
          FROM webhook_endpoints) AS endpoint ON endpoint.position = n % endpoint.endpoints`
  const values = [times, moments]
  await pool.query("SET session_replication_role = replica")
  await pool.query("SET synchronous_commit = off")
  await pool.query(
    `INSERT INTO invoices (id, organization_id, created_at, updated_at, completed_at, mode, status, scenario, official_number, metadata)
     SELECT 'inv_' || suffix, organization_id, at, at, at, 'test', 'accepted', 'accepted', 'n', '{}' ${from}`,
    values
  )
  await pool.query(
    `INSERT INTO events (id, organization_id, invoice_id, created_at, type, body)
     SELECT 'evt_' || suffix, organization_id, 'inv_' || suffix, at, 'invoice.accepted', '{}' ${from}`,
    values
  )
  await pool.query(
    `INSERT INTO deliveries (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, attempt_count,
                             is_due, status, last_attempted_at, last_http_status, delivered_at)
     SELECT 'wd_' || suffix, organization_id, endpoint.id, 'evt_' || suffix, 'invoice.accepted', at, at, 1, false,
            'succeeded', at, 204, at ${from}`,
    values
  )
  await pool.end()
}
