/**
 * Simulates a power cut of the embedded database: a mirror keeps the contents of each file as of its last fsync, and
 * discards unsynced writes.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import * as Database from "../../src/database/Database.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(join(tmpdir(), "govoice-power-"))),
  (path) => Effect.sync(() => fs.rmSync(path, { recursive: true, force: true }))
)

/** Copies every file below `from` to `to` when it is synchronized, for as long as the scope lasts. */
const mirrorSynchronized = (from: string, to: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { fsyncSync } = fs
      fs.fsyncSync = (descriptor) => {
        fsyncSync(descriptor)
        const source = fs.readlinkSync(`/proc/self/fd/${descriptor}`)
        const path = relative(from, source)
        if (path.startsWith("..")) return
        const target = join(to, path)
        if (!fs.statSync(source).isDirectory()) {
          fs.mkdirSync(dirname(target), { recursive: true })
          fs.copyFileSync(source, target)
          return
        }
        // Directory entries: removed files are removed from the mirror.
        fs.mkdirSync(target, { recursive: true })
        const present = new Set(fs.readdirSync(source))
        for (const name of fs.readdirSync(target)) {
          if (!present.has(name)) fs.rmSync(join(target, name), { recursive: true })
        }
      }
      syncBuiltinESMExports()
      return fsyncSync
    }),
    (original) =>
      Effect.sync(() => {
        fs.fsyncSync = original
        syncBuiltinESMExports()
      })
  )

const rows = 25

const write = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE entries (id int PRIMARY KEY)`
  for (let id = 0; id < rows; id++) {
    yield* sql`INSERT INTO entries VALUES (${id}::int)`
    if (id === 10) yield* sql`CHECKPOINT`
  }
})

const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql<{ readonly id: number }>`SELECT id FROM entries ORDER BY id`).map(({ id }) => id)
})

const on =
  (dataDir: string) =>
  <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    effect.pipe(Effect.provide(Database.layerClient({ _tag: "Embedded", dataDir })), Effect.scoped)

describe("a power cut under the embedded database", () => {
  it.live(
    "loses no committed transaction",
    () =>
      Effect.gen(function* () {
        const parent = yield* folder
        const [before, after] = [join(parent, "before"), join(parent, "after")]
        yield* Effect.gen(function* () {
          yield* mirrorSynchronized(before, after)
          // The mirror ends before the database is closed.
          yield* on(before)(
            Effect.andThen(
              write,
              Effect.sync(() => fs.cpSync(after, `${after}-cut`, { recursive: true }))
            )
          )
        }).pipe(Effect.scoped)
        const expected = Array.from({ length: rows }, (_, id) => id)
        assert.deepStrictEqual(yield* on(`${after}-cut`)(read), expected)
      }).pipe(Effect.scoped),
    180_000
  )
})
