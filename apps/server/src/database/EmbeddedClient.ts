/** The SQL client of an embedded database. */
import { PgClient } from "@effect/sql-pg"
import type { Duplex } from "node:stream"
import { applicationName, sessionParameters } from "./sessionParameters.ts"

/** Layer of the client that uses the connections that `stream` constructs. */
export const layer = (stream: () => Duplex) =>
  PgClient.layer({
    stream,
    username: "postgres",
    database: "postgres",
    applicationName,
    maxConnections: 1,
    minConnections: 1,
    idleTimeout: "365 days",
    keepAlive: "10 seconds",
    startupParameters: { timezone: "UTC", ...sessionParameters }
  })
