/**
 * Runs jobs in worker threads, away from the event loop. Groups of jobs share the threads fairly.
 *
 * A thread starts with the first job that needs it. A thread that ends, or does not finish a job in time, fails that job,
 * and another one takes its place. A job must not exhaust the heap of its thread: V8 ends the whole process then, also
 * with a limit for the thread.
 */
import { Data, Effect, type Scope } from "effect"
import { type TransferListItem, Worker } from "node:worker_threads"
import * as FairQueue from "./FairQueue.ts"

/** Too many jobs are waiting: of the group, or of all groups together. */
export class ThreadPoolFull extends Data.TaggedError("ThreadPoolFull")<{ readonly isGroup: boolean }> {}

/** The thread ended before it had answered. */
export class ThreadLost extends Data.TaggedError("ThreadLost") {}

/** The threads and the limits of a pool. */
export interface ThreadPoolOptions {
  /** The name of the threads, in the log. */
  readonly name: string
  /** The module that runs in each thread. It answers every message with one message. */
  readonly entry: URL
  readonly threads: number
  readonly maxJobs: number
  readonly maxJobsPerGroup: number
  readonly timeoutMs: number
}

/** Runs jobs. */
export interface ThreadPool<Job, Result> {
  /**
   * Runs one job. A caller that is interrupted leaves the queue; a job that has begun goes on, and its result is dropped.
   */
  readonly run: (
    group: string,
    job: Job,
    transfer: ReadonlyArray<TransferListItem>
  ) => Effect.Effect<Result, ThreadLost | ThreadPoolFull>
}

interface Pending<Job, Result> {
  readonly message: Job
  readonly transfer: ReadonlyArray<TransferListItem>
  readonly resume: (result: Effect.Effect<Result, ThreadLost>) => void
}

// TypeScript sources run as they are: Node strips their types, and the packages of the workspace have a condition for them.
const execArgv = (entry: URL) => (entry.pathname.endsWith(".ts") ? ["--conditions=source"] : [])

/** Makes a pool. Its threads end with the scope. */
export const make = <Job, Result>(
  options: ThreadPoolOptions
): Effect.Effect<ThreadPool<Job, Result>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const queue = FairQueue.make<Pending<Job, Result>>(options)
    const runLog = Effect.runForkWith(yield* Effect.context())
    const threads = new Set<Worker>()
    const idle: Array<Worker> = []
    let isClosed = false

    const start = (): Worker => {
      const thread = new Worker(options.entry, {
        name: options.name,
        env: {},
        execArgv: execArgv(options.entry)
      })
      // An idle thread does not keep the process running.
      thread.unref()
      threads.add(thread)
      thread.on("error", (cause) => {
        if (isClosed) return
        runLog(Effect.annotateLogs(Effect.logError("Thread failed; starting another", cause), { thread: options.name }))
      })
      thread.once("exit", () => {
        threads.delete(thread)
        const index = idle.indexOf(thread)
        if (index !== -1) idle.splice(index, 1)
        dispatch()
      })
      return thread
    }

    const runOn = (thread: Worker, { charge, job }: FairQueue.Taken<Pending<Job, Result>>): void => {
      const startedAt = performance.now()
      const timer = setTimeout(() => {
        runLog(Effect.annotateLogs(Effect.logError("Thread timed out; starting another"), { thread: options.name }))
        // An answer that still arrives must not make a thread idle that is about to end.
        thread.off("message", onMessage)
        void thread.terminate()
      }, options.timeoutMs)
      const finish = (result: Effect.Effect<Result, ThreadLost>): void => {
        clearTimeout(timer)
        thread.off("message", onMessage).off("exit", onExit)
        charge(performance.now() - startedAt)
        job.resume(result)
      }
      const onMessage = (result: Result): void => {
        finish(Effect.succeed(result))
        idle.push(thread)
        dispatch()
      }
      const onExit = (): void => finish(Effect.fail(new ThreadLost()))
      // Before the listener that starts the next job.
      thread.prependListener("exit", onExit)
      thread.on("message", onMessage)
      thread.postMessage(job.message, job.transfer)
    }

    const dispatch = (): void => {
      if (isClosed) return
      while (idle.length > 0 || threads.size < options.threads) {
        const taken = queue.take()
        if (taken === undefined) return
        runOn(idle.pop() ?? start(), taken)
      }
    }

    yield* Effect.addFinalizer(() =>
      Effect.promise(() => {
        isClosed = true
        return Promise.all(Array.from(threads, (thread) => thread.terminate()))
      })
    )

    return {
      run: (group, message, transfer) =>
        Effect.callback<Result, ThreadLost | ThreadPoolFull>((resume) => {
          const pending: Pending<Job, Result> = { message, transfer, resume }
          const added = isClosed ? "queue-full" : queue.add(group, pending)
          if (added !== "added") return resume(Effect.fail(new ThreadPoolFull({ isGroup: added === "group-full" })))
          dispatch()
          return Effect.sync(() => queue.remove(group, pending))
        })
    }
  })
