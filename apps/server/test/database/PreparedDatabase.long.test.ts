/** Embedded databases that `initdb` creates, and the files that are made from one. Each `initdb` computes for about three seconds. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Migrations from "../../src/database/Migrations.ts"
import * as PreparedDatabase from "../../src/database/prepared/PreparedDatabase.ts"
import type { Files } from "../../src/database/prepared/Pack.ts"
import { preparedFiles } from "../support/TestDatabase.ts"
import { folder, onDatabase, tables } from "./support/onDatabase.ts"

const sizes = (files: Files | undefined) => [...(files?.files ?? [])].map(([path, data]) => [path, data.length])

describe("a new embedded database", () => {
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
