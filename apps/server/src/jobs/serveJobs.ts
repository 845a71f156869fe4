/**
 * Runs the jobs that a `ThreadPool` sends to this thread.
 */
import { parentPort, workerData } from "node:worker_threads"
import * as JobProgress from "./JobProgress.ts"

/** The data that a thread is started with. */
export interface ThreadData {
  readonly progress: SharedArrayBuffer
}

/** The result of a job, and how long it ran. */
export interface JobResult<Result> {
  readonly result: Result
  readonly milliseconds: number
}

// A batch takes less than that, unless one of its jobs is expensive.
const answerAfterMs = 5

/** Answers each batch of jobs with one message, or with several when it takes long. An exception ends the thread. */
export const serveJobs = (run: (job: never) => unknown): void => {
  const progress = JobProgress.open((workerData as ThreadData).progress)
  const runBatch = async (jobs: ReadonlyArray<never>): Promise<void> => {
    let results: Array<JobResult<unknown>> = []
    let collectedMs = 0
    for (const [index, job] of jobs.entries()) {
      progress.begin(index)
      const result = await run(job)
      const milliseconds = progress.elapsedMs()
      results.push({ result, milliseconds })
      collectedMs += milliseconds
      if (collectedMs < answerAfterMs && index < jobs.length - 1) continue
      progress.end()
      parentPort?.postMessage(results)
      results = []
      collectedMs = 0
    }
  }
  parentPort?.on("message", (jobs: ReadonlyArray<never>) => void runBatch(jobs))
}
