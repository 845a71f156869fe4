/**
 * The metrics of the engine.
 *
 * No label contains an identifier, a host or any value from outside, so the number of series is fixed. Times are in
 * seconds.
 */
import type { DeliveryState, InvoiceState, Mode } from "@govoice/core"
import { Effect, Metric } from "effect"

/** The queues of work. */
export const workQueues = ["invoices", "lanes", "deliveries"] as const

/** A queue of work. */
export type WorkQueue = (typeof workQueues)[number]

const milliseconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const counters: Array<Metric.Counter<number>> = []

const counter = <Label extends string>(
  name: string,
  description: string,
  label: string,
  values: ReadonlyArray<Label>,
  others: Readonly<Record<string, string>> = {}
) => {
  const metrics = new Map(
    values.map((value) => [
      value,
      Metric.counter(name, { description, attributes: { ...others, [label]: value }, incremental: true })
    ])
  )
  counters.push(...metrics.values())
  return (value: Label): Metric.Counter<number> => metrics.get(value)!
}

/** Deliveries completed, by status. */
export const deliveriesCompleted = counter<DeliveryState.Status>(
  "govoice_deliveries_completed_total",
  "Deliveries completed, by status",
  "status",
  ["pending", "delivering", "succeeded", "retrying", "failed", "endpoint_disabled"]
)

/** Documents checked at submission, by result: `skipped` where a check was not possible and the document passed on. */
export const documentChecks = counter<"valid" | "invalid" | "skipped">(
  "govoice_document_checks_total",
  "Documents checked at submission, by result",
  "result",
  ["valid", "invalid", "skipped"]
)

const attemptLabels = [
  "2xx",
  "3xx",
  "429",
  "4xx",
  "5xx",
  "failed_timeout",
  "failed_dns",
  "failed_connect",
  "failed_tls",
  "failed_reset",
  "failed_protocol",
  "blocked",
  "endpoint_disabled",
  "secret_unavailable",
  "lease_too_short",
  "process_unavailable",
  "invalid_request",
  "sender_failed",
  "stopped"
] as const

/** The outcome of an attempt as a label: the class of the status, or why there is none. */
export type AttemptLabel = (typeof attemptLabels)[number]

/** Attempts, by outcome. */
export const attempts = counter<AttemptLabel>(
  "govoice_delivery_attempts_total",
  "Delivery attempts, by outcome",
  "outcome",
  attemptLabels
)

/** The duration of attempts that sent a request. */
export const attemptDuration = Metric.histogram("govoice_delivery_attempt_duration_seconds", {
  description: "Duration of delivery attempts",
  boundaries: milliseconds
})

/** The time from becoming available to the attempt. */
export const lagSeconds = Metric.histogram("govoice_delivery_lag_seconds", {
  description: "Time from becoming available to the attempt",
  boundaries: [...milliseconds, 30, 60, 300, 1800]
})

/** Deliveries in flight in this process. */
export const inFlight = Metric.gauge("govoice_deliveries_in_flight", {
  description: "Deliveries in flight in this process"
})

/** The slots of this process. */
export const inFlightMax = Metric.gauge("govoice_deliveries_in_flight_max", {
  description: "Slots of this process for deliveries in flight"
})

const transitionsOf = (mode: Mode.Mode) =>
  counter<InvoiceState.Status>(
    "govoice_invoice_transitions_total",
    "Invoice transitions, by mode and new status",
    "status",
    ["queued", "submitting", "retrying", "submitted", "accepted", "rejected", "failed"],
    { mode }
  )

/** Transitions of invoices, by mode and new status. */
export const invoiceTransitions = { live: transitionsOf("live"), test: transitionsOf("test") }

/** Completions discarded because the lease was lost. */
export const staleCompletions = counter<WorkQueue>(
  "govoice_stale_completions_total",
  "Completions discarded because the lease was lost",
  "kind",
  workQueues
)

/** Everything that runs again and again. */
export const loops = [
  ...workQueues,
  "alone",
  "announced_failures",
  "clock",
  "gauges",
  "key_check",
  "maintenance",
  "notices",
  "password_resets",
  "pruner"
] as const

/** A loop. */
export type Loop = (typeof loops)[number]

/** Iterations that failed, by loop. */
export const failedIterations = counter<Loop>(
  "govoice_failed_iterations_total",
  "Iterations of the loops of this process that failed, by loop",
  "loop",
  loops
)

/** Counts an iteration that failed and will be repeated. */
export const countFailedIteration = (loop: Loop): Effect.Effect<void> => Metric.update(failedIterations(loop), 1)

/** Mails to owners, by result. */
export const mails = counter<"sent" | "failed">("govoice_mails_total", "Mails to owners, by result", "result", [
  "sent",
  "failed"
])

