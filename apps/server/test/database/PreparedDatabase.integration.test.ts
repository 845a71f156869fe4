/**
 * New embedded databases begin with the files of a migrated one, from the package or from the cache. Those that `initdb` creates
 * are in `PreparedDatabase.long.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { globSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as EmbeddedPostgres from "../../src/database/EmbeddedPostgres.ts"
import * as Migrations from "../../src/database/Migrations.ts"
import { readFiles } from "../../src/database/prepared/directory.ts"
import { preparedFiles } from "../support/TestDatabase.ts"
import { exec, folder, onDatabase, tables } from "./support/onDatabase.ts"

const notAsked = Effect.die("An existing database needs no files")

const undoMigrations = Effect.andThen(exec("DROP SCHEMA public CASCADE"), exec("CREATE SCHEMA public"))

const modes = (directory: string) =>
  globSync("**", { cwd: directory }).map((name) => (statSync(join(directory, name)).mode & 0o777).toString(8))

describe("a new embedded database", () => {
  it.live("is current in memory without a migration, and each is its own", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* onDatabase(undefined, preparedFiles, Migrations.isCurrent))
      const files = yield* preparedFiles
      const changed = Effect.andThen(
        exec("INSERT INTO schema_migrations VALUES (99, now(), 'other', '', 1)"),
        exec("CHECKPOINT")
      )
      yield* onDatabase(undefined, Effect.succeed(files), changed)
      const rows = exec("SELECT 1 FROM schema_migrations WHERE migration_id = 99")
      assert.lengthOf(yield* onDatabase(undefined, preparedFiles, rows), 0)
    })
  )

  it.live("keeps what is written in a directory that only its owner can read", () =>
    Effect.gen(function* () {
      const directory = join(yield* folder, "postgres")
      const write = Effect.gen(function* () {
        assert.isTrue(yield* Migrations.isCurrent)
        yield* exec("CREATE TABLE entries AS SELECT generate_series(1, 1000) AS id")
      })
      yield* onDatabase(directory, preparedFiles, write)
      assert.deepStrictEqual([...new Set(modes(directory))].sort(), ["600", "700"])
      assert.lengthOf(yield* onDatabase(directory, notAsked, exec("SELECT id FROM entries")), 1000)
    })
  )

  it.live("is created anew where a process was killed while it wrote the files", () =>
    Effect.gen(function* () {
      const directory = join(yield* folder, "postgres")
      mkdirSync(join(directory, "base"), { recursive: true })
      writeFileSync(join(directory, "PG_VERSION"), "18\n")
      writeFileSync(`${directory}.incomplete`, "")
      assert.isTrue(yield* onDatabase(directory, preparedFiles, Migrations.isCurrent))
      assert.isTrue(EmbeddedPostgres.exists(directory))
    })
  )
})

describe("migrations over other files", () => {
  it.live("run over prepared files and over a data directory that lack them", () =>
    Effect.gen(function* () {
      const directory = join(yield* folder, "postgres")
      const before = yield* onDatabase(directory, preparedFiles, tables)
      yield* onDatabase(directory, notAsked, undoMigrations)
      const older = Effect.sync(() => readFiles(directory))
      const run = Effect.gen(function* () {
        assert.isFalse(yield* Migrations.isCurrent)
        yield* Migrations.run
        assert.isTrue(yield* Migrations.isCurrent)
        return yield* tables
      })
      assert.strictEqual(yield* onDatabase(undefined, older, run), before)
      assert.strictEqual(yield* onDatabase(directory, notAsked, run), before)
    })
  )

  it.live("refuse the data directory of an unreleased version in one sentence", () =>
    Effect.gen(function* () {
      const directory = join(yield* folder, "postgres")
      const edited = exec("UPDATE schema_migrations SET checksum = 'other' WHERE migration_id = 1")
      yield* onDatabase(directory, preparedFiles, edited)
      const error = yield* Effect.flip(onDatabase(directory, notAsked, Migrations.run))
      assert.match(
        error.message,
        /^The schema is not one of this version of Govoice: migration 1 is schema with checksum other, /
      )
    })
  )
})
