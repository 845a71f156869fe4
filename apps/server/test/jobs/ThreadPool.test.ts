import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Logger, References, Scope } from "effect"
import { Worker } from "node:worker_threads"
import { vi } from "vitest"
import * as ThreadPool from "../../src/jobs/ThreadPool.ts"
import type { Answer, Job } from "./support/thread.ts"

const make = (options: Partial<ThreadPool.ThreadPoolOptions> = {}) =>
  ThreadPool.make<Job, Answer>({
    name: "tested",
    entry: new URL("support/thread.ts", import.meta.url),
    threads: 1,
    maxSize: 100,
    maxSizePerGroup: 50,
    timeoutMs: 50_000,
    ...options
  })

const answer = (value: string, busyMs = 0): Job => ({ _tag: "Answer", value, busyMs })

const silent = Layer.succeed(References.MinimumLogLevel)("None")

describe("ThreadPool", () => {
  it.live("answers each job in order, in as many threads as it may have", () =>
    Effect.gen(function* () {
      const pool = yield* make({ threads: 2 })
      const values = Array.from({ length: 50 }, (_, index) => String(index))
      const answers = yield* Effect.forEach(values, (value) => pool.run(value, answer(value, 5), []), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        answers.map(({ value }) => value),
        values
      )
      assert.strictEqual(new Set(answers.map(({ threadId }) => threadId)).size, 2)
    })
  )

  it.live("leaves the event loop free while a job runs", () =>
    Effect.gen(function* () {
      const pool = yield* make()
      yield* pool.run("a", answer("warm"), [])
      let turns = 0
      const timer = setInterval(() => turns++, 1)
      yield* pool.run("a", answer("busy", 500), [])
      clearInterval(timer)
      assert.isAbove(turns, 10)
    })
  )

  it.live("interleaves groups by the time that they used, not by arrival", () =>
    Effect.gen(function* () {
      const pool = yield* make()
      yield* pool.run("c", answer("warm"), [])
      const order: Array<string> = []
      const run = (group: string, busyMs: number) =>
        Effect.tap(pool.run(group, answer(group, busyMs), []), ({ value }) => Effect.sync(() => order.push(value)))
      const expensive = yield* Effect.forkChild(Effect.replicateEffect(run("expensive", 200), 6, { concurrency: 6 }))
      const cheap = yield* Effect.forkChild(Effect.replicateEffect(run("cheap", 1), 6, { concurrency: 6 }))
      yield* Fiber.join(expensive)
      yield* Fiber.join(cheap)
      // All cheap jobs together cost less than two of the others.
      assert.isBelow(order.lastIndexOf("cheap"), 6 + 3)
    })
  )

  it.live("refuses what is beyond the jobs of a group, and the last of the largest group for one of another", () =>
    Effect.gen(function* () {
      const pool = yield* make({ maxSize: 3, maxSizePerGroup: 2 })
      const run = (group: string) => Effect.result(pool.run(group, answer(group, 50), []))
      const groups = ["a", "a", "a", "a", "b", "c"]
      const results = yield* Effect.forEach(groups, run, { concurrency: "unbounded" })
      const outcomes = results.map((result) => (result._tag === "Success" ? "done" : result.failure))
      assert.deepStrictEqual(outcomes, [
        "done",
        "done",
        new ThreadPool.ThreadPoolFull(),
        new ThreadPool.ThreadPoolFull(),
        "done",
        "done"
      ])
    })
  )

  it.live("refuses a job that no thread takes in time, and runs the others", () =>
    Effect.gen(function* () {
      const pool = yield* make({ maxWaitMs: 50 })
      yield* pool.run("a", answer("warm"), [])
      const running = yield* Effect.forkChild(pool.run("a", answer("running", 400), []), { startImmediately: true })
      const late = yield* Effect.flip(pool.run("a", answer("late"), []))
      assert.strictEqual(late._tag, "ThreadPoolFull")
      assert.strictEqual((yield* Fiber.join(running)).value, "running")
      assert.strictEqual((yield* pool.run("a", answer("next"), [])).value, "next")
    })
  )

  it.live.each(["Exit", "Throw", "Hang"] as const)(
    "a job that ends its thread (%s) fails, and the next ones run in another thread",
    (_tag) =>
      Effect.gen(function* () {
        const pool = yield* make({ timeoutMs: _tag === "Hang" ? 6000 : 50_000 })
        const { threadId } = yield* pool.run("a", answer("first"), [])
        const [lost, ...others] = yield* Effect.forEach(
          [{ _tag }, answer("second"), answer("third")],
          (job) => Effect.result(pool.run("a", job, [])),
          { concurrency: "unbounded" }
        )
        assert.isTrue(lost?._tag === "Failure" && lost.failure._tag === "ThreadLost")
        for (const other of others) {
          assert.strictEqual(other._tag, "Success")
          assert.notStrictEqual(other._tag === "Success" && other.success.threadId, threadId)
        }
      }).pipe(Effect.provide(silent)),
    100_000
  )

  it.live("logs why a thread failed", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ cause, message }) => void lines.push(`${String(message)} ${String(cause)}`))
      yield* Effect.gen(function* () {
        const pool = yield* make()
        yield* Effect.exit(pool.run("a", { _tag: "Throw" }, []))
      }).pipe(Effect.provide(Logger.layer([logger])))
      assert.lengthOf(lines, 1)
      assert.match(lines[0] ?? "", /^Thread failed; starting another.*thrown by the job/s)
    })
  )

  it.live("fails a job whose thread cannot start", () =>
    Effect.gen(function* () {
      const pool = yield* make({ entry: new URL("support/absent.ts", import.meta.url) })
      assert.strictEqual((yield* Effect.flip(pool.run("a", answer("x"), [])))._tag, "ThreadLost")
      assert.strictEqual((yield* Effect.flip(pool.run("a", answer("x"), [])))._tag, "ThreadLost")
    }).pipe(Effect.provide(silent))
  )

  it.live("drops a job whose caller is interrupted while it waits", () =>
    Effect.gen(function* () {
      const pool = yield* make({ maxSize: 2 })
      yield* pool.run("a", answer("warm"), [])
      const running = yield* Effect.forkChild(pool.run("a", answer("running", 150), []), { startImmediately: true })
      const waiting = yield* Effect.forkChild(pool.run("a", answer("waiting", 5000), []), { startImmediately: true })
      yield* Fiber.interrupt(waiting)
      const startedAt = performance.now()
      yield* pool.run("a", answer("next"), [])
      assert.isBelow(performance.now() - startedAt, 4900)
      yield* Fiber.join(running)
    })
  )

  it.live("moves what is transferred instead of copying it", () =>
    Effect.gen(function* () {
      const pool = yield* make()
      const body = new Uint8Array(1000)
      yield* pool.run("a", { _tag: "Answer", value: "x", body }, [body.buffer])
      assert.strictEqual(body.byteLength, 0)
    })
  )

  it.live("ends its threads with its scope, also one that never answers, and accepts no further job", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const pool = yield* Scope.provide(make(), scope)
      const hanging = yield* Effect.forkChild(Effect.exit(pool.run("a", { _tag: "Hang", isSpinning: true }, [])), {
        startImmediately: true
      })
      yield* Effect.sleep("300 millis")
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(hanging)))
      assert.strictEqual((yield* Effect.flip(pool.run("a", answer("x"), [])))._tag, "ThreadPoolFull")
    })
  )
})

