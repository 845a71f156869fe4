/** The client of the embedded database, which takes the lock of its data directory. */
import { Effect, Layer } from "effect"
import { join } from "node:path"
import * as DataDirLock from "./DataDirLock.ts"
import * as EmbeddedClient from "./EmbeddedClient.ts"
import * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
import * as PreparedDatabase from "./prepared/PreparedDatabase.ts"

const open = Effect.fnUntraced(function* (dataDir: string | undefined) {
  if (dataDir === undefined) return yield* EmbeddedPostgres.open(undefined, PreparedDatabase.find)
  const assertLocked = yield* DataDirLock.acquire(dataDir)
  return yield* EmbeddedPostgres.open(join(dataDir, "postgres"), PreparedDatabase.find, assertLocked)
})

/** The database in a data directory, or in memory without one. Migrates nothing. */
export const layer = (dataDir: string | undefined) => Layer.unwrap(Effect.map(open(dataDir), EmbeddedClient.layer))
