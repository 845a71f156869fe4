import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
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

const touch = (path: string, ageMs: number) => {
  const at = new Date(Date.now() - ageMs)
  utimesSync(path, at, at)
}

interface Found {
  /** By how much the last touch is in the past by the clock of this process. */
  readonly ageMs?: number
  /** What its holder does while this process waits. */
  readonly meanwhile?: (path: string) => void
}

/** Finds a lock, and returns the message of the refusal or whether this process took it at once, or after a wait. */
const taken = (written: string, { ageMs = 0, meanwhile = () => {} }: Found = {}) =>
  Effect.gen(function* () {
    const directory = join(yield* folder, "data")
    const path = join(directory, "lock.json")
    mkdirSync(directory)
    writeFileSync(path, written)
    touch(path, ageMs)
    const fiber = yield* DataDirLock.acquire(directory).pipe(
      Effect.match({ onFailure: ({ message }) => message.replace(directory, "DATA"), onSuccess: () => "taken" }),
      Effect.forkScoped
    )
    yield* TestClock.adjust("1 second")
    if (fiber.pollUnsafe() !== undefined) return yield* Fiber.join(fiber)
    yield* TestClock.adjust("18 seconds")
    meanwhile(path)
    yield* TestClock.adjust("5 seconds")
    const outcome = yield* Fiber.join(fiber)
    return outcome === "taken" ? "taken after a wait" : outcome
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

  it.effect("ignores the lock of an exited process, of a reused process id, and with invalid content", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* taken(holder({ pid: 4_000_000 })), "taken")
      assert.strictEqual(yield* taken(holder({ startTime: "1" })), "taken")
      assert.strictEqual(yield* taken(holder({ pid: process.pid })), "taken")
      assert.strictEqual(yield* taken("{"), "taken")
      assert.strictEqual(yield* taken(""), "taken")
    })
  )

  it.effect("does not compare process ids of another namespace: its lock is free when it is not touched", () =>
    Effect.gen(function* () {
      // Process 1 runs here, too, and 4,000,000 does not.
      for (const pid of [1, 4_000_000, process.pid]) {
        const elsewhere = holder({ namespace: "boot pid:[1]", pid })
        assert.strictEqual(yield* taken(elsewhere), "taken after a wait")
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

  // Wrong clocks, of this host or the other one.
  const ages = [-3_600_000, 0, 3_600_000]
  const elsewhere = holder({ host: "elsewhere", pid: 7 })

  it.effect("respects the lock of another host that touches it, whatever the clocks say", () =>
    Effect.gen(function* () {
      for (const ageMs of ages) {
        const outcome = yield* taken(elsewhere, { ageMs, meanwhile: (path) => touch(path, ageMs - 5000) })
        assert.include(outcome, "DATA is in use by process 7 on elsewhere")
      }
    })
  )

  it.effect("takes the lock of another host that does not touch it, or removes it, whatever the clocks say", () =>
    Effect.gen(function* () {
      for (const ageMs of ages) {
        assert.strictEqual(yield* taken(elsewhere, { ageMs }), "taken after a wait")
        assert.strictEqual(yield* taken(elsewhere, { ageMs, meanwhile: rmSync }), "taken after a wait")
      }
    })
  )
})
