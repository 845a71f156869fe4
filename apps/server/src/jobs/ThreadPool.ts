/**
 * Runs jobs in worker threads, away from the event loop. Groups of jobs share the threads fairly.
 *
 * A thread starts with the first job that needs it. A thread that ends, or does not finish a job in time, fails that job,
 * and another one takes its place. A job must not exhaust the heap of its thread: V8 ends the whole process then, also
 * with a limit for the thread.
 *
 * Small jobs that wait are sent in one message and answered in one, because a message and a turn of the event loop cost more
 * than such a job. When a thread ends, the jobs of its batch that have no answer yet run again in another one, except for
 * the job that was running.
 */
import { Data, Effect, type Scope } from "effect"
import { type TransferListItem, Worker } from "node:worker_threads"
import * as Slots from "../limits/Slots.ts"
import * as JobProgress from "./JobProgress.ts"
import type { JobResult, ThreadData } from "./serveJobs.ts"

/** The job did not begin: too much waits, or no thread became free in time. */
export class ThreadPoolFull extends Data.TaggedError("ThreadPoolFull") {}

/** The thread ended before it had answered. */
export class ThreadLost extends Data.TaggedError("ThreadLost") {}

/** The threads and the limits of a pool. */
export interface ThreadPoolOptions {
  /** The name of the threads, in the log. */
  readonly name: string
  /** The module that runs in each thread, with `serveJobs`. */
  readonly entry: URL
  readonly threads: number
  /** How much waits, in the unit of the sizes of jobs: of all groups, and of one. */
  readonly maxSize: number
  readonly maxSizePerGroup: number
  /** How many milliseconds a job is expected to take for its size, where long jobs are to wait for short ones of other groups. */
  readonly costOfSize?: number
  /** How long a job waits. Without it, as long as it takes. */
  readonly maxWaitMs?: number
  /** The limit for each job. */
  readonly timeoutMs: number
}

/** Which jobs share a message. They have to be small and repeatable, and must not transfer anything. */
export interface BatchOptions<Job> {
  readonly maxJobs: number
  readonly sizeOf: (job: Job) => number
  /** The maximum for all jobs of a batch together. A larger job is sent alone. */
  readonly maxSize: number
}

/** Runs jobs. */
export interface ThreadPool<Job, Result> {
  /**
   * Runs one job. Its size counts while it waits. A caller that is interrupted leaves the queue; a job that has begun goes on, and its result is dropped.
   */
  readonly run: (
    group: Slots.Group,
    job: Job,
    transfer: ReadonlyArray<TransferListItem>,
    size?: number
  ) => Effect.Effect<Result, ThreadLost | ThreadPoolFull>
}

interface Pending<Job, Result> {
  readonly message: Job
  readonly transfer: ReadonlyArray<TransferListItem>
  readonly resume: (result: Effect.Effect<Result, ThreadLost | ThreadPoolFull>) => void
  isInterrupted: boolean
}

interface Thread {
  readonly worker: Worker
  readonly progress: JobProgress.JobProgress
}

// TypeScript sources run as they are: Node strips their types, and the packages of the workspace have a condition for them.
const execArgv = (entry: URL) => (entry.pathname.endsWith(".ts") ? ["--conditions=source"] : [])

// Every job alone.
const unbatched: BatchOptions<unknown> = { maxJobs: 1, sizeOf: () => 0, maxSize: 0 }

