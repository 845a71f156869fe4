/** The metrics of the connection pools: connections by state, their maximum, and statements that wait for one. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Metric, type Scope } from "effect"
import { observeGauge } from "../observability/observedMetrics.ts"

/** The pools of a process: of its requests, of those of them that a replica serves, and of its workers. */
export type PoolName = "requests" | "replica" | "workers"

const gauge = (name: string, description: string, attributes: Readonly<Record<string, string>>) =>
  Metric.gauge(name, { description, attributes })

/** Exports the metrics of the pool of a client until the scope closes. A client without a pool has none. */
export const observe = (pool: PoolName, { poolStats }: PgClient.PgClient): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    if (poolStats === undefined) return
    const read = () => Effect.runSync(poolStats)
    for (const state of ["idle", "used"] as const) {
      yield* observeGauge(
        gauge("govoice_database_connections", "Connections to the database, by pool and state", { pool, state }),
        () => read()[state]
      )
    }
    yield* observeGauge(
      gauge("govoice_database_connections_max", "Maximum number of connections of each pool", { pool }),
      () => read().max
    )
    yield* observeGauge(
      gauge("govoice_database_pending_requests", "Statements that wait for a connection, by pool", { pool }),
      () => read().pending
    )
  })
