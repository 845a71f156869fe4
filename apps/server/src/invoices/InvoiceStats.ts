/** Counts the invoices of an organization that its owner has to look at. */
import type { Ids } from "@govoice/core"
import { Cache, Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { cacheOptions } from "../database/cacheOptions.ts"
import { idBoundary } from "../database/idBoundary.ts"
import { LateRead } from "../database/Replica.ts"

/** How far is counted. */
export const limit = 1000

/** The newest invoices among which those are counted whose status has no index. */
export const mostExamined = 10_000

const dayMs = 86_400_000

/** The counts of an organization. */
export interface InvoiceCounts {
  readonly retrying: number
  /** Of the last 24 hours. */
  readonly rejected: number
  /** Of the last 24 hours. */
  readonly failed: number
  /** Of the last 24 hours. */
  readonly accepted: number
  readonly inProgress: number
  readonly medianSecondsToUpo: number | null
}

/** Counts invoices. The caller checks the owner. Counts are kept for 30 seconds. */
export class InvoiceStats extends Context.Service<
  InvoiceStats,
  { readonly ofOrganization: (id: Ids.OrganizationId) => Effect.Effect<InvoiceCounts> }
>()("@govoice/server/invoices/InvoiceStats") {}

const keptCounts = cacheOptions(1000, Duration.seconds(30))

/** Provides `InvoiceStats` from a migrated database. */
export const layer: Layer.Layer<InvoiceStats, never, SqlClient.SqlClient> = Layer.effect(
  InvoiceStats,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const lateRead = yield* LateRead

    // The literal statuses are those of the partial index.
    const countSince = (id: Ids.OrganizationId, status: "failed" | "rejected" | "retrying", from: string) => sql`
      SELECT count(*)::int FROM (
        SELECT FROM invoices
        WHERE organization_id = ${id} AND status = ${sql.literal(`'${status}'`)} AND id >= ${from} LIMIT ${limit}
      ) AS counted
    `

    // As the pages of `Invoices`: written so, the planner takes the index of the organization whatever it expects.
    const select = (id: Ids.OrganizationId, dayAgo: string) => sql<InvoiceCounts>`
      WITH newest AS MATERIALIZED (
        SELECT id, status, created_at, upo_available FROM invoices
        WHERE organization_id = ANY (ARRAY[${id}]) ORDER BY organization_id ASC, id DESC LIMIT (SELECT ${mostExamined}::int)
      ), trouble AS (
        SELECT (${countSince(id, "retrying", "")}) AS retrying, (${countSince(id, "rejected", dayAgo)}) AS rejected,
               (${countSince(id, "failed", dayAgo)}) AS failed
      )
      SELECT trouble.*,
             (SELECT least(count(*), ${limit})::int FROM newest WHERE status = 'accepted' AND id >= ${dayAgo}) AS accepted,
             (
               SELECT least(count(*), ${limit})::int FROM newest
               WHERE status IN ('queued', 'submitting', 'retrying', 'submitted')
             ) AS "inProgress",
             (
               SELECT extract(epoch FROM percentile_disc(0.5) WITHIN GROUP (ORDER BY receipt.created_at - received.created_at))::float8
               FROM (SELECT id, created_at FROM newest WHERE upo_available ORDER BY id DESC LIMIT 100) AS received
               CROSS JOIN LATERAL (SELECT created_at FROM receipts WHERE invoice_id = received.id OFFSET 0) AS receipt
             ) AS "medianSecondsToUpo"
      FROM trouble
    `

    const counts = yield* Cache.makeWith(
      Effect.fnUntraced(function* (id: Ids.OrganizationId) {
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Effect.orDie(lateRead(select(id, idBoundary("inv", now - dayMs))))
        return row!
      }),
      keptCounts
    )

    return { ofOrganization: Effect.fn("InvoiceStats.ofOrganization")((id) => Cache.get(counts, id)) }
  })
)
