/** New embedded databases begin with the files of a migrated one, from the package or from the cache. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedClient from "../../src/database/EmbeddedClient.ts"
import * as EmbeddedPostgres from "../../src/database/EmbeddedPostgres.ts"
import * as Migrations from "../../src/database/Migrations.ts"
import { readFiles } from "../../src/database/prepared/directory.ts"
import * as PreparedDatabase from "../../src/database/prepared/PreparedDatabase.ts"
import type { Files } from "../../src/database/prepared/Pack.ts"
import { preparedFiles } from "../support/TestDatabase.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "govoice-prepared-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Runs `effect` on the database in a directory, or in memory without one, and closes it. */
const onDatabase = <A, E>(
  directory: string | undefined,
  files: Effect.Effect<Files | undefined>,
  effect: Effect.Effect<A, E, SqlClient.SqlClient>
) =>
  Effect.scoped(
    Effect.provide(effect, Layer.unwrap(Effect.map(EmbeddedPostgres.open(directory, files), EmbeddedClient.layer)), {
      local: true
    })
  )

const notAsked = Effect.die("An existing database needs no files")

const exec = (statement: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement))

const tables = Effect.map(
  exec("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"),
  (rows) => rows.length
)

const undoLastMigration = Effect.gen(function* () {
  yield* exec(
    "DROP TABLE national_submissions, national_sessions, national_logins, national_lanes, national_environment CASCADE"
  )
  yield* exec("DROP INDEX organizations_credential_nip_idx")
  yield* exec("DELETE FROM schema_migrations WHERE name = 'national_system'")
})

const sizes = (files: Files | undefined) => [...(files?.files ?? [])].map(([path, data]) => [path, data.length])

const modes = (directory: string) =>
  globSync("**", { cwd: directory }).map((name) => (statSync(join(directory, name)).mode & 0o777).toString(8))

describe("a new embedded database", () => {
  it.live("is current in memory without a migration, and each is its own", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* onDatabase(undefined, preparedFiles, Migrations.isCurrent))
      const files = yield* preparedFiles
      const changed = Effect.andThen(
        exec("INSERT INTO schema_migrations VALUES (99, now(), 'other')"),
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

  it.live("is created by initdb where there are no files", () =>
    Effect.gen(function* () {
      const directory = join(yield* folder, "postgres")
      const migrated = Effect.gen(function* () {
        assert.isFalse(yield* Migrations.isCurrent)
        yield* Migrations.run
        return yield* tables
      })
      const count = yield* onDatabase(directory, Effect.succeed(undefined), migrated)
      assert.strictEqual(count, yield* onDatabase(undefined, preparedFiles, tables))
    })
  )
})

describe("migrations over other files", () => {
  it.live("run over prepared files and over a data directory that lack the last one", () =>
    Effect.gen(function* () {
      const directory = join(yield* folder, "postgres")
      const before = yield* onDatabase(directory, preparedFiles, tables)
      yield* onDatabase(directory, notAsked, undoLastMigration)
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
      const renamed = exec("UPDATE schema_migrations SET name = 'lanes' WHERE migration_id = 5")
      yield* onDatabase(directory, preparedFiles, renamed)
      const error = yield* Effect.flip(onDatabase(directory, notAsked, Migrations.run))
      assert.match(error.message, /^The schema is of an unreleased version of Govoice.*\(migration 5 is lanes, /)
    })
  )
})

describe("the files of a prepared database", () => {
  it.live("are made again where they are damaged, kept where they are not, and those of other sources go", () =>
    Effect.gen(function* () {
      const cache = join(yield* folder, "cache")
      mkdirSync(cache)
      writeFileSync(join(cache, "database-0123456789abcdef.pack"), "of other sources")
      yield* PreparedDatabase.findInCache(cache)
      const [name, ...others] = readdirSync(cache)
      assert.lengthOf(others, 0)
      assert.match(name!, /^database-[0-9a-f]{16}\.pack$/)
      assert.notStrictEqual(name, "database-0123456789abcdef.pack")

      const path = join(cache, name!)
      const made = readFileSync(path)
      writeFileSync(path, made.subarray(0, made.length / 2))
      const files = yield* PreparedDatabase.findInCache(cache)
      assert.isTrue(files?.files.has("PG_VERSION"))
      const { ino } = statSync(path)
      assert.deepStrictEqual(sizes(yield* PreparedDatabase.findInCache(cache)), sizes(files))
      assert.deepStrictEqual(sizes(yield* PreparedDatabase.read(path)), sizes(files))
      assert.strictEqual(statSync(path).ino, ino)
    })
  )

  it.live("are replaced by initdb, with one warning, where those of the package are damaged or missing", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, PreparedDatabase.fileName)
      const warnings: Array<unknown> = []
      const layerLog = Logger.layer([
        Logger.make(({ logLevel, message }) => {
          if (logLevel === "Warn") warnings.push(...(message as ReadonlyArray<unknown>))
        })
      ])
      const read = Effect.provide(PreparedDatabase.read(path), layerLog)
      assert.isUndefined(yield* read)
      writeFileSync(path, "damaged")
      assert.isTrue(yield* onDatabase(undefined, read, Effect.as(Migrations.run, true)))
      assert.deepStrictEqual(warnings, [
        "Prepared database unusable; the database is created anew",
        "Prepared database unusable; the database is created anew"
      ])
    })
  )
})
