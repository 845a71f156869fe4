/**
 * The queue of lanes. A lane is one taxpayer of the national system, known by its NIP; organizations with credentials of the
 * same NIP share it, because they share its quota.
 *
 * A claim leases a lane and increases its fencing token. The first step of every statement of its holder updates the lane
 * under this token, so that a holder whose lease was lost writes nothing.
 */
import { PgTypes } from "@effect/sql-pg"
import { Context, Data, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { column, textArray } from "../../database/Arrays.ts"
import { StatementTime } from "../../database/StatementTime.ts"
import { RateLimitWindows, toLimits } from "./RateLimitWindows.ts"

/** A leased lane. */
export interface Lane {
  readonly nip: string
  readonly fencingToken: number
  readonly windows: RateLimitWindows
  /** Whether the lease of an earlier holder had expired. */
  readonly isReclaimed: boolean
  /** When the limits were read; `undefined` for those of production. */
  readonly limitsAt: number | undefined
}

/** The lease was lost: another process has the lane, or will have it. */
export class LaneLost extends Data.TaggedError("LaneLost")<{ readonly nip: string }> {}

/** When a lane has something to do next, in milliseconds since the epoch, as far as its holder knows. */
export interface Release {
  readonly nextAt: number
  /** Whether the holder knows of nothing that waits to be sent. Invoices that arrived meanwhile make the lane due then. */
  readonly isSendIdle: boolean
  /** The credentials that the holder knows. One that was stored meanwhile, to be checked, makes the lane due. */
  readonly credentials?: ReadonlyArray<{ readonly id: string; readonly credential_updated_at: Date }>
}

/** Lanes that were claimed, and of those leased before the NIPs that have invoices to send, and a credential to check. */
export interface Claimed {
  readonly lanes: ReadonlyArray<Lane>
  readonly withInvoices: ReadonlyArray<string>
  readonly withCredential: ReadonlyArray<string>
}

/** Claims, renews and releases lanes. */
export class LaneQueue extends Context.Service<
  LaneQueue,
  {
    /** Claims lanes, and tells what the lanes that are leased by this holder have to do. */
    readonly claim: (options: {
      readonly limit: number
      readonly leaseMs: number
      /** The NIPs of lanes that may have work. */
      readonly leased?: ReadonlyArray<string>
    }) => Effect.Effect<Claimed, SqlError.SqlError>
    /** Extends leases, and returns the NIPs of the lanes that were still leased by their holder. */
    readonly renew: (
      lanes: ReadonlyArray<Lane>,
      leaseMs: number
    ) => Effect.Effect<ReadonlySet<string>, SqlError.SqlError>
    readonly release: (lane: Lane, release: Release, now: number) => Effect.Effect<void, SqlError.SqlError>
    /** Stores the limits that hold for the taxpayer. */
    readonly setLimits: (lane: Lane, limits: object) => Effect.Effect<void, SqlError.SqlError>
    /** Makes lanes due that have work and are neither due nor leased: a submission and a release can miss each other. */
    readonly rescue: Effect.Effect<void, SqlError.SqlError>
    /**
     * Returns the step `lane` of a `WITH`, which stores what the lane has used. Every other step reads it, so that nothing
     * is written without the lease.
     */
    readonly fence: (lane: Lane, now: number) => Statement.Fragment
  }
>()("@govoice/server/invoices/ksef/LaneQueue") {}

interface LaneRow {
  readonly nip: string
  readonly fencing_token: number
  readonly limits_at: Date | null
  readonly limits: Parameters<typeof toLimits>[0]
  readonly used: ConstructorParameters<typeof RateLimitWindows>[1]["used"]
  readonly blocked: ConstructorParameters<typeof RateLimitWindows>[1]["blocked"]
  readonly reclaimed: boolean
  readonly now: Date
}

const toLane = (row: LaneRow): Lane => {
  const windows = new RateLimitWindows(toLimits(row.limits), { used: row.used, blocked: row.blocked })
  if (row.reclaimed) windows.addUnknown(row.now.getTime())
  return {
    nip: row.nip,
    fencingToken: row.fencing_token,
    windows,
    isReclaimed: row.reclaimed,
    limitsAt: row.limits_at?.getTime()
  }
}

/** Provides `LaneQueue` from a migrated database, for credentials of this environment. */
export const layerOf = (environmentId: string): Layer.Layer<LaneQueue, never, SqlClient.SqlClient> =>
  Layer.effect(
    LaneQueue,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const statementTime = (yield* StatementTime)(sql)
      const wakeStatement = yield* makeWakeStatement

      const fence = ({ fencingToken, nip, windows }: Lane, now: number) => {
        const { blocked, used } = windows.stored(now)
        return sql`
          lane AS MATERIALIZED (
            UPDATE national_lanes SET used = ${PgTypes.jsonb(used)}, blocked = ${PgTypes.jsonb(blocked)}
            WHERE nip = ${nip} AND fencing_token = ${fencingToken}::int AND is_leased
            RETURNING nip
          )
        `
      }

      const waitsOf = (nip: Statement.Fragment, now: Statement.Fragment) => sql`
        SELECT 1 FROM organizations CROSS JOIN LATERAL (
          SELECT 1 FROM invoices
          WHERE organization_id = organizations.id AND mode = 'live' AND status IN ('queued', 'retrying')
            AND invoices.due_at <= ${now}
          ORDER BY organization_id, due_at, invoices.id LIMIT 1
        ) AS waiting
        WHERE credential_nip = ${nip} AND credential_environment = ${environmentId}
      `

      // The taxpayers of an index that begins with the NIP, by one lookup each.
      const nips = (step: string, table: string, condition: string, order: string) =>
        sql.literal(`
          ${step} (nip) AS (
            (SELECT nip FROM ${table} WHERE ${condition} ORDER BY nip, ${order} LIMIT 1)
            UNION ALL
            SELECT next.nip FROM ${step} CROSS JOIN LATERAL (
              SELECT nip FROM ${table} WHERE ${condition} AND nip > ${step}.nip ORDER BY nip, ${order} LIMIT 1
            ) AS next
          )
        `)

      const dueNips = (step: string, condition: string) =>
        nips(step, "national_submissions", `due_at IS NOT NULL AND ${condition}`, "due_at, invoice_id")

      return {
        // One statement, because every submission wakes the worker.
        claim: Effect.fn("LaneQueue.claim")(function* ({ leased = [], leaseMs, limit }) {
          const now = yield* statementTime
          const rows = yield* sql<LaneRow & { readonly found: "claimed" | "invoices" | "credential" }>`
            WITH due AS MATERIALIZED (
              SELECT nip, is_leased FROM national_lanes WHERE due_at <= ${now}
              ORDER BY due_at, nip LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
            ), claimed AS (
              UPDATE national_lanes SET
                fencing_token = fencing_token + 1,
                is_leased     = true,
                due_at        = ${now} + ${leaseMs}::float8 * interval '1 millisecond'
              FROM due WHERE national_lanes.nip = due.nip
              RETURNING national_lanes.*, due.is_leased AS reclaimed
            )
            SELECT 'claimed' AS found, nip, fencing_token, limits_at, limits, used, blocked, reclaimed, ${now} AS now
            FROM claimed
            UNION ALL
            SELECT CASE WHEN is_unchecked THEN 'credential' ELSE 'invoices' END, nip, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM (
              SELECT leased.nip, EXISTS (
                SELECT 1 FROM organizations
                WHERE credential_nip = leased.nip AND credential_environment = ${environmentId}
                  AND credential_state = 'unchecked'
              ) AS is_unchecked
              FROM unnest(${textArray(leased)}) AS leased (nip)
            ) AS leased
            WHERE is_unchecked OR EXISTS (${waitsOf(sql`leased.nip`, now)})
          `
          const nipsOf = (found: "invoices" | "credential") =>
            rows.filter((row) => row.found === found).map(({ nip }) => nip)
          return {
            lanes: rows.filter(({ found }) => found === "claimed").map(toLane),
            withInvoices: nipsOf("invoices"),
            withCredential: nipsOf("credential")
          }
        }),

        renew: Effect.fn("LaneQueue.renew")(function* (lanes, leaseMs) {
          const now = yield* statementTime
          const rows = yield* sql<{ readonly nip: string }>`
            UPDATE national_lanes SET due_at = ${now} + ${leaseMs}::float8 * interval '1 millisecond'
            FROM unnest(
              ${column("text", lanes, ({ nip }) => nip)}, ${column("int4", lanes, ({ fencingToken }) => fencingToken)}
            ) AS leased (nip, fencing_token)
            WHERE national_lanes.nip = leased.nip AND national_lanes.fencing_token = leased.fencing_token AND is_leased
            RETURNING national_lanes.nip
          `
          return new Set(rows.map(({ nip }) => nip))
        }),

        release: Effect.fn("LaneQueue.release")(function* (lane, { credentials = [], isSendIdle, nextAt }, clock) {
          const now = yield* statementTime
          const dueAt = Number.isFinite(nextAt) ? new Date(nextAt) : null
          const { blocked, used } = lane.windows.stored(clock)
          yield* sql`
            UPDATE national_lanes SET
              used      = ${PgTypes.jsonb(used)},
              blocked   = ${PgTypes.jsonb(blocked)},
              is_leased = false,
              due_at = CASE
                WHEN ${isSendIdle}::boolean AND EXISTS (${waitsOf(sql`national_lanes.nip`, now)}) THEN ${now}
                WHEN EXISTS (
                  SELECT 1 FROM organizations
                  LEFT JOIN unnest(
                    ${column("text", credentials, ({ id }) => id)},
                    ${column("timestamptz", credentials, (known) => known.credential_updated_at)}
                  ) AS known (id, at) ON known.id = organizations.id
                  WHERE credential_nip = national_lanes.nip AND credential_environment = ${environmentId}
                    AND credential_state = 'unchecked' AND credential_updated_at IS DISTINCT FROM known.at
                ) THEN ${now}
                ELSE ${dueAt}::timestamptz
              END
            WHERE nip = ${lane.nip} AND fencing_token = ${lane.fencingToken}::int AND is_leased
          `
        }),

        setLimits: Effect.fn("LaneQueue.setLimits")(function* ({ fencingToken, nip }, limits) {
          const now = yield* statementTime
          yield* sql`
            UPDATE national_lanes SET limits = ${PgTypes.jsonb(limits)}, limits_at = ${now}
            WHERE nip = ${nip} AND fencing_token = ${fencingToken}::int AND is_leased
          `
        }),

        // Organizations with waiting invoices, and lanes with submissions, by one index lookup each.
        rescue: Effect.gen(function* () {
          const now = yield* statementTime
          yield* sql`
            WITH RECURSIVE waiting (organization_id) AS (
              (
                SELECT organization_id FROM invoices WHERE mode = 'live' AND status IN ('queued', 'retrying')
                ORDER BY organization_id, due_at, id LIMIT 1
              )
              UNION ALL
              SELECT next.organization_id FROM waiting CROSS JOIN LATERAL (
                SELECT organization_id FROM invoices
                WHERE mode = 'live' AND status IN ('queued', 'retrying') AND organization_id > waiting.organization_id
                ORDER BY organization_id, due_at, id LIMIT 1
              ) AS next
            ), ${dueNips("verdicts", "state IN ('sending', 'sent')")},
            ${dueNips("receipts", "state = 'decided'")},
            ${dueNips("resends", "state = 'refused'")},
            ${nips("unfinished", "national_sessions", "state NOT IN ('done', 'abandoned')", "id")},
            idle (nip) AS (
              SELECT credential_nip FROM waiting JOIN organizations ON organizations.id = waiting.organization_id
              WHERE credential_environment = ${environmentId}
              UNION SELECT nip FROM verdicts
              UNION SELECT nip FROM receipts
              UNION SELECT nip FROM resends
              UNION SELECT nip FROM unfinished
              EXCEPT SELECT nip FROM national_lanes WHERE due_at IS NOT NULL
            )
            ${wakeStatement(sql`SELECT nip FROM idle`, now)}
          `
        }).pipe(Effect.withSpan("LaneQueue.rescue"), Effect.asVoid),

        fence
      }
    })
  )

