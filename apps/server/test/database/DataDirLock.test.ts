import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import * as DataDirLock from "../../src/database/DataDirLock.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "govoice-lock-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const holder = (overrides: object) =>
  JSON.stringify({ host: hostname(), pid: process.ppid, startTime: "0", token: "x", ...overrides })

const taken = (written: string, ageMs = 0) =>
  Effect.gen(function* () {
    const path = join(yield* folder, "data")
    mkdirSync(path)
    writeFileSync(join(path, "lock.json"), written)
    const at = new Date(Date.now() - ageMs)
    utimesSync(join(path, "lock.json"), at, at)
    return yield* Effect.match(DataDirLock.acquire(path), {
      onFailure: ({ message }) => message.replace(path, "DATA"),
      onSuccess: () => "taken"
    })
  }).pipe(Effect.scoped)

describe("DataDirLock", () => {
  it.live("creates and locks a missing directory, and releases it", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "new", "data")
      yield* Effect.scoped(DataDirLock.acquire(path))
      yield* Effect.scoped(DataDirLock.acquire(path))
      assert.throws(() => readFileSync(join(path, "lock.json")), "ENOENT")
    }).pipe(Effect.scoped)
  )

  it.live("admits one of two concurrent processes", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "data")
      const exits = yield* Effect.all(
        [Effect.exit(DataDirLock.acquire(path)), Effect.exit(DataDirLock.acquire(path))],
        {
          concurrency: 2
        }
      )
      assert.sameMembers(
        exits.map(({ _tag }) => _tag),
        ["Success", "Failure"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("ignores the lock of an exited process, of a reused process id, and with invalid content", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* taken(holder({ pid: 4_000_000 })), "taken")
      assert.strictEqual(yield* taken(holder({ startTime: "1" })), "taken")
      assert.strictEqual(yield* taken(holder({ pid: process.pid })), "taken")
      assert.strictEqual(yield* taken("{"), "taken")
      assert.strictEqual(yield* taken(""), "taken")
    })
  )

  it.live("respects the lock of another host while that host touches the file", () =>
    Effect.gen(function* () {
      const elsewhere = holder({ host: "elsewhere", pid: 7 })
      assert.include(yield* taken(elsewhere), "DATA is in use by process 7 on elsewhere")
      assert.strictEqual(yield* taken(elsewhere, 60_000), "taken")
    })
  )
})
