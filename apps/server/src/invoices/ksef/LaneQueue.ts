/**
 * The queue of lanes. A lane is one context of the national system: a taxpayer, a unit of it, or it with an entity of the EU.
 * Organizations with credentials of the same context share it, because they share its quota. A context is known by its value, whose
 * form tells the type.
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
import type { StoredReasons } from "./waitReason.sql.ts"
import { waitingOrganizations, waits } from "./waiting.sql.ts"

/** A leased lane. */
export interface Lane {
  readonly context: string
  readonly fencingToken: number
  readonly windows: RateLimitWindows
  /** Whether the lease of an earlier holder had expired. */
  readonly isReclaimed: boolean
  /** When the limits were read; `undefined` for those of production. */
  readonly limitsAt: number | undefined
  /** Why its invoices waited when it was released. */
  readonly reasons: StoredReasons | undefined
}

/** The lease was lost: another process has the lane, or will have it. */
export class LaneLost extends Data.TaggedError("LaneLost")<{ readonly context: string }> {}

/** When a lane has something to do next, in milliseconds since the epoch, as far as its holder knows. */
export interface Release {
  readonly nextAt: number
  /** The organizations of which the holder knows nothing that waits to be sent. Invoices of theirs that arrived meanwhile make the lane due. */
  readonly idle?: ReadonlyArray<string>
  /** The credentials that the holder knows. One that was stored meanwhile, to be checked, makes the lane due. */
  readonly credentials?: ReadonlyArray<{ readonly id: string; readonly credential_updated_at: Date }>
  /** Why its invoices wait. */
  readonly reasons?: StoredReasons | undefined
}

/** Lanes that were claimed, and of those leased before the contexts that have invoices to send, and a credential to check. */
export interface Claimed {
  readonly lanes: ReadonlyArray<Lane>
  readonly withInvoices: ReadonlyArray<string>
  readonly withCredential: ReadonlyArray<string>
}

/** The contexts of the leases that were extended, and of those that were not, because another statement or session has locked the lane. */
export interface Renewed {
  readonly renewed: ReadonlySet<string>
  readonly locked: ReadonlySet<string>
}

