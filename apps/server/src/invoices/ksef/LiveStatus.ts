/** The state of the live mode of an organization, for its owner: waiting and undecided invoices, and the used part of limits. */
import type { LiveStatus as Api } from "@govoice/api"
import type { Ids, Invoice } from "@govoice/core"
import { Operation } from "@govoice/ksef/protocol"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { StatementTime } from "../../database/StatementTime.ts"
import { isoOrNull } from "../../database/timestamps.ts"
import { Settings } from "../../settings/Settings.ts"
import { GatewayCredentials } from "./GatewayCredentials.ts"
import type { StoredWindows } from "./RateLimitWindows.ts"
import { shownFailure } from "./waitReason.sql.ts"

const maxCounted = 1000
const hourMs = 3_600_000

/** Reads the live status. The caller checks the owner. */
export class LiveStatus extends Context.Service<
  LiveStatus,
  {
    readonly read: (id: Ids.OrganizationId) => Effect.Effect<Api.LiveStatus>
  }
>()("@govoice/server/invoices/ksef/LiveStatus") {}

interface Lane extends StoredWindows {
  readonly limits: Readonly<Record<string, Partial<Operation.RateLimit>>>
}

interface Row {
  readonly waiting: number
  readonly waiting_since: Date | null
  readonly waiting_failure: Invoice.Reason | null
  readonly undecided: number
  readonly undecided_since: Date | null
  readonly undecided_failure: Invoice.Reason | null
  readonly lane: Lane | null
}

// The groups of calls by which an invoice is sent and followed.
const shownGroups = ["onlineSession", "invoiceSend", "invoiceStatus", "batchSession", "invoiceDownload"] as const

const limitsOf = ({ blocked, limits, used }: Lane, now: number): ReadonlyArray<Api.CallLimit> =>
  shownGroups.map((group) => {
    const until = Math.max(blocked[group]?.until ?? 0, blocked["lane"]?.until ?? 0)
    return {
      group,
      used: (used[group] ?? []).reduce((sum, [at, calls]) => (at > now - hourMs ? sum + calls : sum), 0),
      per_hour: (limits[group] ?? Operation.defaultRateLimits[group]).perHour ?? null,
      blocked_until: until > now ? new Date(until).toISOString() : null
    }
  })

/** Provides `LiveStatus` from a migrated database. */
export const layer: Layer.Layer<LiveStatus, never, GatewayCredentials | Settings | SqlClient.SqlClient> = Layer.effect(
  LiveStatus,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)
    const credentials = yield* GatewayCredentials
    const { ksef, liveMode } = yield* Settings
    const environment = ksef.environmentId

    // The lane is of the context, which other organizations may submit in. Only a credential that the national system
    // accepted shows it.
    const select = (id: Ids.OrganizationId, failure: Statement.Fragment) => sql<Row>`
      WITH login AS (
        SELECT credential_context AS context, credential_state FROM organizations
        WHERE id = ${id} AND credential IS NOT NULL
          AND credential_environment IS NOT DISTINCT FROM ${environment ?? null}::text
      ), waiting AS (
        SELECT count(*)::int AS waiting, min(created_at) AS waiting_since,
               (array_agg(failure ORDER BY created_at) FILTER (WHERE failure IS NOT NULL))[1] AS waiting_failure
        FROM (
          SELECT created_at, ${failure} AS failure FROM invoices
          WHERE organization_id = ${id} AND mode = 'live' AND status IN ('queued', 'retrying')
          ORDER BY due_at LIMIT ${maxCounted}
        ) AS invoice
      ), undecided AS (
        SELECT count(*)::int AS undecided, min(sent_at) AS undecided_since,
               (array_agg(failure ORDER BY sent_at) FILTER (WHERE failure IS NOT NULL))[1] AS undecided_failure
        FROM (
          SELECT sent_at, ${failure} AS failure FROM national_submissions JOIN invoices ON invoices.id = invoice_id
          WHERE context = (SELECT context FROM login) AND national_submissions.due_at IS NOT NULL AND state = 'sent'
            AND invoices.organization_id = ${id}
          LIMIT ${maxCounted}
        ) AS submission
      )
      SELECT waiting.*, undecided.*, (
        SELECT jsonb_build_object('limits', limits, 'used', used, 'blocked', blocked) FROM national_lanes
        WHERE context = (SELECT context FROM login WHERE credential_state = 'accepted')
      ) AS lane
      FROM waiting, undecided
    `

    return {
      read: Effect.fn("LiveStatus.read")(function* (id) {
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Effect.orDie(select(id, shownFailure(sql, yield* statementTime)))
        const { lane, undecided, undecided_failure, undecided_since, waiting, waiting_failure, waiting_since } = row!
        return {
          object: "live_status",
          organization_id: id,
          available: yield* credentials.isLiveModeAvailable(id),
          live_mode: liveMode,
          environment: environment ?? null,
          waiting: { count: waiting, oldest_at: isoOrNull(waiting_since), failure: waiting_failure },
          undecided: { count: undecided, oldest_at: isoOrNull(undecided_since), failure: undecided_failure },
          limits: lane === null ? [] : limitsOf(lane, now)
        }
      })
    }
  })
)
