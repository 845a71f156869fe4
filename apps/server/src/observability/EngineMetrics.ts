/**
 * What the engine counts and measures.
 *
 * No label holds an identifier, a host or anything else that strangers choose: the number of series is fixed. Times are
 * in seconds, as Prometheus has it.
 *
 * @since 0.1.0
 */
import type { DeliveryState, DeliveryVerdict, InvoiceState } from "@govoice/core"
import { Effect, Metric } from "effect"

/**
 * What workers take from queues.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "invoices" | "deliveries"

const milliseconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const counter = <Label extends string>(
  name: string,
  description: string,
  label: string,
  values: ReadonlyArray<Label>
) => {
  const metrics = new Map(
    values.map((value) => [
      value,
      Metric.counter(name, { description, attributes: { [label]: value }, incremental: true })
    ])
  )
  return (value: Label): Metric.Counter<number> => metrics.get(value)!
}

const kinds: ReadonlyArray<Kind> = ["invoices", "deliveries"]

/**
 * Deliveries that came to a status other than `delivering`, by that status.
 *
 * @category metrics
 * @since 0.1.0
 */
export const deliveriesSettled = counter<DeliveryState.Status>(
  "govoice_deliveries_settled_total",
  "Deliveries that a worker let go of, by the status they came to",
  "status",
  ["pending", "delivering", "succeeded", "retrying", "failed", "endpoint_disabled"]
)

/**
 * How an attempt ended, in few words.
 *
 * @category models
 * @since 0.1.0
 */
export type AttemptOutcome =
  | Exclude<DeliveryVerdict.AttemptEnd["_tag"], "answered">
  | "2xx"
  | "3xx"
  | "429"
  | "4xx"
  | "5xx"

/**
 * Attempts that ended, by how.
 *
 * @category metrics
 * @since 0.1.0
 */
export const attempts = counter<AttemptOutcome>(
  "govoice_delivery_attempts_total",
  "Attempts at deliveries that ended, by how",
  "outcome",
  ["2xx", "3xx", "429", "4xx", "5xx", "timed_out", "unconnected", "interrupted", "blocked", "disabled", "unprepared"]
)

/**
 * The name of an outcome in `attempts`.
 *
 * @category getters
 * @since 0.1.0
 */
export const outcomeOf = (end: DeliveryVerdict.AttemptEnd): AttemptOutcome => {
  if (end._tag !== "answered") return end._tag
  if (end.status === 429) return "429"
  return (["2xx", "3xx", "4xx"] as const)[Math.floor(end.status / 100) - 2] ?? "5xx"
}

/**
 * How long attempts took that sent something.
 *
 * @category metrics
 * @since 0.1.0
 */
export const attemptSeconds = Metric.histogram("govoice_delivery_attempt_seconds", {
  description: "How long attempts at deliveries took",
  boundaries: milliseconds
})

/**
 * How long deliveries were due before a worker took them.
 *
 * @category metrics
 * @since 0.1.0
 */
export const lagSeconds = Metric.histogram("govoice_delivery_lag_seconds", {
  description: "How long deliveries were due before a worker took them",
  boundaries: [...milliseconds, 30, 60, 300, 1800]
})

/**
 * Deliveries that this process has in flight.
 *
 * @category metrics
 * @since 0.1.0
 */
export const inFlight = Metric.gauge("govoice_deliveries_in_flight", {
  description: "Deliveries that this process has in flight"
})

/**
 * Invoices that were moved on, by the status they came to.
 *
 * @category metrics
 * @since 0.1.0
 */
export const invoiceMoves = counter<InvoiceState.Status>(
  "govoice_invoice_moves_total",
  "Invoices that a worker let go of, by the status they came to",
  "status",
  ["queued", "submitting", "retrying", "submitted", "accepted", "rejected", "failed"]
)

/**
 * Results that could not be written, because the lease had run out meanwhile.
 *
 * @category metrics
 * @since 0.1.0
 */
export const leasesLost = counter<Kind>(
  "govoice_leases_lost_total",
  "Results of this process that came too late to be written",
  "kind",
  kinds
)

/**
 * Deliveries whose worker was lost, as this process found.
 *
 * @category metrics
 * @since 0.1.0
 */
export const leasesExpired = Metric.counter("govoice_leases_expired_total", {
  description: "Deliveries taken back from workers that let their lease run out",
  incremental: true
})

const claims = new Map(
  kinds.map((kind) => [
    kind,
    Metric.histogram("govoice_claim_seconds", {
      description: "How long claims took",
      attributes: { kind },
      boundaries: milliseconds
    })
  ])
)

/**
 * How long claims took.
 *
 * @category metrics
 * @since 0.1.0
 */
export const claimSeconds = (kind: Kind): Metric.Histogram<number> => claims.get(kind)!

/**
 * Measures how long an effect takes when it succeeds, in seconds.
 *
 * @category combinators
 * @since 0.1.0
 */
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

/**
 * What queues hold: invoices with something left to do, deliveries that can be sent, deliveries that wait for their
 * retry.
 *
 * @category models
 * @since 0.1.0
 */
export type Queue = "invoices" | "deliveries" | "waiting"

const queues: ReadonlyArray<Queue> = ["invoices", "deliveries", "waiting"]

/**
 * How many entries a queue has. Exact up to a bound, then the estimate of the database.
 *
 * @category metrics
 * @since 0.1.0
 */
export const queueDepth = gauges<Queue>(
  "govoice_queue_depth",
  "Entries of each queue: exact up to 10,000, an estimate beyond",
  "queue",
  queues
)

/**
 * For how long the oldest entry of a queue has been due; 0 when none is.
 *
 * @category metrics
 * @since 0.1.0
 */
export const queueOldestSeconds = gauges<Queue>(
  "govoice_queue_oldest_due_seconds",
  "For how long the oldest entry of each queue has been due",
  "queue",
  queues
)
