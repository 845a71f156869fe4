/** Metrics whose value is read when they are exported. */
import { Effect, Metric, type Scope } from "effect"

const observe = <Input, State>(
  metric: Metric.Metric<Input, State>,
  get: () => State
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Effect.context(), (context) =>
    Effect.acquireRelease(
      Effect.sync(() => Metric.registerUnsafe(metric, context, { get, update: () => {}, modify: () => {} })),
      (registration) => Effect.sync(() => registration.remove())
    )
  )

/** Exports a gauge that `read` returns, until the scope closes. */
export const observeGauge = (
  gauge: Metric.Gauge<number>,
  read: () => number
): Effect.Effect<void, never, Scope.Scope> => observe(gauge, () => ({ value: read() }))

/** Exports a counter that `read` returns, until the scope closes. */
export const observeCounter = (
  counter: Metric.Counter<number>,
  read: () => number
): Effect.Effect<void, never, Scope.Scope> => observe(counter, () => ({ count: read(), incremental: true }))
