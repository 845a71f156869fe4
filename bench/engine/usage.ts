/** Measures the CPU time per delivery from a point in time, so that the start of processes is left out. */
import type { Database } from "./database.ts"
import { type Receiver, until, type Worker } from "./processes.ts"

export interface Usage {
  readonly workerCpuMs: number
  readonly databaseCpuMs: number | undefined
}

/** Returns a function with the CPU time per delivery from now on. */
export const fromNow = async (
  receiver: Receiver,
  workers: ReadonlyArray<Worker>,
  database?: Database
): Promise<(count: number) => Promise<Usage>> => {
  const read = async () => ({
    worker: workers.reduce((sum, worker) => sum + worker.cpu(), 0),
    database: await database?.cpu()
  })
  const begun = await read()
  const before = await receiver.count()
  return async (count) => {
    const ended = await read()
    const each = (seconds: number) => (seconds * 1000) / (count - before)
    return {
      workerCpuMs: each(ended.worker - begun.worker),
      databaseCpuMs:
        ended.database === undefined || begun.database === undefined ? undefined : each(ended.database - begun.database)
    }
  }
}

/** Waits for the first request, and returns a function with the CPU time since then per delivery. */
export const fromFirstRequest: typeof fromNow = async (receiver, workers, database) => {
  await until("the first request", async () => (await receiver.count()) > 0, 60_000, 5)
  return fromNow(receiver, workers, database)
}