describe("ThreadPool with batches", () => {
  const batched = (options: Partial<ThreadPool.ThreadPoolOptions> = {}) =>
    ThreadPool.make<Job, Answer>(
      {
        name: "tested",
        entry: new URL("support/thread.ts", import.meta.url),
        threads: 1,
        maxSize: 100,
        maxSizePerGroup: 50,
        timeoutMs: 50_000,
        ...options
      },
      { maxJobs: 4, sizeOf: (job) => (job._tag === "Answer" ? job.value.length : 1), maxSize: 24 }
    )

  // How many jobs each message has.
  const messageSizes = Effect.acquireRelease(
    Effect.sync(() => vi.spyOn(Worker.prototype, "postMessage")),
    (spy) => Effect.sync(() => spy.mockRestore())
  ).pipe(Effect.map((spy) => () => spy.mock.calls.map(([jobs]) => (jobs as ReadonlyArray<Job>).length)))

  const concurrently = (pool: ThreadPool.ThreadPool<Job, Answer>, jobs: ReadonlyArray<Job>) =>
    Effect.forEach(
      jobs,
      (job) => Effect.result(pool.run("a", job, job._tag === "Answer" && job.body ? [job.body.buffer] : [])),
      { concurrency: "unbounded" }
    )

  it.live("sends the jobs that wait in one message, up to a number and a size", () =>
    Effect.gen(function* () {
      const sizes = yield* messageSizes
      const pool = yield* batched()
      const values = ["first", "1", "2", "3", "4", "5", "6", "longer than 24 characters", "7", "8"]
      const results = yield* concurrently(
        pool,
        values.map((value) => answer(value))
      )
      assert.deepStrictEqual(
        results.map((result) => result._tag === "Success" && result.success.value),
        values
      )
      assert.deepStrictEqual(sizes(), [1, 4, 2, 1, 2])
    })
  )

  it.live("sends a job that transfers its body alone", () =>
    Effect.gen(function* () {
      const sizes = yield* messageSizes
      const pool = yield* batched()
      const withBody: Job = { _tag: "Answer", value: "x", body: new Uint8Array(10) }
      yield* concurrently(pool, [answer("first"), answer("1"), { ...withBody, body: new Uint8Array(10) }, withBody])
      assert.deepStrictEqual(sizes(), [1, 1, 1, 1])
    })
  )

  it.live.each(["Exit", "Throw", "Hang"] as const)(
    "runs the other jobs of a batch again when one of them ends the thread (%s)",
    (_tag) =>
      Effect.gen(function* () {
        const sizes = yield* messageSizes
        const pool = yield* batched({ timeoutMs: _tag === "Hang" ? 6000 : 50_000 })
        const jobs = [answer("first"), answer("before"), { _tag }, answer("behind"), answer("last")]
        const results = yield* concurrently(pool, jobs)
        assert.deepStrictEqual(
          results.map((result) => (result._tag === "Success" ? result.success.value : result.failure._tag)),
          ["first", "before", "ThreadLost", "behind", "last"]
        )
        const [first, batch, again] = sizes()
        assert.deepStrictEqual([first, batch], [1, 4])
        // What has an answer does not run again: a job of more than 5 ms is answered before the batch ends.
        assert.include([2, 3], again)
      }).pipe(Effect.provide(silent)),
    100_000
  )

  it.live("gives each job of a batch the whole time limit", () =>
    Effect.gen(function* () {
      const sizes = yield* messageSizes
      const pool = yield* batched({ timeoutMs: 6000 })
      const results = yield* concurrently(pool, [answer("first"), ...["1", "2", "3", "4"].map((n) => answer(n, 2000))])
      assert.deepStrictEqual(
        results.map(({ _tag }) => _tag),
        Array.from({ length: 5 }, () => "Success")
      )
      assert.deepStrictEqual(sizes(), [1, 4])
    })
  )

  it.live("does not run a job again whose caller was interrupted", () =>
    Effect.gen(function* () {
      const sizes = yield* messageSizes
      const pool = yield* batched({ timeoutMs: 6000 })
      const first = yield* Effect.forkChild(pool.run("a", answer("first"), []), { startImmediately: true })
      const run = (job: Job) => Effect.forkChild(Effect.exit(pool.run("a", job, [])), { startImmediately: true })
      const hanging = yield* run({ _tag: "Hang" })
      const interrupted = yield* run(answer("interrupted"))
      const behind = yield* run(answer("behind"))
      yield* Fiber.join(first)
      // The thread has the other three now.
      yield* Effect.sleep("200 millis")
      yield* Fiber.interrupt(interrupted)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(hanging)))
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(behind)))
      assert.deepStrictEqual(sizes(), [1, 3, 1])
    }).pipe(Effect.provide(silent))
  )
})
