/**
 * The yardstick of the claim: drains a backlog by statements alone, with the statements of the server and with those that a good
 * engineer would write in a day. No request is sent; every claimed delivery succeeds at once.
 *
 * The plain claim locks organizations with free slots in turn, and takes the oldest deliveries of their endpoints. It has a table
 * of its own. It knows no lease checks, no limits of endpoints and no slow receivers.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../apps/server/src/database/Arrays.ts"
import * as PostgresClient from "../../apps/server/src/database/PostgresClient.ts"
import { parameters } from "../../apps/server/src/database/WorkerDbClient.ts"
import type { ClaimedDelivery } from "../../apps/server/src/deliveries/ClaimedDelivery.ts"
import type { Completion } from "../../apps/server/src/deliveries/Completion.ts"
import * as DeliveryQueue from "../../apps/server/src/deliveries/DeliveryQueue.ts"
import { type Database, makeTenants, plan } from "./database.ts"

export interface Drained {
  readonly perSecond: number
  readonly databaseCpuMs: number
}

export interface Backlog {
  readonly count: number
  readonly tenants: number
  readonly workers: number
}

const perOrganization = 10
const limit = 250
const leaseMs = 30_000

/** Claims until the backlog is drained. `done` counts over all workers. */
type Drain = (done: { count: number }, total: number) => Effect.Effect<void, unknown, SqlClient.SqlClient>

const pause = Effect.sleep("5 millis")

const completionOf = (delivery: ClaimedDelivery): Completion => {
  const now = new Date().toISOString()
  return {
    id: delivery.id,
    organization_id: delivery.organization_id,
    endpoint_id: delivery.endpoint_id,
    event_id: delivery.event_id,
    fencing_token: delivery.fencing_token,
    status: "succeeded",
    attempt_count: delivery.attempt_count,
    pace: "steady",
    works: true,
    last_attempted_at: now,
    last_http_status: 200,
    last_error_summary: null,
    next_retry_at: null,
    updated_at: now
  }
}

const house: Drain = (done, total) =>
  Effect.gen(function* () {
    const queue = yield* DeliveryQueue.DeliveryQueue
    let completions: ReadonlyArray<Completion> = []
    while (done.count < total) {
      if (completions.length > 0) done.count += (yield* queue.complete(completions)).length
      completions = (yield* queue.claim({ limit, perOrganization, leaseMs })).deliveries.map(completionOf)
      if (completions.length === 0) yield* pause
    }
  }).pipe(Effect.provide(Layer.fresh(DeliveryQueue.layer)))

const plain: Drain = (done, total) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const complete = (completions: ReadonlyArray<Completion>) => sql`
      WITH completed AS (
        UPDATE deliveries SET status = one.status, failure_status = NULL, is_due = false, lease_expires_at = NULL,
          attempt_count = one.attempt_count, last_attempted_at = now(), last_http_status = one.last_http_status,
          next_retry_at = NULL, delivered_at = now(), due_at = NULL, updated_at = now()
        FROM unnest(${column("text", completions, (one) => one.endpoint_id)}, ${column("text", completions, (one) => one.id)},
          ${column("int4", completions, (one) => one.fencing_token)}, ${column("text", completions, (one) => one.status)},
          ${column("int4", completions, (one) => one.attempt_count)}, ${column("int2", completions, (one) => one.last_http_status)})
          AS one (endpoint_id, id, fencing_token, status, attempt_count, last_http_status)
        WHERE deliveries.endpoint_id = one.endpoint_id AND deliveries.id = one.id
          AND deliveries.fencing_token = one.fencing_token AND lease_expires_at IS NOT NULL
        RETURNING deliveries.id, organization_id
      ), counted AS (
        UPDATE plain_queue SET in_flight = in_flight - n FROM (
          SELECT organization_id, n FROM plain_queue JOIN (
            SELECT organization_id, count(*)::int AS n FROM completed GROUP BY 1
          ) AS freed USING (organization_id)
          ORDER BY 1 FOR UPDATE OF plain_queue
        ) AS freed WHERE plain_queue.organization_id = freed.organization_id
      )
      SELECT id FROM completed
    `

    const claim = sql<ClaimedDelivery>`
      WITH organization AS MATERIALIZED (
        SELECT organization_id, in_flight FROM plain_queue
        WHERE in_flight < ${perOrganization}::int AND EXISTS (
          SELECT FROM webhook_endpoints JOIN LATERAL (
            SELECT FROM deliveries WHERE endpoint_id = webhook_endpoints.id AND is_due AND lease_expires_at IS NULL LIMIT 1
          ) AS one ON true
          WHERE webhook_endpoints.organization_id = plain_queue.organization_id AND deleted_at IS NULL
        )
        ORDER BY claimed_at LIMIT ${Math.ceil(limit / perOrganization)}::int FOR UPDATE OF plain_queue SKIP LOCKED
      ), picked AS MATERIALIZED (
        SELECT endpoint_id, delivery_id FROM organization CROSS JOIN LATERAL (
          SELECT endpoint_id, delivery_id FROM webhook_endpoints CROSS JOIN LATERAL (
            SELECT endpoint_id, delivery_id, due_at, row_number() OVER (ORDER BY due_at) AS nth FROM (
              SELECT endpoint_id, id AS delivery_id, due_at FROM deliveries
              WHERE endpoint_id = webhook_endpoints.id AND is_due AND lease_expires_at IS NULL
              ORDER BY endpoint_id, due_at LIMIT ${perOrganization}::int
            ) AS oldest
          ) AS candidate
          WHERE webhook_endpoints.organization_id = organization.organization_id AND deleted_at IS NULL
          ORDER BY nth, due_at LIMIT ${perOrganization}::int - in_flight
        ) AS chosen LIMIT ${limit}::int
      ), claimed AS (
        UPDATE deliveries SET status = 'delivering', failure_status = NULL, lease_expires_at = now() + interval '30 seconds',
          fencing_token = fencing_token + 1, next_retry_at = NULL, updated_at = greatest(updated_at, now())
        FROM picked WHERE deliveries.endpoint_id = picked.endpoint_id AND deliveries.id = delivery_id
          AND is_due IS NOT FALSE AND lease_expires_at IS NULL
        RETURNING deliveries.*
      ), counted AS (
        UPDATE plain_queue SET in_flight = in_flight + n, claimed_at = clock_timestamp()
        FROM (SELECT organization_id, count(*)::int AS n FROM claimed GROUP BY 1) AS taken
        WHERE plain_queue.organization_id = taken.organization_id
      )
      SELECT claimed.id, claimed.organization_id, endpoint_id, event_id, event_type, fencing_token,
             attempt_count + 1 AS attempt_count, events.invoice_id, events.body, url, secret
      FROM claimed JOIN events ON events.id = event_id JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
    `

    let completions: ReadonlyArray<Completion> = []
    while (done.count < total) {
      if (completions.length > 0) done.count += (yield* complete(completions)).length
      completions = (yield* claim).map(completionOf)
      if (completions.length === 0) yield* pause
    }
  })