/** Makes a pool. Its threads end with the scope. */
export const make = <Job, Result>(
  options: ThreadPoolOptions,
  batching: BatchOptions<Job> = unbatched
): Effect.Effect<ThreadPool<Job, Result>, never, Scope.Scope> =>
  Effect.gen(function* () {
    type Taken = Slots.Taken<Pending<Job, Result>>

    const queue = Slots.makeQueue<Pending<Job, Result>>({
      ...options,
      onDropped: ({ resume }) => resume(Effect.fail(new ThreadPoolFull()))
    })
    const runLog = Effect.runForkWith(yield* Effect.context())
    const threads = new Set<Thread>()
    const idle: Array<Thread> = []
    let isClosed = false

    const start = (): Thread => {
      const progress = JobProgress.open()
      const worker = new Worker(options.entry, {
        name: options.name,
        env: {},
        execArgv: execArgv(options.entry),
        workerData: { progress: progress.memory } satisfies ThreadData
      })
      const thread: Thread = { worker, progress }
      // An idle thread does not keep the process running.
      worker.unref()
      threads.add(thread)
      worker.on("error", (cause) => {
        if (isClosed) return
        runLog(Effect.annotateLogs(Effect.logError("Thread failed; starting another", cause), { thread: options.name }))
      })
      worker.once("exit", () => {
        threads.delete(thread)
        const index = idle.indexOf(thread)
        if (index !== -1) idle.splice(index, 1)
        dispatch()
      })
      return thread
    }

    const takeBatch = (): ReadonlyArray<Taken> => {
      const first = queue.take()
      if (first === undefined) return []
      const batch = [first]
      let size = batching.sizeOf(first.job.message)
      const fits = ({ message, transfer }: Pending<Job, Result>): boolean =>
        transfer.length === 0 && size + batching.sizeOf(message) <= batching.maxSize
      while (batch.length < batching.maxJobs && first.job.transfer.length === 0) {
        const taken = queue.take(fits)
        if (taken === undefined) break
        batch.push(taken)
        size += batching.sizeOf(taken.job.message)
      }
      return batch
    }

    const runAgain = (batch: ReadonlyArray<Taken>): void => {
      for (const { charge, job } of batch) if (job.isInterrupted) charge(0)
      const wanted = batch.filter(({ job }) => !job.isInterrupted)
      if (isClosed) for (const { job } of wanted) job.resume(Effect.fail(new ThreadLost()))
      else if (wanted.length > 0) runOn(start(), wanted)
    }

    const runOn = (thread: Thread, batch: ReadonlyArray<Taken>): void => {
      const { progress, worker } = thread
      let answered = 0
      const terminateWhenLate = (): void => {
        const remainingMs = options.timeoutMs - progress.elapsedMs()
        if (remainingMs > 0) {
          timer = setTimeout(terminateWhenLate, Math.ceil(remainingMs))
          return
        }
        runLog(Effect.annotateLogs(Effect.logError("Thread timed out; starting another"), { thread: options.name }))
        // An answer that still arrives must not make a thread idle that is about to end.
        worker.off("message", onMessage)
        void worker.terminate()
      }
      const stop = (): void => {
        clearTimeout(timer)
        worker.off("message", onMessage).off("exit", onExit)
      }
      const onMessage = (results: ReadonlyArray<JobResult<Result>>): void => {
        for (const { milliseconds, result } of results) {
          const { charge, job } = batch[answered++]!
          charge(milliseconds)
          job.resume(Effect.succeed(result))
        }
        if (answered < batch.length) return
        stop()
        idle.push(thread)
        dispatch()
      }
      const onExit = (): void => {
        stop()
        const running = Math.max(progress.index(), answered)
        batch[running]!.charge(progress.elapsedMs())
        batch[running]!.job.resume(Effect.fail(new ThreadLost()))
        runAgain(batch.slice(answered).filter((_, index) => answered + index !== running))
      }
      progress.begin(0)
      let timer = setTimeout(terminateWhenLate, options.timeoutMs)
      // Before the listener that starts the next job.
      worker.prependListener("exit", onExit)
      worker.on("message", onMessage)
      worker.postMessage(
        batch.map(({ job }) => job.message),
        batch.flatMap(({ job }) => job.transfer)
      )
    }

    const dispatch = (): void => {
      if (isClosed) return
      while (idle.length > 0 || threads.size < options.threads) {
        const batch = takeBatch()
        if (batch.length === 0) return
        runOn(idle.pop() ?? start(), batch)
      }
    }

    yield* Effect.addFinalizer(() =>
      Effect.promise(() => {
        isClosed = true
        return Promise.all(Array.from(threads, ({ worker }) => worker.terminate()))
      })
    )

    return {
      run: (group, message, transfer, size) =>
        Effect.callback<Result, ThreadLost | ThreadPoolFull>((resume) => {
          let timer: NodeJS.Timeout | undefined
          const stop = (result: Effect.Effect<Result, ThreadLost | ThreadPoolFull>) => {
            clearTimeout(timer)
            resume(result)
          }
          const pending: Pending<Job, Result> = { message, transfer, resume: stop, isInterrupted: false }
          if (isClosed || !queue.add(group, pending, size)) return stop(Effect.fail(new ThreadPoolFull()))
          if (options.maxWaitMs !== undefined) {
            timer = setTimeout(() => {
              if (queue.remove(group, pending)) stop(Effect.fail(new ThreadPoolFull()))
            }, options.maxWaitMs)
          }
          dispatch()
          return Effect.sync(() => {
            clearTimeout(timer)
            pending.isInterrupted = true
            queue.remove(group, pending)
          })
        })
    }
  })