/**
 * Makes the statement that wakes the lanes of a query, which returns one column of NIPs: it makes them due, so that a worker
 * claims them. It can be a step of a `WITH`.
 *
 * A lane that is due or leased is left alone: its row is not locked, so concurrent submissions of a taxpayer do not wait for
 * each other. The holder of a leased lane is notified by `Notifier`, and reads its work again before it releases the lane.
 */
export const makeWakeStatement = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (nips: Statement.Fragment, now: Statement.Fragment): Statement.Fragment => sql`
    INSERT INTO national_lanes (nip, due_at)
    SELECT DISTINCT waking.nip, ${now} FROM (${nips}) AS waking (nip)
    WHERE NOT EXISTS (
      SELECT 1 FROM national_lanes WHERE national_lanes.nip = waking.nip AND (is_leased OR due_at <= ${now})
    )
    ORDER BY waking.nip
    ON CONFLICT (nip) DO UPDATE SET due_at = least(national_lanes.due_at, excluded.due_at) WHERE NOT national_lanes.is_leased
  `
})

/** Makes the effect that wakes the lane of one taxpayer. Call `Notifier.wake("lanes")` once it is committed. */
export const makeWake = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const statement = yield* makeWakeStatement
  const statementTime = (yield* StatementTime)(sql)
  return (nip: string): Effect.Effect<void, SqlError.SqlError> =>
    Effect.flatMap(statementTime, (now) => sql`${statement(sql`SELECT ${nip}::text`, now)}`)
})

/** Wakes the lane of one taxpayer, outside of requests. */
export const wakeLane = (nip: string): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(makeWake, (wake) => wake(nip))
