/** Notices a proxy that the settings do not name: behind it, all clients share one address and its limits. */
import { Effect, Metric, type Scope } from "effect"
import { observeGauge } from "../../observability/observedMetrics.ts"

/** Of how many requests most have to come with `X-Forwarded-For` from an address that is not trusted. */
export const sample = 100

/** The name of the metric that tells it to `govoice doctor`. */
export const metricName = "govoice_unnamed_proxy"

const gauge = Metric.gauge(metricName, {
  description: "1 since most requests came with X-Forwarded-For from an address that is not trusted, 0 before"
})

/** The address of a connection that has ended is not known. Whether it was a proxy cannot be told. */
type Note = (peer: string | undefined, headers: Readonly<Record<string, string | undefined>>) => Effect.Effect<void>

/** Makes the function that notes a request from an address that is not a trusted proxy. It logs one warning at most. */
export const make: Effect.Effect<Note, never, Scope.Scope> = Effect.gen(function* () {
  let isDone = false
  let all = 0
  let forwarded = 0
  yield* observeGauge(gauge, () => (isDone ? 1 : 0))

  return (peer, headers) => {
    if (isDone || peer === undefined) return Effect.void
    all++
    if (headers["x-forwarded-for"] !== undefined) forwarded++
    if (all < sample) return Effect.void
    const isMost = 2 * forwarded > all
    all = 0
    forwarded = 0
    if (!isMost) return Effect.void
    isDone = true
    return Effect.annotateLogs(
      Effect.logWarning(
        "Most requests have X-Forwarded-For from an address that GOVOICE_TRUSTED_PROXIES does not name: all clients behind it share its limits. If it is a proxy, set GOVOICE_TRUSTED_PROXIES to its network."
      ),
      { peer }
    )
  }
})
