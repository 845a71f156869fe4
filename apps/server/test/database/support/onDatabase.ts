/** Databases that a test opens in a folder, from files or by `initdb`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedClient from "../../../src/database/EmbeddedClient.ts"
import * as EmbeddedPostgres from "../../../src/database/EmbeddedPostgres.ts"
import type { Files } from "../../../src/database/prepared/Pack.ts"

/** A folder that is removed when the scope closes. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "govoice-prepared-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Runs `effect` on the database in a directory, or in memory without one, and closes it. */
export const onDatabase = <A, E>(
  directory: string | undefined,
  files: Effect.Effect<Files | undefined>,
  effect: Effect.Effect<A, E, SqlClient.SqlClient>
) =>
  Effect.scoped(
    Effect.provide(effect, Layer.unwrap(Effect.map(EmbeddedPostgres.open(directory, files), EmbeddedClient.layer)), {
      local: true
    })
  )

/** Runs one statement. */
export const exec = (statement: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement))

/** Counts the tables. */
export const tables = Effect.map(
  exec("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"),
  (rows) => rows.length
)
