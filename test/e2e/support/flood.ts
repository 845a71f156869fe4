/**
 * Sends requests as fast as they are answered, over connections of its own and from a thread of its own, so that its work does
 * not count into the latencies that a test measures.
 */
import { Worker } from "node:worker_threads"

/** A request of a flood, which is sent again and again. */
export interface FloodRequest {
  readonly method: string
  readonly path: string
  readonly auth: string
  readonly body?: string
}

/** The requests of a flood. Each connection sends them in turn, beginning with another one. */
export interface FloodOptions {
  readonly port: number
  readonly connections: number
  readonly requests: ReadonlyArray<FloodRequest>
  /** Whether a connection waits as long as `Retry-After` asks for. */
  readonly isPolite: boolean
}

/** How often each status was answered; 0 stands for a connection that failed. */
export type Statuses = Readonly<Record<number, number>>

/** A flood that goes on until it is stopped. */
export interface Flood {
  readonly stop: () => Promise<Statuses>
}

/** Starts a flood. */
export const startFlood = (options: FloodOptions): Flood => {
  const worker = new Worker(new URL("./floodThread.ts", import.meta.url), { workerData: options })
  const ended = new Promise<Statuses>((resolve, reject) => {
    worker.once("message", resolve).once("error", reject)
  })
  return {
    stop: async () => {
      worker.postMessage("stop")
      const statuses = await ended
      await worker.terminate()
      return statuses
    }
  }
}
