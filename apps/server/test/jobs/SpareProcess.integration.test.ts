import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as SpareProcess from "../../src/jobs/SpareProcess.ts"

const entry = new URL("./support/spare.ts", import.meta.url)

const run = (method: string, argument?: string, times: Partial<Parameters<typeof SpareProcess.run>[2]> = {}) =>
  SpareProcess.run(entry, { method, argument }, { startMs: 60_000, timeoutMs: 60_000, ...times })

describe("SpareProcess", () => {
  it.live("runs a call in a process of its own, which ends", () =>
    Effect.gen(function* () {
      const answer = yield* run("greet", "Ada")
      assert(answer._tag === "Result")
      const { pid, text } = answer.result as { readonly pid: number; readonly text: string }
      assert.strictEqual(text, "Hello Ada")
      assert.notStrictEqual(pid, process.pid)
      const isAlive = Effect.sync(() => {
        try {
          return process.kill(pid, 0)
        } catch {
          return false
        }
      })
      for (let looks = 0; yield* isAlive; looks++) {
        if (looks > 5000) assert.fail(`Process ${pid} is still running`)
        yield* Effect.sleep(10)
      }
    })
  )

  it.live("returns the code and message of what the call threw", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("throw"), { _tag: "Failure", code: "invalid_request", message: "refused" })
    })
  )

  const ends: ReadonlyArray<readonly [method: string, message: RegExp]> = [
    ["exit", /ended with exit code 7/],
    ["kill", /ended with SIGKILL/],
    ["uncaught", /ended with exit code 1: Error: uncaught\.$/],
    ["heap", /ended with SIG|ended with exit code/]
  ]
  for (const [method, message] of ends) {
    it.live(`${method}: fails when the process ends`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(run(method))
        assert.strictEqual(error._tag, "SpareProcessEnded")
        assert.match(error.message, message)
      })
    )
  }

  it.live("ends a process that does not answer in time, without the time of its start", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(run("block", undefined, { timeoutMs: 1000 }))
      assert.strictEqual(error._tag, "SpareProcessEnded")
      assert.match(error.message, /did not answer within 1000 ms/)
    })
  )

  for (const [what, file, startMs] of [
    ["its module is missing", "./support/missing.ts", 60_000],
    ["its start takes too long", "./support/spare.ts", 1]
  ] as const) {
    it.live(`does not blame the call when ${what}`, () =>
      Effect.gen(function* () {
        const start = SpareProcess.run(
          new URL(file, import.meta.url),
          { method: "greet" },
          { startMs, timeoutMs: 1000 }
        )
        assert.strictEqual((yield* Effect.flip(start))._tag, "SpareProcessUnavailable")
      })
    )
  }

  it.live("gets neither settings nor secrets of the server", () =>
    Effect.gen(function* () {
      process.env["GOVOICE_ENCRYPTION_KEYS"] = "k1:secret"
      process.env["DATABASE_URL_FILE"] = "/a/file"
      const answer = yield* run("environment")
      assert(answer._tag === "Result")
      const names = answer.result as ReadonlyArray<string>
      assert.include(names, "PATH")
      assert.deepStrictEqual(
        names.filter((name) => name.startsWith("GOVOICE_") || name.startsWith("DATABASE_")),
        []
      )
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          delete process.env["GOVOICE_ENCRYPTION_KEYS"]
          delete process.env["DATABASE_URL_FILE"]
        })
      )
    )
  )
})