const kinds = { house, plain }
export type Kind = keyof typeof kinds

const connect = (url: string) =>
  Layer.fresh(
    PostgresClient.layer(
      { _tag: "Postgres", url, pooler: undefined },
      { applicationName: "govoice-engine", maxConnections: 2, parameters, decidePlans: true }
    )
  )

const prepare = async ({ pool }: Database, kind: Kind): Promise<void> => {
  await pool.query("DROP TABLE IF EXISTS plain_queue")
  if (kind === "house") return
  await pool.query(`
    CREATE TABLE plain_queue (
      organization_id text COLLATE "C" PRIMARY KEY, in_flight int NOT NULL DEFAULT 0, claimed_at timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50)
  `)
  await pool.query("INSERT INTO plain_queue (organization_id) SELECT organization_id FROM organization_concurrency")
  await pool.query("CREATE INDEX ON plain_queue (claimed_at)")
  await pool.query("ANALYZE plain_queue")
}

/** Drains a backlog with the statements of one kind, from several connections of this process. `before` runs when it waits. */
export const drainByStatements = async (
  database: Database,
  kind: Kind,
  { count, tenants, workers }: Backlog,
  before?: () => Promise<void>
): Promise<Drained> => {
  await database.pool.query("TRUNCATE accounts, organizations, webhook_endpoints, invoices, events, deliveries CASCADE")
  await plan(database.pool, await makeTenants(database.pool, tenants, "https://example.com"), count)
  await prepare(database, kind)
  await database.pool.query("VACUUM ANALYZE deliveries, events, organization_concurrency, webhook_endpoints")
  await database.pool.query("CHECKPOINT")

  await before?.()
  const done = { count: 0 }
  const begun = performance.now()
  const cpu = await database.cpu()
  const worker = Effect.provide(kinds[kind](done, count), connect(database.url))
  await Effect.runPromise(
    Effect.all(
      Array.from({ length: workers }, () => worker),
      { concurrency: "unbounded" }
    )
  )
  const databaseCpuMs = (1000 * ((await database.cpu()) - cpu)) / count
  return { perSecond: Math.round((count * 1000) / (performance.now() - begun)), databaseCpuMs }
}

/** Drains a backlog of 50 organizations, and returns how many blocks a claim reads; with a snapshot that is held from before, or without. */
export const blocksOfClaims = async (database: Database, isHeld: boolean, count: number): Promise<number> => {
  const holder = await database.pool.connect()
  try {
    await drainByStatements(database, "house", { count, tenants: 50, workers: 1 }, async () => {
      await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
      await holder.query("SELECT 1")
      if (!isHeld) await holder.query("ROLLBACK")
      await database.pool.query("SELECT pg_stat_statements_reset()")
    })
    if (isHeld) await holder.query("ROLLBACK")
    const { rows } = await database.pool.query<{ blocks: number }>(`
      SELECT sum(shared_blks_hit + shared_blks_read)::float8 / sum(calls)::float8 AS blocks FROM pg_stat_statements
      WHERE query LIKE '%RECURSIVE scan (organization_id, endpoint_id%'
    `)
    return rows[0]!.blocks
  } finally {
    holder.release()
  }
}
