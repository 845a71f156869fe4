/**
 * What a dispatcher counts and measures, as Effect metrics.
 *
 * **Details**
 *
 * They go to the `MetricRegistry` that is current where the layer is built, so that they are exported with the other
 * metrics of the program. Several dispatchers add up. No attribute holds a host, an address or anything else that
 * strangers choose: the number of series is fixed.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"
import type { AttemptDiagnostics } from "./Options.ts"

/**
 * Attempts that ended in one way.
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
 * Milliseconds that attempts spent in a phase. Attempts over a connection that is open have no `connect` and `tls`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const phaseDuration = (phase: "lookup" | "queue" | "connect" | "tls" | "response"): Metric.Histogram<number> =>
  Metric.histogram("govoice_dispatcher_phase_milliseconds", {
    description: "How long attempts spent in each phase",
    attributes: { phase },
    boundaries: [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]
  })

/**
 * TCP connections that were opened. Stays where it is while connections are used again.
 *
 * @category metrics
 * @since 0.1.0
 */
export const connectionsOpened: Metric.Counter<number> = Metric.counter("govoice_dispatcher_connections_opened_total", {
  description: "TCP connections that were opened",
  incremental: true
})

/**
 * How many there are now: attempts under way, attempts that wait for a connection, connections, targets with
 * connections, names that are being looked up.
 *
 * @category metrics
 * @since 0.1.0
 */
export const open = (kind: "attempts" | "waiting" | "connections" | "targets" | "lookups"): Metric.Gauge<number> =>
  Metric.gauge("govoice_dispatcher_open", {
    description: "Attempts, waiting attempts, connections, targets and lookups that there are now",
    attributes: { kind }
  })