/** Claims, renews and releases lanes. */
export class LaneQueue extends Context.Service<
  LaneQueue,
  {
    /** Claims lanes, and tells what the lanes that are leased by this holder have to do. */
    readonly claim: (options: {
      readonly limit: number
      /** How many lanes of which KSeF has accepted no credential are claimed beside them. Accounts take turns for them. */
      readonly limitOfOthers: number
      readonly leaseMs: number
      /** The contexts of lanes that may have work. */
      readonly leased: ReadonlyArray<string>
    }) => Effect.Effect<Claimed, SqlError.SqlError>
    /** Extends the leases that their holder still has, without waiting for rows that are locked. */
    readonly renew: (lanes: ReadonlyArray<Lane>, leaseMs: number) => Effect.Effect<Renewed, SqlError.SqlError>
    readonly release: (lane: Lane, release: Release, now: number) => Effect.Effect<void, SqlError.SqlError>
    /** Stores the limits that hold for the context. */
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

// Among so many lanes without an accepted credential accounts take turns.
const maxCandidates = 1000

interface LaneRow {
  readonly context: string
  readonly fencing_token: number
  readonly limits_at: Date | null
  readonly limits: Parameters<typeof toLimits>[0]
  readonly used: ConstructorParameters<typeof RateLimitWindows>[1]["used"]
  readonly blocked: ConstructorParameters<typeof RateLimitWindows>[1]["blocked"]
  readonly trouble: StoredReasons | null
  readonly reclaimed: boolean
  readonly now: Date
}

const toLane = (row: LaneRow): Lane => {
  const windows = new RateLimitWindows(toLimits(row.limits), { used: row.used, blocked: row.blocked })
  if (row.reclaimed) windows.addUnknown(row.now.getTime())
  return {
    context: row.context,
    fencingToken: row.fencing_token,
    windows,
    isReclaimed: row.reclaimed,
    limitsAt: row.limits_at?.getTime(),
    reasons: row.trouble ?? undefined
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

      const fence = ({ fencingToken, context, windows }: Lane, now: number) => {
        const { blocked, used } = windows.stored(now)
        return sql`
          lane AS MATERIALIZED (
            UPDATE national_lanes SET used = ${PgTypes.jsonb(used)}, blocked = ${PgTypes.jsonb(blocked)}
            WHERE context = ${context} AND fencing_token = ${fencingToken}::int AND is_leased
            RETURNING context
          )
        `
      }

      // A fail-over to a replica that was behind loses claims, and their holders go on: the next one may not have the same token. These
      // have more than a second between them.
      const tokenOf = (now: Statement.Fragment) =>
        sql`extract(epoch FROM ${now} - timestamptz '2026-01-01 00:00:00+00')::int`

      const waitsOf = (context: Statement.Fragment, now: Statement.Fragment, which = sql`true`) => sql`
        SELECT 1 FROM organizations CROSS JOIN LATERAL (
          SELECT 1 FROM invoices
          WHERE organization_id = organizations.id AND ${waits(sql)} AND invoices.due_at <= ${now}
          ORDER BY organization_id, due_at, invoices.id LIMIT 1
        ) AS waiting
        WHERE credential_context = ${context} AND credential_environment = ${environmentId} AND ${which}
      `

      const isAccepted = sql`EXISTS (
        SELECT 1 FROM organizations
        WHERE credential_context = national_lanes.context AND credential_environment = ${environmentId}
          AND credential_state = 'accepted'
      )`

      // The contexts of an index that begins with them, by one lookup each.
      const contexts = (step: string, table: string, condition: string, order: string) =>
        sql.literal(`
          ${step} (context) AS (
            (SELECT context FROM ${table} WHERE ${condition} ORDER BY context, ${order} LIMIT 1)
            UNION ALL
            SELECT next.context FROM ${step} CROSS JOIN LATERAL (
              SELECT context FROM ${table} WHERE ${condition} AND context > ${step}.context ORDER BY context, ${order} LIMIT 1
            ) AS next
          )
        `)

      const dueContexts = (step: string, condition: string) =>
        contexts(step, "national_submissions", `due_at IS NOT NULL AND ${condition}`, "due_at, invoice_id")

      return {
        // One statement, because every submission wakes the worker.
        claim: Effect.fn("LaneQueue.claim")(function* ({ leased, leaseMs, limit, limitOfOthers }) {
          const now = yield* statementTime
          const rows = yield* sql<LaneRow & { readonly found: "claimed" | "invoices" | "credential" }>`
            WITH accepted AS MATERIALIZED (
              SELECT context, is_leased FROM national_lanes WHERE due_at <= ${now} AND ${isAccepted}
              ORDER BY due_at, context LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
            ), candidate AS MATERIALIZED (
              SELECT context, due_at FROM national_lanes
              WHERE due_at <= ${now} AND NOT ${isAccepted} AND ${limitOfOthers}::int > 0
              ORDER BY due_at, context LIMIT ${maxCandidates}::int
            ), turn AS MATERIALIZED (
              SELECT context, due_at, min(of_account) AS of_account FROM (
                SELECT context, due_at, row_number() OVER (PARTITION BY account ORDER BY due_at, context) AS of_account
                FROM (
                  SELECT DISTINCT context, due_at, coalesce(account_id, context) AS account
                  FROM candidate LEFT JOIN organizations
                    ON credential_context = context AND credential_environment = ${environmentId}
                ) AS owner
              ) AS lane
              GROUP BY context, due_at
            ), other AS MATERIALIZED (
              SELECT context, is_leased FROM national_lanes
              WHERE context = ANY (ARRAY(SELECT context FROM turn ORDER BY of_account, due_at LIMIT ${limitOfOthers}::int))
                AND due_at <= ${now}
              FOR UPDATE SKIP LOCKED
            ), due AS MATERIALIZED (
              SELECT * FROM accepted UNION ALL SELECT * FROM other
            ), claimed AS (
              UPDATE national_lanes SET
                fencing_token = greatest(fencing_token + 1, ${tokenOf(now)}),
                is_leased     = true,
                due_at        = ${now} + ${leaseMs}::float8 * interval '1 millisecond'
              FROM due WHERE national_lanes.context = due.context
              RETURNING national_lanes.*, due.is_leased AS reclaimed
            )
            SELECT 'claimed' AS found, context, fencing_token, limits_at, limits, used, blocked, trouble, reclaimed, ${now} AS now
            FROM claimed
            UNION ALL
            SELECT CASE WHEN is_unchecked THEN 'credential' ELSE 'invoices' END, context, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM (
              SELECT leased.context, EXISTS (
                SELECT 1 FROM organizations
                WHERE credential_context = leased.context AND credential_environment = ${environmentId}
                  AND credential_state = 'unchecked'
              ) AS is_unchecked
              FROM unnest(${textArray(leased)}) AS leased (context)
            ) AS leased
            WHERE is_unchecked OR EXISTS (${waitsOf(sql`leased.context`, now)})
          `
          const contextsOf = (found: "invoices" | "credential") =>
            rows.filter((row) => row.found === found).map(({ context }) => context)
          return {
            lanes: rows.filter(({ found }) => found === "claimed").map(toLane),
            withInvoices: contextsOf("invoices"),
            withCredential: contextsOf("credential")
          }
        }),

        renew: Effect.fn("LaneQueue.renew")(function* (lanes, leaseMs) {
          const now = yield* statementTime
          const leased = sql`
            unnest(
              ${column("text", lanes, ({ context }) => context)}, ${column("int4", lanes, ({ fencingToken }) => fencingToken)}
            ) AS leased (context, fencing_token)
            JOIN national_lanes USING (context, fencing_token)
          `
          const rows = yield* sql<{ readonly context: string; readonly is_renewed: boolean }>`
            WITH unlocked AS MATERIALIZED (
              SELECT context FROM ${leased} WHERE is_leased FOR UPDATE OF national_lanes SKIP LOCKED
            ), renewed AS (
              UPDATE national_lanes SET due_at = ${now} + ${leaseMs}::float8 * interval '1 millisecond'
              FROM unlocked WHERE national_lanes.context = unlocked.context
              RETURNING national_lanes.context
            )
            SELECT context, context IN (SELECT context FROM renewed) AS is_renewed FROM ${leased} WHERE is_leased
          `
          const of = (isRenewed: boolean) =>
            new Set(rows.filter((row) => row.is_renewed === isRenewed).map(({ context }) => context))
          return { renewed: of(true), locked: of(false) }
        }),

        release: Effect.fn("LaneQueue.release")(function* (
          lane,
          { credentials = [], idle = [], nextAt, reasons },
          clock
        ) {
          const now = yield* statementTime
          const isIdle = sql`organizations.id = ANY(${textArray(idle)})`
          const dueAt = Number.isFinite(nextAt) ? new Date(nextAt) : null
          const { blocked, used } = lane.windows.stored(clock)
          yield* sql`
            UPDATE national_lanes SET
              used      = ${PgTypes.jsonb(used)},
              blocked   = ${PgTypes.jsonb(blocked)},
              trouble   = ${reasons === undefined ? null : PgTypes.jsonb(reasons)}::jsonb,
              is_leased = false,
              due_at = CASE
                WHEN EXISTS (${waitsOf(sql`national_lanes.context`, now, isIdle)}) THEN ${now}
                WHEN EXISTS (
                  SELECT 1 FROM organizations
                  LEFT JOIN unnest(
                    ${column("text", credentials, ({ id }) => id)},
                    ${column("timestamptz", credentials, (known) => known.credential_updated_at)}
                  ) AS known (id, at) ON known.id = organizations.id
                  WHERE credential_context = national_lanes.context AND credential_environment = ${environmentId}
                    AND credential_state = 'unchecked' AND credential_updated_at IS DISTINCT FROM known.at
                ) THEN ${now}
                ELSE ${dueAt}::timestamptz
              END
            WHERE context = ${lane.context} AND fencing_token = ${lane.fencingToken}::int AND is_leased
          `
        }),

        setLimits: Effect.fn("LaneQueue.setLimits")(function* ({ fencingToken, context }, limits) {
          const now = yield* statementTime
          yield* sql`
            UPDATE national_lanes SET limits = ${PgTypes.jsonb(limits)}, limits_at = ${now}
            WHERE context = ${context} AND fencing_token = ${fencingToken}::int AND is_leased
          `
        }),

        // Organizations with waiting invoices, and lanes with submissions, by one index lookup each.
        rescue: Effect.gen(function* () {
          const now = yield* statementTime
          yield* sql`
            WITH RECURSIVE ${waitingOrganizations(sql)}, ${dueContexts("verdicts", "state IN ('sending', 'sent')")},
            ${dueContexts("receipts", "state = 'decided'")},
            ${dueContexts("resends", "state = 'refused'")},
            ${contexts("unfinished", "national_sessions", "state NOT IN ('done', 'abandoned')", "id")},
            idle (context) AS (
              SELECT credential_context FROM waiting JOIN organizations ON organizations.id = waiting.organization_id
              WHERE credential_environment = ${environmentId}
              UNION SELECT context FROM verdicts
              UNION SELECT context FROM receipts
              UNION SELECT context FROM resends
              UNION SELECT context FROM unfinished
              EXCEPT SELECT context FROM national_lanes WHERE due_at IS NOT NULL
            )
            ${wakeStatement(sql`SELECT context FROM idle`, now)}
          `
        }).pipe(Effect.withSpan("LaneQueue.rescue"), Effect.asVoid),

        fence
      }
    })
  )

