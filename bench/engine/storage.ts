/** Measures what a sandbox invoice with one endpoint writes and keeps, and what retention costs. */
import { Effect, Layer, ManagedRuntime } from "effect"
import type { Pool } from "pg"
import * as Database from "../../apps/server/src/database/Database.ts"
import { readSubmission } from "../../apps/server/src/invoices/readSubmission.ts"
import * as SubmitInvoice from "../../apps/server/src/invoices/SubmitInvoice.ts"
import { read, Settings } from "../../apps/server/src/settings/Settings.ts"
import * as Partitions from "../../apps/server/src/database/Partitions.ts"
import { type Database as Measured, environment, makeTenants, type Tenant } from "./database.ts"
import { type Receiver, startServer, until } from "./processes.ts"

export interface Storage {
  /** Bytes of write-ahead log and of tables with their indexes, for each invoice. */
  readonly invoice: { readonly wal: number; readonly disk: number }
  /** What dropping the week of so many deliveries takes. */
  readonly retention: { readonly milliseconds: number; readonly wal: number }
}

const connect = (url: string) =>
  ManagedRuntime.make(
    Layer.provideMerge(
      SubmitInvoice.layer,
      Layer.merge(
        Database.layerClient({ _tag: "Postgres", url }),
        Layer.succeed(Settings)(read({ GOVOICE_DATA_DIR: "memory", GOVOICE_SANDBOX_STEP_MS: "1" }))
      )
    )
  )

// A document of 80 characters.
const body = Buffer.from(JSON.stringify({ invoice_xml: `<Faktura>${"0".repeat(61)}</Faktura>` }))

const submit = (tenant: Tenant, key: string) => {
  const context = { mode: "test", scenario: "accepted" } as const
  const submission = readSubmission(body, context)
  if (submission._tag === "Invalid") throw new Error("The document of the benchmark is refused")
  const organizationId = tenant.organization as SubmitInvoice.OrganizationSubmission["organizationId"]
  return Effect.flatMap(SubmitInvoice.SubmitInvoice, (invoices) =>
    invoices.submit({ ...context, ...submission.submission, organizationId, idempotencyKey: key })
  )
}

const used = async (pool: Pool): Promise<{ readonly wal: number; readonly disk: number }> => {
  const { rows } = await pool.query<{ wal: number; disk: number }>(`
    SELECT (pg_current_wal_lsn() - '0/0')::float8 AS wal, sum(pg_total_relation_size(oid))::float8 AS disk
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
  `)
  return rows[0]!
}

/** Old deliveries that have succeeded, one for each event, in the oldest partition. */
const store = async (pool: Pool, { endpoint, invoice, organization }: Tenant, count: number): Promise<void> => {
  const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 26, '0')`
  const numbers = `generate_series(1, ${count}) AS n`
  await pool.query(
    `INSERT INTO events (id, organization_id, invoice_id, type, body)
     SELECT ${id("evt")}, $1, $2, 'invoice.accepted', repeat('x', 700) FROM ${numbers}`,
    [organization, invoice]
  )
  await pool.query(
    `INSERT INTO deliveries (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, delivered_at, is_due, status)
     SELECT ${id("wd")}, $1, $2, ${id("evt")}, 'invoice.accepted', now(), now(), now(), false, 'succeeded' FROM ${numbers}`,
    [organization, endpoint]
  )
  await pool.query("VACUUM ANALYZE events, deliveries")
}

/** Submits invoices to a process that delivers their events, and drops the week of `expired` deliveries. */
export const storage = async (
  { pool, url }: Measured,
  receiver: Receiver,
  counts: { readonly invoices: number; readonly expired: number }
): Promise<Storage> => {
  const [tenant] = await makeTenants(pool, 1, receiver.url)
  const runtime = connect(url)
  const worker = startServer({
    ...environment,
    DATABASE_URL: url,
    GOVOICE_ROLE: "worker",
    GOVOICE_SANDBOX_STEP_MS: "1",
    GOVOICE_TENANT_CONCURRENCY: "100"
  })
  const submitAll = async (name: string, count: number) => {
    const keys = Array.from({ length: count }, (_, n) => `${name} ${n}`)
    await runtime.runPromise(Effect.forEach(keys, (key) => submit(tenant!, key), { concurrency: 20 }))
    await until(
      "the last delivery",
      async () => {
        const { rows } = await pool.query<{ done: boolean }>(`
          SELECT NOT EXISTS (SELECT FROM invoices WHERE due_at IS NOT NULL)
            AND NOT EXISTS (SELECT FROM deliveries WHERE due_at IS NOT NULL) AS done
        `)
        return rows[0]!.done
      },
      300_000,
      500
    )
  }
  try {
    // The first change of each page after a checkpoint writes the whole page, and new tables have pages for later rows.
    await pool.query("CHECKPOINT")
    await submitAll("before", counts.invoices / 4)
    const before = await used(pool)
    await submitAll("measured", counts.invoices)
    const after = await used(pool)
    const each = (name: "wal" | "disk") => (after[name] - before[name]) / counts.invoices

    await store(pool, tenant!, counts.expired)
    const { wal } = await used(pool)
    const begun = performance.now()
    const weeks = await runtime.runPromise(Partitions.dropBefore(Date.now()))
    const milliseconds = performance.now() - begun
    if (weeks !== 1) throw new Error(`${weeks} weeks were dropped instead of one`)
    return {
      invoice: { wal: each("wal"), disk: each("disk") },
      retention: { milliseconds, wal: (await used(pool)).wal - wal }
    }
  } finally {
    await worker.stop()
    await runtime.dispose()
  }
}
