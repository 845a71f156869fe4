/** A thread that ends with a document `<exit/>`, never answers `<hang/>`, and finds every other document valid. */
import type { Violation } from "@govoice/ksef/checks"
import type { DocumentCheckJob } from "../../../../src/invoices/checks/documentCheckThread.ts"
import { serveJobs } from "../../../../src/jobs/serveJobs.ts"

serveJobs(({ xml }: DocumentCheckJob): Violation.Report => {
  if (xml === "<exit/>") process.exit(1)
  // Waits forever, without a processor, which the other tests need.
  if (xml === "<hang/>") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  return { form: undefined, violations: [], count: 0, warnings: [] }
})
