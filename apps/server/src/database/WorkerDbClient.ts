/**
 * The connections of the workers, separate from those of the requests, so that neither waits for the other.
 *
 * The embedded database has one connection for both.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PoolMetrics from "./PoolMetrics.ts"
import * as PostgresClient from "./PostgresClient.ts"
import { Shared } from "./Database.ts"
import { deadlineMs, sessionParameters } from "./sessionParameters.ts"
import { Settings } from "../settings/Settings.ts"

/**
 * How many connections the workers of a process have, at most. Deliveries: claims with completions, background completions, and
 * the scheduler. Invoices: a claim and a batch of transitions. One more for occasional statements.
 */
export const connections = 6

/**
 * The parameters of the sessions.
 *
 * Every statement of the workers uses an index and takes less time than its planning. Plans are therefore generic, and often
 * made while the tables are small: without these settings, a plan that scans a whole table would be kept when the tables are
 * large.
 *
 * Partitions are not pruned: Postgres 18 up to 18.4 at least ends with a segmentation fault, and with it all sessions, when a
 * statement that prunes while it runs meets a row that another session has changed (postgres/postgres commit 1b5dd3a). Claims and
 * completions of several workers do. They ask the index of each week instead: with 19 weeks, a fifth more of Postgres.
 */
export const parameters = {
  ...sessionParameters,
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_partition_pruning: "off",
  plan_cache_mode: "force_generic_plan"
}

/** Layer that provides the connections of the workers, after the migrations. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { database } = yield* Settings
    yield* Shared
    return database._tag === "Postgres"
      ? PostgresClient.layer(database, {
          applicationName: "govoice-engine",
          maxConnections: connections,
          parameters,
          decidePlans: true,
          deadlineMs
        }).pipe(Layer.tap((context) => PoolMetrics.observe("workers", Context.get(context, PgClient.PgClient))))
      : Layer.effectContext(
          Effect.context<PgClient.PgClient | SqlClient.SqlClient>().pipe(
            Effect.map(Context.pick(PgClient.PgClient, SqlClient.SqlClient))
          )
        )
  })
)
