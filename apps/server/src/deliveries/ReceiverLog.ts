/** Logs when a receiver's host begins to fail and when it answers again: one warning and one line, each with counts. */
import type { Outcome } from "@govoice/dispatcher"
import { Effect } from "effect"
import * as ThrottledLog from "../observability/ThrottledLog.ts"

/** Records the outcomes of attempts. */
export interface ReceiverLog {
  /** Records that the receiver at a URL had this outcome. Attempts that sent no request are not recorded. */
  readonly record: (url: string, outcome: Outcome, reason: string | null) => Effect.Effect<void>
}

/** How many hosts are remembered: those that failed last. */
export const maxHosts = 1000

// A 4xx is about one request or endpoint, while these stop all endpoints of a host.
const isTrouble = (outcome: Outcome): boolean => ("status" in outcome ? outcome.status >= 500 : true)

/** Makes the log of a worker. */
export const make = (): ReceiverLog => {
  const hosts = new Map<string, ThrottledLog.ThrottledLog>()
  return {
    record: (url, outcome, reason) => {
      const isFailure = isTrouble(outcome)
      if (!isFailure && hosts.size === 0) return Effect.void
      const { host } = new URL(url)
      const log =
        hosts.get(host) ??
        ThrottledLog.make({
          down: "Receiver unavailable; its deliveries are retried",
          recovered: "Receiver available again",
          repeats: false,
          fields: { host }
        })
      if (!isFailure) return log.success
      // A map iterates in insertion order, so the first failed the longest time ago.
      hosts.delete(host)
      hosts.set(host, log)
      const [first] = hosts.keys()
      if (hosts.size > maxHosts && first !== undefined) hosts.delete(first)
      return log.failure(reason ?? outcome._tag)
    }
  }
}
