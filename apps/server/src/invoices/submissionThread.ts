/**
 * The entry of the threads that read large submissions.
 */
import { serveJobs } from "../jobs/serveJobs.ts"
import { type ReadSubmission, readSubmission, type SubmissionContext } from "./readSubmission.ts"

/** A message to a thread. */
export interface SubmissionJob {
  readonly body: Uint8Array
  readonly context: SubmissionContext
}

serveJobs(({ body, context }: SubmissionJob): ReadSubmission => readSubmission(body, context))
