/** Stores why the invoices of taxpayers wait, so that their records show it (`waitReason.sql.ts`), and counts them for the log. */
import { PgTypes } from "@effect/sql-pg"
import type { Invoice } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../database/Arrays.ts"
import { StatementTime } from "../../database/StatementTime.ts"
import type { Lease, TroubleRecord } from "./Troubles.ts"
import type { StoredReasons } from "./waitReason.sql.ts"
import { waits } from "./waiting.sql.ts"

/** For how many seconds an outage is shown after a process has reported it. It does so every ten seconds. */
const outageSeconds = 30

/** A lane, and why its invoices wait, if they do. */
export interface LaneReason extends Lease {
  readonly reasons: StoredReasons | undefined
}

/** Makes the functions, for credentials of this environment. */
export const make = Effect.fnUntraced(function* (environmentId: string) {
  const sql = yield* SqlClient.SqlClient
  const statementTime = (yield* StatementTime)(sql)

  return {
    /** Stores the reasons of leased lanes that have changed. What a lane waits for when it is released is stored with its release. */
    store: Effect.fn("WaitReasons.store")(function* (lanes: ReadonlyArray<LaneReason>) {
      if (lanes.length === 0) return
      yield* sql`
        UPDATE national_lanes SET trouble = changed.reasons
        FROM (
          SELECT national_lanes.context, one.reasons
          FROM json_to_recordset(${PgTypes.json(lanes)}) AS one (context text, "fencingToken" int, reasons jsonb)
          JOIN national_lanes ON national_lanes.context = one.context AND fencing_token = "fencingToken" AND is_leased
          WHERE trouble IS DISTINCT FROM one.reasons
          FOR UPDATE OF national_lanes SKIP LOCKED
        ) AS changed
        WHERE national_lanes.context = changed.context
      `
    }),

    /** Stores that KSeF is unavailable, as the invoices of all taxpayers without another reason show for a while. */
    storeOutage: Effect.fn("WaitReasons.storeOutage")(function* (reason: Invoice.Reason) {
      const now = yield* statementTime
      yield* sql`
        UPDATE national_environment SET outage = ${PgTypes.jsonb(reason)}::jsonb
          || jsonb_build_object('until', ${now} + ${outageSeconds}::int * interval '1 second')
        WHERE environment = ${environmentId}
      `
    }),

    /** Returns which of these taxpayers no other process has had the lane of since. */
    lastHeld: Effect.fn("WaitReasons.lastHeld")(function* (leases: ReadonlyArray<Lease>) {
      if (leases.length === 0) return new Set<string>()
      const rows = yield* sql<{ readonly context: string }>`
        SELECT context FROM unnest(
          ${column("text", leases, ({ context }) => context)}, ${column("int4", leases, ({ fencingToken }) => fencingToken)}
        ) AS held (context, fencing_token) JOIN national_lanes USING (context, fencing_token)
      `
      return new Set(rows.map(({ context }) => context))
    }),

    /** Counts the invoices of taxpayers that are not decided, up to 1,000 each. */
    count: Effect.fn("WaitReasons.count")(function* (records: ReadonlyArray<TroubleRecord>) {
      if (records.length === 0) return new Map<string, number>()
      const contexts = records.map(({ context }) => ({ context }))
      const rows = yield* sql<{ readonly context: string; readonly invoices: number }>`
        SELECT wanted.context, (
          SELECT count(*)::int FROM (
            SELECT FROM organizations CROSS JOIN LATERAL (
              SELECT FROM invoices WHERE organization_id = organizations.id AND ${waits(sql)}
              ORDER BY organization_id, due_at, id LIMIT 1000
            ) AS invoice
            WHERE credential_context = wanted.context AND credential_environment = ${environmentId} LIMIT 1000
          ) AS unsent
        ) + (
          SELECT count(*)::int FROM (
            SELECT FROM national_submissions
            WHERE national_submissions.context = wanted.context AND due_at IS NOT NULL AND state IN ('sending', 'sent') LIMIT 1000
          ) AS undecided
        ) AS invoices
        FROM json_to_recordset(${PgTypes.json(contexts)}) AS wanted (context text)
      `
      return new Map(rows.map(({ invoices, context }) => [context, invoices]))
    })
  }
})