/**
 * Makes the statement that wakes the lanes of a query, which returns one column of contexts: it makes them due, so that a worker
 * claims them. It can be a step of a `WITH`.
 *
 * A lane that is due or leased is left alone: its row is not locked, so concurrent submissions of a context do not wait for
 * each other. The holder of a leased lane is notified by `Notifier`, and reads its work again before it releases the lane.
 */
export const makeWakeStatement = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (contexts: Statement.Fragment, now: Statement.Fragment): Statement.Fragment => sql`
    INSERT INTO national_lanes (context, due_at)
    SELECT DISTINCT waking.context, ${now} FROM (${contexts}) AS waking (context)
    WHERE NOT EXISTS (
      SELECT 1 FROM national_lanes WHERE national_lanes.context = waking.context AND (is_leased OR due_at <= ${now})
    )
    ORDER BY waking.context
    ON CONFLICT (context) DO UPDATE SET due_at = least(national_lanes.due_at, excluded.due_at) WHERE NOT national_lanes.is_leased
  `
})

/** Makes the effect that wakes the lane of one context. Call `Notifier.wake("lanes")` once it is committed. */
export const makeWake = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const statement = yield* makeWakeStatement
  const statementTime = (yield* StatementTime)(sql)
  return (context: string): Effect.Effect<void, SqlError.SqlError> =>
    Effect.flatMap(statementTime, (now) => sql`${statement(sql`SELECT ${context}::text`, now)}`)
})

/** Wakes the lane of one context, outside of requests. */
export const wakeLane = (context: string): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(makeWake, (wake) => wake(context))
