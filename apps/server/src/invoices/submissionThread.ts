/**
 * The entry of the threads that read large submissions: answers each job with its result.
 */
import { parentPort } from "node:worker_threads"
import { type ReadSubmission, readSubmission, type SubmissionContext } from "./readSubmission.ts"

/** What a thread is sent. */
export interface SubmissionJob {
  readonly body: Uint8Array
  readonly context: SubmissionContext
}

parentPort?.on("message", ({ body, context }: SubmissionJob) => {
  parentPort?.postMessage(readSubmission(body, context) satisfies ReadSubmission)
})
