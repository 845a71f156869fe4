/**
 * Invariants of the whole database after all work is complete: of every invoice, event, delivery and count.
 *
 * Each check is a statement that returns the violations. The states of an invoice are listed here independently of the
 * server, by scenario.
 */
import type { Pool } from "pg"

const lives: Readonly<Record<string, { readonly status: string; readonly events: ReadonlyArray<string> }>> = {
  accepted: {
    status: "accepted",
    events: ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"]
  },
  delayed: {
    status: "accepted",
    events: ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"]
  },
  rejected: { status: "rejected", events: ["invoice.received", "invoice.submitted", "invoice.rejected"] },
  temporary_failure: { status: "failed", events: ["invoice.received", "invoice.failed"] }
}

const nothing: Readonly<Record<string, string>> = {
  "an invoice that is not finished": "SELECT id FROM invoices WHERE completed_at IS NULL OR due_at IS NOT NULL",
  "an accepted invoice without its receipt, or a receipt without its invoice": `
    SELECT id FROM invoices LEFT JOIN receipts ON invoice_id = id
    WHERE upo_available <> (status = 'accepted') OR upo_available <> (invoice_id IS NOT NULL)`,
  "an invoice that was submitted but says not when": `
    SELECT id FROM invoices WHERE (status IN ('accepted', 'rejected')) <> (submitted_at IS NOT NULL)`,
  "an invoice without document or idempotency record": `
    SELECT id FROM invoices
    WHERE NOT EXISTS (SELECT FROM invoice_documents WHERE invoice_id = id)
       OR NOT EXISTS (SELECT FROM idempotency_records WHERE invoice_id = id)`,
  "an event whose body is not that event": `
    SELECT id FROM events
    WHERE body::json ->> 'id' <> id OR body::json ->> 'type' <> type
       OR body::json #>> '{data,invoice,id}' <> invoice_id`,
  "an event whose invoice stood otherwise": `
    SELECT id FROM events
    WHERE body::json #>> '{data,invoice,status}' <> CASE type
      WHEN 'invoice.received' THEN 'queued' WHEN 'invoice.submitted' THEN 'submitted'
      WHEN 'invoice.rejected' THEN 'rejected' WHEN 'invoice.failed' THEN 'failed' ELSE 'accepted' END`,
  "an event and an endpoint of its organization without a delivery": `
    SELECT events.id FROM events JOIN webhook_endpoints AS endpoint USING (organization_id)
    WHERE endpoint.created_at <= (events.body::json ->> 'created_at')::timestamptz AND endpoint.event_types && ARRAY[events.type, '*']
      AND NOT EXISTS (SELECT FROM deliveries WHERE event_id = events.id AND endpoint_id = endpoint.id)`,
  "a delivery to the endpoint of another organization": `
    SELECT deliveries.id FROM deliveries
    JOIN webhook_endpoints AS endpoint ON endpoint.id = endpoint_id JOIN events ON events.id = event_id
    WHERE endpoint.organization_id <> deliveries.organization_id
       OR events.organization_id <> deliveries.organization_id OR events.type <> event_type`,
  "a delivery that is not finished": `
    SELECT id FROM deliveries
    WHERE status NOT IN ('succeeded', 'failed', 'endpoint_disabled') OR due_at IS NOT NULL OR is_due OR lease_expires_at IS NOT NULL`,
  "a success that does not look like one": `
    SELECT id FROM deliveries
    WHERE status = 'succeeded' AND (
      last_http_status NOT BETWEEN 200 AND 299 OR last_http_status IS NULL OR last_error_summary IS NOT NULL
      OR attempt_count < 1 OR last_attempted_at IS NULL OR delivered_at < last_attempted_at
    )`,
  "a failure that does not say why": `
    SELECT id FROM deliveries
    WHERE status = 'failed' AND (last_error_summary IS NULL OR last_http_status BETWEEN 200 AND 299)`,
  "an attempt that was not counted": `
    SELECT id FROM deliveries WHERE fencing_token < attempt_count OR (attempt_count = 0) <> (last_attempted_at IS NULL)`,
  "a record that was updated before it was created": `
    SELECT id FROM deliveries WHERE updated_at < created_at UNION ALL
    SELECT id FROM invoices WHERE updated_at < created_at`,
  "a slot in use without a delivery in flight":
    "SELECT organization_id FROM organization_concurrency WHERE in_flight <> '{}'"
}

/** Throws with everything that is wrong. */
export const check = async (pool: Pool, options: { readonly maxAttempts: number }): Promise<void> => {
  const faults: Array<string> = []
  for (const [what, query] of Object.entries(nothing)) {
    const { rows } = await pool.query(`${query} LIMIT 5`)
    if (rows.length > 0) faults.push(`There is ${what}: ${JSON.stringify(rows)}`)
  }

  const { rows: tooMany } = await pool.query("SELECT id, attempt_count FROM deliveries WHERE attempt_count > $1", [
    options.maxAttempts
  ])
  if (tooMany.length > 0) faults.push(`There are more attempts than there may be: ${JSON.stringify(tooMany)}`)

  const { rows: invoices } = await pool.query<{
    id: string
    scenario: string | null
    status: string
    types: Array<string>
  }>(`
    SELECT invoices.id, scenario, status, array_agg(type ORDER BY events.id) AS types
    FROM invoices JOIN events ON invoice_id = invoices.id GROUP BY invoices.id
  `)
  for (const { id, scenario, status, types } of invoices) {
    // Tests in live mode use documents that are accepted.
    const life = lives[scenario ?? "accepted"]
    if (life === undefined || life.status !== status || life.events.join() !== types.join()) {
      faults.push(`The ${scenario} invoice ${id} is ${status} after ${types.join(", ")}`)
    }
  }
  if (faults.length > 0) throw new Error(faults.join("\n"))
}
