/**
 * Keeps a server running when its log cannot be written: its disk is full, or the collector that reads it has ended. Whether
 * invoices are accepted does not depend on their log.
 */
import * as ThrottledLog from "../observability/ThrottledLog.ts"

let failedMs = -Infinity

// A line for each outage: during one, each line of the log fails.
const report = (error: Error): void => {
  const now = performance.now()
  const isNew = now - failedMs > ThrottledLog.intervalMs
  failedMs = now
  if (isNew) process.stderr.write(`The log cannot be written (${error.message}). The server goes on without it.\n`)
}

/** Replaces what the command does when standard output cannot be written. Standard error has no other place to report to. */
export const keepServing = (): void => {
  process.stdout.removeAllListeners("error").on("error", report)
  process.stderr.on("error", () => {})
}
