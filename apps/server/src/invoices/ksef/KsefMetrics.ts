/** The metrics of live mode. No label contains an identifier or any value from outside. */
import { Operation } from "@govoice/ksef/protocol"
import { Metric } from "effect"
import type { CallName, Failure } from "./CallFailure.ts"

export type CallOutcome = "ok" | Failure["_tag"]

const outcomes: ReadonlyArray<CallOutcome> = [
  "ok",
  "postponed",
  "unavailable",
  "rate-limited",
  "unauthorized",
  "refused",
  "not-readable",
  "blocked",
  "code"
]

const callCounters = new Map(
  [
    ...(Object.keys(Operation.operations) as ReadonlyArray<Operation.Operation>),
    "uploadPart" as const,
    "downloadUpo" as const
  ].flatMap((operation) =>
    outcomes.map((outcome) => [
      `${operation} ${outcome}`,
      Metric.counter("govoice_ksef_calls_total", {
        description: "Calls of KSeF, by operation and outcome",
        attributes: { operation, outcome },
        incremental: true
      })
    ])
  )
)

/** Calls, by operation and outcome. */
export const calls = (operation: CallName, outcome: CallOutcome): Metric.Counter<number> =>
  callCounters.get(`${operation} ${outcome}`)!

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })

/** Calls that KSeF answered with 429. */
export const limitHits = counter("govoice_ksef_limit_hits_total", "Calls that KSeF answered with 429")

/** Logins that succeeded. */
export const logins = counter("govoice_ksef_logins_total", "Logins at KSeF that succeeded")

/** Logins that KSeF refused because of the credential. */
export const refusals = counter("govoice_ksef_credentials_refused_total", "Logins that KSeF refused")

/** Documents that were sent in batches. */
export const batchDocuments = counter("govoice_ksef_batch_documents_total", "Documents sent in batches")

/** Sends whose outcome was not known. */
export const unknownSends = counter("govoice_ksef_unknown_sends_total", "Sends to KSeF whose outcome was not known")

/** Whether the circuit breaker is open: 1, or 0. */
export const breakerOpen = Metric.gauge("govoice_ksef_breaker_open", {
  description: "Whether calls of KSeF are stopped because they failed in a row"
})

/** Lanes that this process holds. */
export const lanes = Metric.gauge("govoice_ksef_lanes", { description: "Lanes leased by this process" })

/** Live invoices that wait to be sent. */
export const waiting = Metric.gauge("govoice_ksef_waiting", {
  description: "Live invoices that wait to be sent to KSeF"
})

/** For how long the oldest of them has been due whose organization has a credential that KSeF accepted. */
export const oldestUnsentSeconds = Metric.gauge("govoice_ksef_oldest_unsent_seconds", {
  description: "Age of the oldest live invoice that is due to be sent to KSeF, with a credential that KSeF accepted"
})

/** The same of those that wait for their owners to store a credential, or for KSeF to accept it. */
export const unsentWithoutCredentialSeconds = Metric.gauge("govoice_ksef_unsent_without_credential_seconds", {
  description: "Age of the oldest live invoice that is due to be sent to KSeF, without a credential that KSeF accepted"
})

/** For how long the oldest invoice waits that was sent and has no verdict. */
export const pendingSecondsMax = Metric.gauge("govoice_ksef_pending_seconds_max", {
  description: "Age of the oldest submission to KSeF that has no verdict"
})

/** Live invoices that were issued offline and were not sent by their last day. */
export const offlineOverdue = Metric.gauge("govoice_offline_overdue", {
  description: "Live invoices issued offline that were not sent to KSeF by their last day"
})

/** Metrics that are exported with the value 0 from the start: see `EngineMetrics.fromStart`. */
export const fromStart = (): ReadonlyArray<Metric.Metric<number, unknown>> => [
  ...callCounters.values(),
  batchDocuments,
  breakerOpen,
  limitHits,
  logins,
  refusals,
  unknownSends
]
