/**
 * The entry of the threads that check documents: answers each job with its report. The schemas are loaded once.
 */
import { DocumentChecker, type Violation } from "@govoice/ksef/checks"
import { parentPort } from "node:worker_threads"

/** What a thread is sent. */
export interface DocumentCheckJob {
  readonly xml: string
  readonly options: DocumentChecker.CheckOptions
}

const loading = DocumentChecker.load()

parentPort?.on("message", ({ options, xml }: DocumentCheckJob) => {
  // Without the schemas the thread fails, and another one tries to load them.
  void loading.then((checker) => parentPort?.postMessage(checker.check(xml, options) satisfies Violation.Report))
})
