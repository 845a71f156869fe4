/** Counts the invoices of an organization that its owner has to look at. */
import type { Ids } from "@govoice/core"
import { Cache, Clock, Context, Duration, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { idBoundary } from "../database/idBoundary.ts"

/** How far is counted. */
export const limit = 1000

const dayMs = 86_400_000

/** The counts of an organization. */
export interface InvoiceCounts {
  readonly retrying: number
  /** Of the last 24 hours. */
  readonly rejected: number
  /** Of the last 24 hours. */
  readonly failed: number
}

/** Counts invoices. The caller checks the owner. Counts are kept for 30 seconds. */
export class InvoiceStats extends Context.Service<
  InvoiceStats,
  { readonly ofOrganization: (id: Ids.OrganizationId) => Effect.Effect<InvoiceCounts> }
>()("@govoice/server/invoices/InvoiceStats") {}

// A failed query is not kept.
const cacheOptions = {
  capacity: 1000,
  timeToLive: (exit: Exit.Exit<unknown>) => (Exit.isSuccess(exit) ? Duration.seconds(30) : Duration.zero)
}

/** Provides `InvoiceStats` from a migrated database. */
export const layer: Layer.Layer<InvoiceStats, never, SqlClient.SqlClient> = Layer.effect(
  InvoiceStats,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    // The literal statuses are those of the partial index.
    const countSince = (id: Ids.OrganizationId, status: "failed" | "rejected" | "retrying", from: string) => sql`
      SELECT count(*)::int FROM (
        SELECT FROM invoices
        WHERE organization_id = ${id} AND status = ${sql.literal(`'${status}'`)} AND id >= ${from} LIMIT ${limit}
      ) AS counted
    `

    const select = (id: Ids.OrganizationId, dayAgo: string) => sql<InvoiceCounts>`
      SELECT (${countSince(id, "retrying", "")}) AS retrying, (${countSince(id, "rejected", dayAgo)}) AS rejected,
             (${countSince(id, "failed", dayAgo)}) AS failed
    `

    const counts = yield* Cache.makeWith(
      Effect.fnUntraced(function* (id: Ids.OrganizationId) {
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Effect.orDie(select(id, idBoundary("inv", now - dayMs)))
        return row!
      }),
      cacheOptions
    )

    return { ofOrganization: Effect.fn("InvoiceStats.ofOrganization")((id) => Cache.get(counts, id)) }
  })
)
