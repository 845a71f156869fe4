/** A thread that does what its jobs say. */
import { threadId } from "node:worker_threads"
import { serveJobs } from "../../../src/jobs/serveJobs.ts"

export type Job =
  | {
      readonly _tag: "Answer"
      readonly value: string
      readonly busyMs?: number
      readonly body?: Uint8Array<ArrayBuffer>
    }
  | { readonly _tag: "Exit" }
  | { readonly _tag: "Throw" }
  | { readonly _tag: "Hang"; readonly isSpinning?: boolean }

export interface Answer {
  readonly value: string
  readonly threadId: number
}

// Blocks the thread without a processor, which the other tests need.
const block = (milliseconds: number): void => {
  if (milliseconds > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

serveJobs((job: Job): Answer => {
  switch (job._tag) {
    case "Answer":
      block(job.busyMs ?? 0)
      return { value: job.value, threadId }
    case "Exit":
      return process.exit(1)
    case "Throw":
      throw new Error("thrown by the job")
    case "Hang":
      if (!job.isSpinning) block(Infinity)
      for (;;);
  }
})
