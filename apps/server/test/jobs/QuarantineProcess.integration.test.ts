import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as QuarantineProcess from "../../src/jobs/QuarantineProcess.ts"

const entry = new URL("./support/quarantine.ts", import.meta.url)

const layer = (timeoutMs: number) =>
  Layer.fresh(QuarantineProcess.layer({ entry, start: { greeting: "Hello" }, startMs: 20_000, timeoutMs }))

interface Greeting {
  readonly text: string
  readonly calls: number
  readonly pid: number
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const untilDead = Effect.fnUntraced(function* (pid: number) {
  for (let n = 0; isAlive(pid); n++) {
    if (n > 5000) assert.fail(`Process ${pid} is still running`)
    yield* Effect.sleep(10)
  }
})

describe("QuarantineProcess", () => {
  it.live(
    "runs calls in one process, and ends it with its scope",
    () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(layer(20_000), scope)
        const { call } = yield* Effect.provide(QuarantineProcess.QuarantineProcess, context)
        const first = (yield* call("greet", "Ada")) as Greeting
        const second = (yield* call("greet", "Bob")) as Greeting
        assert.deepStrictEqual([first.text, second.text, second.calls], ["Hello Ada", "Hello Bob", 2])
        assert.strictEqual(second.pid, first.pid)
        assert.notStrictEqual(first.pid, process.pid)
        yield* Scope.close(scope, Exit.void)
        yield* untilDead(first.pid)
      }),
    { timeout: 180_000 }
  )

  it.live(
    "fails with the code and message of what a call threw, and goes on in the same process",
    () =>
      Effect.gen(function* () {
        const { call } = yield* QuarantineProcess.QuarantineProcess
        const { pid } = (yield* call("greet", "Ada")) as Greeting
        const error = yield* Effect.flip(call("throw", null))
        assert.include(error, { _tag: "QuarantineCallError", code: "invalid_request", message: "refused" })
        assert.strictEqual(((yield* call("greet", "Bob")) as Greeting).pid, pid)
      }).pipe(Effect.provide(layer(20_000))),
    { timeout: 180_000 }
  )

  const ends: ReadonlyArray<readonly [method: string, message: RegExp]> = [
    ["exit", /ended with exit code 7/],
    ["kill", /ended with SIGKILL/],
    ["uncaught", /ended with exit code 1: Error: uncaught\.$/],
    ["heap", /ended with SIG|ended with exit code/]
  ]
  for (const [method, message] of ends) {
    it.live(
      `${method}: reports an interruption when the process ends, and starts another for the next call`,
      () =>
        Effect.gen(function* () {
          const { call } = yield* QuarantineProcess.QuarantineProcess
          const error = yield* Effect.flip(call(method, null))
          assert.strictEqual(error._tag, "QuarantineInterruption")
          assert.match(error.message, message)
          const { calls, text } = (yield* call("greet", "Ada")) as Greeting
          assert.deepStrictEqual([text, calls], ["Hello Ada", 1])
        }).pipe(Effect.provide(layer(60_000))),
      { timeout: 120_000 }
    )
  }

  it.live(
    "reports an interruption when the process does not answer in time, and ends it",
    () =>
      Effect.gen(function* () {
        const { call } = yield* QuarantineProcess.QuarantineProcess
        const { pid } = (yield* call("greet", "Ada")) as Greeting
        const error = yield* Effect.flip(call("block", null))
        assert.strictEqual(error._tag, "QuarantineInterruption")
        assert.match(error.message, /did not answer within 3000 ms/)
        yield* untilDead(pid)
        assert.notStrictEqual(((yield* call("greet", "Bob")) as Greeting).pid, pid)
      }).pipe(Effect.provide(layer(3000))),
    { timeout: 180_000 }
  )

  it.live(
    "does not count the start of the process as time of the call",
    () =>
      Effect.gen(function* () {
        const { call } = yield* QuarantineProcess.QuarantineProcess
        assert.strictEqual(((yield* call("greet", "Ada")) as Greeting).text, "Hello Ada")
      }).pipe(
        Effect.provide(
          Layer.fresh(
            QuarantineProcess.layer({
              entry,
              start: { greeting: "Hello", startsIn: 3000 },
              startMs: 30_000,
              timeoutMs: 2000
            })
          )
        )
      ),
    { timeout: 180_000 }
  )

  for (const [what, file, start, startMs] of [
    ["its module is missing", "./support/missing.ts", {}, 20_000],
    ["its start fails", "./support/quarantine.ts", { fail: true }, 20_000],
    ["its start takes too long", "./support/quarantine.ts", { startsIn: 60_000 }, 100]
  ] as const) {
    it.live(
      `does not blame the call when ${what}`,
      () =>
        Effect.gen(function* () {
          const { call } = yield* QuarantineProcess.QuarantineProcess
          const exit = yield* Effect.exit(call("greet", "Ada"))
          assert.isTrue(Exit.hasDies(exit))
          assert.strictEqual(
            (Cause.squash((exit as Exit.Failure<unknown, unknown>).cause) as { readonly _tag: string })._tag,
            "QuarantineUnavailable"
          )
        }).pipe(
          Effect.provide(
            Layer.fresh(
              QuarantineProcess.layer({
                entry: new URL(file, import.meta.url),
                start,
                startMs,
                timeoutMs: startMs
              })
            )
          )
        ),
      { timeout: 180_000 }
    )
  }

  it.live(
    "runs one call at a time",
    () =>
      Effect.gen(function* () {
        const { call } = yield* QuarantineProcess.QuarantineProcess
        const interrupting = yield* Effect.forkChild(Effect.flip(call("kill", null)))
        const greeting = (yield* call("greet", "Ada")) as Greeting
        assert.strictEqual((yield* Fiber.join(interrupting))._tag, "QuarantineInterruption")
        assert.strictEqual(greeting.text, "Hello Ada")
      }).pipe(Effect.provide(layer(20_000))),
    { timeout: 180_000 }
  )

  it.live(
    "gets neither settings nor secrets of the server",
    () =>
      Effect.gen(function* () {
        process.env["GOVOICE_ENCRYPTION_KEYS"] = "k1:secret"
        process.env["DATABASE_URL"] = "postgres://localhost/test"
        const { call } = yield* QuarantineProcess.QuarantineProcess
        const names = (yield* call("environment", null)) as ReadonlyArray<string>
        assert.include(names, "PATH")
        assert.deepStrictEqual(
          names.filter((name) => name.startsWith("GOVOICE_") || name === "DATABASE_URL"),
          []
        )
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            delete process.env["GOVOICE_ENCRYPTION_KEYS"]
            delete process.env["DATABASE_URL"]
          })
        ),
        Effect.provide(layer(20_000))
      ),
    { timeout: 180_000 }
  )
})