/** The kinds of records that the pruner deletes. Events are dropped by the week. */
export const prunedKinds = [
  "weeks",
  "idempotency_records",
  "refresh_tokens",
  "sessions",
  "api_keys",
  "endpoints"
] as const

/** Records that the pruner deleted, by kind. */
export const pruned = counter<(typeof prunedKinds)[number]>(
  "govoice_pruned_records_total",
  "Records deleted because their retention ended, by kind",
  "kind",
  prunedKinds
)

/** When the pruner finished last. */
export const prunedAt = Metric.gauge("govoice_pruned_timestamp_seconds", {
  description: "Time at which the pruner of this process finished last, in seconds since 1970"
})

/** Counts the completion of a delivery, or that it was discarded. */
export const countCompletion = (status: DeliveryState.Status, isWritten: boolean): Effect.Effect<void> =>
  Metric.update(isWritten ? deliveriesCompleted(status) : staleCompletions("deliveries"), 1)

/** Leases of deliveries that expired and were rescued by this process. */
export const leasesExpired = Metric.counter("govoice_leases_expired_total", {
  description: "Deliveries rescued after their lease expired",
  incremental: true
})

const claimDurations = new Map(
  workQueues.map((kind) => [
    kind,
    Metric.histogram("govoice_claim_duration_seconds", {
      description: "Duration of claims",
      attributes: { kind },
      boundaries: milliseconds
    })
  ])
)

/** The duration of claims. */
export const claimDuration = (kind: WorkQueue): Metric.Histogram<number> => claimDurations.get(kind)!

/** Measures how long an effect takes when it succeeds, in seconds. */
export const timed = <A, E, R>(
  metric: Metric.Histogram<number>,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const begun = performance.now()
    return Effect.tap(effect, () => Metric.update(metric, (performance.now() - begun) / 1000))
  })

const gauges = <Label extends string>(
  name: string,
  description: string,
  label: string,
  values: ReadonlyArray<Label>
) => {
  const metrics = new Map(
    values.map((value) => [value, Metric.gauge(name, { description, attributes: { [label]: value } })])
  )
  return (value: Label): Metric.Gauge<number> => metrics.get(value)!
}

/** Submissions that one statement stores. */
export const submissionBatchSize = Metric.histogram("govoice_submission_batch_size", {
  description: "Submissions stored by one statement",
  boundaries: [1, 2, 4, 8, 16, 32, 64]
})

/**
 * Counters, histograms and gauges that are exported with the value 0 from the start: `increase` and `rate` of Prometheus miss
 * the first increment of a series that begins with it.
 */
export const fromStart = (): ReadonlyArray<Metric.Metric<number, unknown>> => [
  ...counters,
  ...claimDurations.values(),
  attemptDuration,
  clockOffset,
  inFlight,
  inFlightMax,
  lagSeconds,
  leasesExpired,
  prunedAt,
  submissionBatchSize
]

/** The queues: unfinished test invoices, available deliveries, scheduled retries. */
export const queues = ["invoices", "deliveries", "retries"] as const

/** A queue. */
export type Queue = (typeof queues)[number]

/** The number of entries of a queue: exact up to a limit, then the estimate of the database. */
export const queueDepth = gauges<Queue>(
  "govoice_queue_depth",
  "Entries of each queue: exact up to 10,000, estimated beyond",
  "queue",
  queues
)

/** The age of the oldest entry of a queue that could be worked on, in seconds; 0 when there is none. */
export const queueOldestSeconds = gauges<Queue>(
  "govoice_queue_oldest_due_seconds",
  "Age of the oldest entry of each queue that is due and could be worked on",
  "queue",
  queues
)

/** The age of the oldest delivery that waits for the concurrency limit of its organization; 0 when there is none. */
export const limitedOldestSeconds = Metric.gauge("govoice_deliveries_limited_oldest_seconds", {
  description: "Age of the oldest due delivery that waits for the concurrency limit of its organization"
})

/** The age of the oldest snapshot of the database that is held open; 0 when there is none. */
export const oldestSnapshotSeconds = Metric.gauge("govoice_database_oldest_snapshot_seconds", {
  description: "Age of the oldest snapshot of the database that a transaction holds open"
})

/** The WAL that the database keeps for the replication slot that is furthest behind; 0 without slots. */
export const retainedWalBytes = Metric.gauge("govoice_database_retained_wal_bytes", {
  description: "WAL that the database keeps for the replication slot that is furthest behind"
})

/** The time of the database minus the time of this process. */
export const clockOffset = Metric.gauge("govoice_clock_offset_seconds", {
  description: "Time of the database minus time of this process"
})
