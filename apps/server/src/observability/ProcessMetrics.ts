/**
 * The metrics of the process and of Node.js, under the names that Prometheus clients give them. Times are in seconds.
 *
 * Event loop delay is a histogram, so that it can be aggregated over processes.
 */
import { Effect, Layer, Metric } from "effect"
import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks"
import { observeCounter, observeGauge } from "./observedMetrics.ts"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

const cpuSeconds = Metric.counter("process_cpu_seconds_total", {
  description: "CPU time of the process, user and system",
  incremental: true
})
const startTime = gauge("process_start_time_seconds", "Start of the process in seconds since 1970")
const residentMemory = gauge("process_resident_memory_bytes", "Resident memory of the process")
const heapUsed = gauge("nodejs_heap_size_used_bytes", "Heap of V8 in use")
const heapTotal = gauge("nodejs_heap_size_total_bytes", "Heap of V8")
const externalMemory = gauge("nodejs_external_memory_bytes", "Memory of buffers and other objects outside the heap")

/** The lateness of a timer: how long events wait for the event loop. */
const eventLoopDelay = Metric.histogram("nodejs_eventloop_delay_seconds", {
  description: "Delay of the event loop",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
})

const gcKinds = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: "major",
  [constants.NODE_PERFORMANCE_GC_MINOR]: "minor",
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: "incremental",
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: "weakcb"
} as const

const gcDurations = new Map(
  Object.entries(gcKinds).map(([kind, name]) => [
    Number(kind),
    Metric.histogram("nodejs_gc_duration_seconds", {
      description: "Duration of garbage collections, by kind",
      attributes: { kind: name },
      boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
    })
  ])
)

const delaySampleMs = 50

const measureDelay = Effect.flatMap(Effect.context(), (context) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      let previous = performance.now()
      return setInterval(() => {
        const now = performance.now()
        eventLoopDelay.updateUnsafe(Math.max(0, now - previous - delaySampleMs) / 1000, context)
        previous = now
      }, delaySampleMs).unref()
    }),
    (timer) => Effect.sync(() => clearInterval(timer))
  )
)

const measureGarbageCollection = Effect.flatMap(Effect.context(), (context) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      // Read once, so that each kind is exported from the start.
      for (const duration of gcDurations.values()) duration.valueUnsafe(context)
      const observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const { detail, duration } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } }
          gcDurations.get(detail.kind)?.updateUnsafe(duration / 1000, context)
        }
      })
      observer.observe({ entryTypes: ["gc"] })
      return observer
    }),
    (observer) => Effect.sync(() => observer.disconnect())
  )
)

/** Layer that measures the process. */
export const layer: Layer.Layer<never> = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* observeCounter(cpuSeconds, () => {
      const { system, user } = process.cpuUsage()
      return (user + system) / 1e6
    })
    yield* observeGauge(startTime, () => performance.timeOrigin / 1000)
    yield* observeGauge(residentMemory, () => process.memoryUsage.rss())
    yield* observeGauge(heapUsed, () => process.memoryUsage().heapUsed)
    yield* observeGauge(heapTotal, () => process.memoryUsage().heapTotal)
    yield* observeGauge(externalMemory, () => process.memoryUsage().external)
    yield* measureDelay
    yield* measureGarbageCollection
  })
)
