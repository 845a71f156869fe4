/** A worker on BullMQ with the same concurrency as the other queues. */
import { Worker } from "bullmq"
import { concurrency, type Job, post } from "./post.ts"

const worker = new Worker<Job>("webhooks", ({ data }) => post(data), {
  connection: { host: "127.0.0.1", port: Number(process.env["REDIS_PORT"]), maxRetriesPerRequest: null },
  concurrency,
  removeOnComplete: { count: 0 }
})
worker.on("error", (error) => console.error(error))
process.once("SIGTERM", () => void worker.close(true).then(() => process.exit(0)))
