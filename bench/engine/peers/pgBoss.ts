/** A worker on pg-boss, set up for throughput: large batches, several fetchers, polled as often as it allows. */
import { PgBoss } from "pg-boss"
import { concurrency, type Job, post } from "./post.ts"

const boss = new PgBoss({ connectionString: process.env["DATABASE_URL"]!, max: 20, supervise: false, schedule: false })
boss.on("error", (error) => console.error(error))
await boss.start()
await boss.createQueue("webhooks").catch(() => {})
const fetchers = 4
await boss.work<Job>(
  "webhooks",
  {
    batchSize: concurrency / fetchers,
    localConcurrency: fetchers,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true
  },
  async (jobs) => {
    await Promise.all(jobs.map(({ data }) => post(data)))
  }
)
process.once("SIGTERM", () => void boss.stop({ graceful: false }).then(() => process.exit(0)))
