/**
 * The entry of the threads that check documents. The schemas are loaded once.
 */
import { DocumentChecker, type Violation } from "@govoice/ksef/checks"
import { serveJobs } from "../../jobs/serveJobs.ts"

/** A message to a thread. */
export interface DocumentCheckJob {
  readonly xml: string
  readonly options: DocumentChecker.CheckOptions
}

const loading = DocumentChecker.load()

// Without the schemas the thread fails, and another one tries to load them.
serveJobs(async ({ options, xml }: DocumentCheckJob): Promise<Violation.Report> => (await loading).check(xml, options))
