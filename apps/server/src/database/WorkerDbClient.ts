/**
 * The connections of the engine: its own, so that requests and workers do not wait for each other's.
 *
 * The embedded database has one connection, which everybody shares.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { connectionOptions } from "./connectionOptions.ts"
import { Shared } from "./Database.ts"
import { Settings } from "../settings/Settings.ts"

// Of deliveries, claims with settlements, settlements apart, and the look at the clock; of invoices, a claim and a batch of
// moves; and one for what is done now and then.
const connections = 6

// Every statement of the engine goes by an index and takes less time than planning it. So plans are made once, often
// while the tables are still small: one that reads a whole table or all that an index has to say, or is compiled, would
// be kept when they are not.
const startupParameters = {
  timezone: "UTC",
  statement_timeout: "30s",
  idle_in_transaction_session_timeout: "30s",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  plan_cache_mode: "force_generic_plan"
}

/** Layer that provides the connections of the engine, once the database is up to date. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { database } = yield* Settings
    yield* Shared
    return database._tag === "Postgres"
      ? PgClient.layer({
          ...connectionOptions(database.url),
          applicationName: "govoice-engine",
          maxConnections: connections,
          connectTimeout: "5 seconds",
          keepAlive: "10 seconds",
          startupParameters
        })
      : Layer.effectContext(
          Effect.context<PgClient.PgClient | SqlClient.SqlClient>().pipe(
            Effect.map(Context.pick(PgClient.PgClient, SqlClient.SqlClient))
          )
        )
  })
)
