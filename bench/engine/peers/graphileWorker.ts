/** A worker on graphile-worker, set up for throughput: jobs fetched and completed in batches. */
import { Logger, run } from "graphile-worker"
import { concurrency, type Job, post } from "./post.ts"

const runner = await run({
  preset: {
    worker: {
      connectionString: process.env["DATABASE_URL"]!,
      concurrentJobs: concurrency,
      maxPoolSize: concurrency + 2,
      pollInterval: 100,
      // Of jobs that are meant to fail.
      ...(process.env["PEER_QUIET"] === "1" ? { logger: new Logger(() => () => {}) } : {}),
      localQueue: { size: 2 * concurrency },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0
    }
  },
  noHandleSignals: true,
  taskList: { webhook: (payload) => post(payload as Job) }
})
process.once("SIGTERM", () => void runner.stop().then(() => process.exit(0)))
await runner.promise
