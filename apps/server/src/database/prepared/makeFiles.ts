import { PGlite } from "@electric-sql/pglite"
import { Effect, Layer } from "effect"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedClient from "../EmbeddedClient.ts"
import * as EmbeddedPostgres from "../EmbeddedPostgres.ts"
import * as Migrations from "../Migrations.ts"
import { readFiles } from "./directory.ts"
import type { Files } from "./Pack.ts"

const migrate = (database: PGlite): Promise<void> =>
  Migrations.layer.pipe(
    Layer.provide(EmbeddedClient.layer(EmbeddedPostgres.connector(database))),
    Layer.build,
    Effect.scoped,
    Effect.asVoid,
    Effect.runPromise
  )

// `initdb` leaves segments of the log that are reserved for later. They would be a fifth of the files.
const removeUnusedLog = async (database: PGlite, directory: string): Promise<void> => {
  const { rows } = await database.query<{ readonly current: string }>(
    "SELECT pg_walfile_name(pg_current_wal_insert_lsn()) AS current"
  )
  const folder = join(directory, "pg_wal")
  const segments = readdirSync(folder).filter((name) => /^[0-9A-F]{24}$/.test(name))
  for (const name of segments) if (name > rows[0]!.current) rmSync(join(folder, name))
}

/** Creates a database in a temporary directory, migrates it, and returns its files after a clean shutdown. */
export const makeFiles = async (): Promise<Files> => {
  const directory = mkdtempSync(join(tmpdir(), "govoice-prepared-"))
  try {
    const database = await PGlite.create({ dataDir: directory, ...EmbeddedPostgres.creation })
    await migrate(database)
    await database.exec("CHECKPOINT")
    await removeUnusedLog(database, directory)
    await database.close()
    return readFiles(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
