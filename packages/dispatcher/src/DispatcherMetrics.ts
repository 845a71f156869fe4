/**
 * Metrics of the dispatcher, as Effect metrics.
 *
 * **Details**
 *
 * They are recorded in the `MetricRegistry` that is current where the layer is built, and exported with the other metrics of
 * the program. Several dispatchers add up. No attribute contains a host name, an address or another value that a receiver
 * chooses, so the number of series is fixed.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"
import type { AttemptDiagnostics } from "./Options.ts"

/**
 * Counts attempts that ended, by outcome.
 *
 * @category metrics
 * @since 0.1.0
 */
export const attempts = (outcome: AttemptDiagnostics["outcome"]): Metric.Counter<number> =>
  Metric.counter("govoice_dispatcher_attempts_total", {
    description: "Attempts that ended, by outcome",
    attributes: { outcome },
    incremental: true
  })

/**
 * Measures how long attempts were in a phase, in seconds. Attempts over an open connection have no `connect` and `tls`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const phaseDuration = (phase: "lookup" | "queue" | "connect" | "tls" | "response"): Metric.Histogram<number> =>
  Metric.histogram("govoice_dispatcher_phase_duration_seconds", {
    description: "How long attempts were in each phase, in seconds",
    attributes: { phase },
    boundaries: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
  })

/**
 * Counts TCP connections that were opened. Does not change while connections are used again.
 *
 * @category metrics
 * @since 0.1.0
 */
export const connectionsOpened: Metric.Counter<number> = Metric.counter("govoice_dispatcher_connections_opened_total", {
  description: "TCP connections that were opened",
  incremental: true
})

/**
 * The subjects that `inUse` counts.
 *
 * - `attempts`: attempts in flight.
 * - `waiting`: attempts that wait for a connection.
 * - `connections`: open connections.
 * - `idle_connections`: open connections without an attempt.
 * - `pools`: connection pools, one for each scheme, host, port and address.
 * - `lookups`: host names that are being looked up.
 *
 * @category models
 * @since 0.1.0
 */
export type InUse = "attempts" | "waiting" | "connections" | "idle_connections" | "pools" | "lookups"

/**
 * The present number of attempts, waiting attempts, connections, idle connections, pools and lookups.
 *
 * @category metrics
 * @since 0.1.0
 */
export const inUse = (kind: InUse): Metric.Gauge<number> =>
  Metric.gauge("govoice_dispatcher_in_use", {
    description: "Attempts, waiting attempts, connections, idle connections, pools and lookups",
    attributes: { kind }
  })
