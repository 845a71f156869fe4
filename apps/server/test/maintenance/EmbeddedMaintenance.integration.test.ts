import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Database from "../../src/database/Database.ts"
import * as EmbeddedMaintenance from "../../src/maintenance/EmbeddedMaintenance.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "govoice-maintenance-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const sizeOf = (path: string): number =>
  readdirSync(path, { withFileTypes: true }).reduce(
    (sum, entry) =>
      sum + (entry.isDirectory() ? sizeOf(join(path, entry.name)) : statSync(join(path, entry.name)).size),
    0
  )

describe("EmbeddedMaintenance", () => {
  it.live(
    "limits the size of table and write-ahead log while every row is updated repeatedly",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* folder
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE TABLE entries (id int PRIMARY KEY, text text)`
          yield* sql`INSERT INTO entries SELECT n, repeat('x', 500) FROM generate_series(1, 5000) AS n`
          const checkpoint = yield* EmbeddedMaintenance.makeCheckpoint
          assert.deepStrictEqual(yield* EmbeddedMaintenance.vacuum, ["entries"])
          assert.deepStrictEqual(yield* EmbeddedMaintenance.vacuum, [])
          let checkpoints = 0
          for (let round = 0; round < 20; round++) {
            yield* sql`UPDATE entries SET text = text || 'a'`
            assert.deepStrictEqual(yield* EmbeddedMaintenance.vacuum, ["entries"])
            if (yield* checkpoint) checkpoints++
          }
          assert.isAtLeast(checkpoints, 2)
          const [row] = yield* sql<{ readonly size: number }>`SELECT pg_table_size('entries')::float8 AS size`
          // Without maintenance ten times as much: 30 versions of 3 MB, and 200 MB of log.
          assert.isBelow(row!.size, 12_000_000)
          assert.isBelow(sizeOf(join(dataDir, "postgres", "pg_wal")), 120_000_000)
        }).pipe(Effect.provide(Database.layerClient({ _tag: "Embedded", dataDir })), Effect.scoped)
      }).pipe(Effect.scoped),
    120_000
  )
})
