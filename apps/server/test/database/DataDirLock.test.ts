import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as DataDirLock from "../../src/database/DataDirLock.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "govoice-lock-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const holder = (overrides: object) =>
  JSON.stringify({
    host: hostname(),
    namespace: DataDirLock.pidNamespace(),
    pid: process.ppid,
    startTime: "0",
    token: "x",
    ...overrides
  })

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

  it.live(
    "does not compare process ids of another namespace: its lock is free when it is not touched for a while",
    () =>
      Effect.gen(function* () {
        // Process 1 runs here, too, and 4,000,000 does not.
        for (const pid of [1, 4_000_000, process.pid]) {
          const elsewhere = holder({ namespace: "boot pid:[1]", pid })
          assert.strictEqual(yield* taken(elsewhere, 60_000), "taken")
          const startedAt = Date.now()
          assert.strictEqual(yield* taken(elsewhere, 19_000), "taken")
          assert.isAtLeast(Date.now() - startedAt, 900, "a container that was restarted waits")
        }
      })
  )

  it.live(
    "respects the lock of a process in another PID namespace of the same host",
    ({ skip }) =>
      Effect.gen(function* () {
        const unshare = ["--pid", "--fork", "--mount-proc", "--kill-child"]
        const isAllowed = spawnSync("unshare", [...unshare, "true"]).status === 0
        if (!isAllowed) return skip("unshare --pid is not allowed here")
        const path = join(yield* folder, "data")
        const script = fileURLToPath(new URL("./support/holdDataDir.ts", import.meta.url))
        const command = [...unshare, process.execPath, "--conditions=source", script, path]
        const child = yield* Effect.acquireRelease(
          Effect.sync(() => spawn("unshare", command, { stdio: ["ignore", "pipe", "inherit"] })),
          (child) => Effect.promise(() => (child.kill("SIGKILL"), once(child, "exit")))
        )
        yield* Effect.promise(() => once(child.stdout, "data"))
        const first = yield* Effect.flip(DataDirLock.acquire(path))
        assert.include(first.message, "of another container")
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("respects the lock of another host while that host touches the file", () =>
    Effect.gen(function* () {
      const elsewhere = holder({ host: "elsewhere", pid: 7 })
      assert.include(yield* taken(elsewhere), "DATA is in use by process 7 on elsewhere")
      assert.strictEqual(yield* taken(elsewhere, 60_000), "taken")
    })
  )
})
