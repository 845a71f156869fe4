/** A thread that ends with a document `<exit/>`, and never answers another one. */
import { parentPort } from "node:worker_threads"
import type { DocumentCheckJob } from "../../../../src/invoices/checks/documentCheckThread.ts"

parentPort?.on("message", ({ xml }: DocumentCheckJob) => {
  if (xml === "<exit/>") process.exit(1)
})
