/**
 * The tables that the control cell publishes, and the statements that set up their replication to the other cells.
 *
 * Replication is that of PostgreSQL: a publication in the control cell, and a subscription in each other one.
 */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { literal, ofThisDatabase } from "./subscriptions.ts"

/** The name of the publication in the control cell, and of the subscription in each other cell. */
export const publication = "govoice_control"

/** The name of the replication slot of a cell, in the control cell. */
export const slotOf = (cell: string): string => `govoice_${cell}`

// Columns that a cell writes itself are left out: the credentials of organizations. So are those of mails that only the
// control cell sends.
const published = [
  "accounts (id, created_at, email, password_hash, language)",
  "sessions",
  "organizations (id, account_id, created_at, name)",
  "cells",
  "cell_buckets"
]

const exists = (catalog: "pg_publication" | "pg_subscription") =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      catalog === "pg_publication"
        ? sql`SELECT 1 FROM pg_publication WHERE pubname = ${publication}`
        : sql`
            SELECT 1 FROM pg_subscription
            WHERE subname = ${publication} AND ${sql.literal(ofThisDatabase)}
          `,
      (rows) => rows.length > 0
    )
  )

/** Whether this database publishes the tables, or has them from another. */
export const isPublished = exists("pg_publication")
export const isSubscribed = exists("pg_subscription")

/** Publishes the tables of this database, unless it does. */
export const publish: Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (yield* isPublished) return
  yield* sql.unsafe(
    `CREATE PUBLICATION ${publication} FOR TABLE ${published.join(", ")} WITH (publish = 'insert, update, delete')`
  )
})

/** Whether the user of this database may create a subscription, and whether the database has none of the rows that it brings. */
export const subscriber: Effect.Effect<
  { readonly may: boolean; readonly isEmpty: boolean },
  SqlError.SqlError,
  SqlClient.SqlClient
> = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ readonly may: boolean; readonly isEmpty: boolean }>`
      SELECT rolsuper OR EXISTS (
               SELECT FROM pg_roles AS granted
               WHERE granted.rolname = 'pg_create_subscription' AND pg_has_role(granted.oid, 'USAGE')
             ) AS may,
             NOT EXISTS (SELECT FROM accounts) AS "isEmpty"
      FROM pg_roles WHERE rolname = current_user
    `,
    ([row]) => row!
  )
)

/** Says that the user of the database of a setting may not create a subscription. */
export const mayNotSubscribe = (setting: string): string =>
  `The user of ${setting} may not create subscriptions. Make it a superuser for this command, or from Postgres 16 on a member of pg_create_subscription.`

/** Subscribes this database, that of `cell`, to the tables of the control cell. The URL of a subscription that exists is replaced. */
export const subscribe = (cell: string, url: string): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (!(yield* isSubscribed)) {
      yield* sql.unsafe(
        `CREATE SUBSCRIPTION ${publication} CONNECTION ${literal(url)} PUBLICATION ${publication} WITH (slot_name = ${slotOf(cell)})`
      )
      return
    }
    yield* sql.unsafe(`ALTER SUBSCRIPTION ${publication} CONNECTION ${literal(url)}`)
    yield* sql.unsafe(`ALTER SUBSCRIPTION ${publication} ENABLE`)
    yield* sql.unsafe(`ALTER SUBSCRIPTION ${publication} REFRESH PUBLICATION`)
  })

/** Whether the first copies of the published tables are complete in this database. */
export const isCopied: Effect.Effect<boolean, SqlError.SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    Effect.map(
      sql<{ readonly copied: number }>`
        SELECT count(*)::int AS copied FROM pg_subscription_rel JOIN pg_subscription ON pg_subscription.oid = srsubid
        WHERE subname = ${publication} AND srsubstate = 'r'
          AND ${sql.literal(ofThisDatabase)}
      `,
      ([row]) => row!.copied >= published.length
    )
)

/** The replication slot of a cell, as the control cell sees it. */
export interface Slot {
  readonly cell: string
  readonly is_active: boolean
  /** Bytes of WAL that the cell has not confirmed. They are kept until it does. */
  readonly lag: number
}

/** Reads the slots of the cells, in the control cell. A cell without a slot is left out. */
export const slots: Effect.Effect<ReadonlyArray<Slot>, SqlError.SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Slot>`
    SELECT cells.name AS cell, active AS is_active,
           coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn), 0)::float8 AS lag
    FROM cells JOIN pg_replication_slots ON slot_name = 'govoice_' || cells.name AND database = current_database()
    ORDER BY cells.name
  `
)

/** The subscription of a cell, as the cell sees it. */
export interface Subscription {
  readonly is_running: boolean
  /** Tables whose first copy is not complete. */
  readonly incomplete: number
  /** Seconds since the control cell was heard. */
  readonly silent: number | null
}

/** Reads the subscription of this database, if there is one. */
export const subscription: Effect.Effect<Subscription | undefined, SqlError.SqlError, SqlClient.SqlClient> =
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<Subscription>`
        SELECT pid IS NOT NULL AS is_running,
               (SELECT count(*)::int FROM pg_subscription_rel WHERE srsubid = subid AND srsubstate <> 'r') AS incomplete,
               extract(epoch FROM clock_timestamp() - last_msg_receipt_time)::float8 AS silent
        FROM pg_stat_subscription
        WHERE subname = ${publication} AND relid IS NULL AND EXISTS (
          SELECT FROM pg_subscription WHERE oid = subid AND ${sql.literal(ofThisDatabase)}
        )
      `,
      ([row]) => row
    )
  )
