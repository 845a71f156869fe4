/** The metrics of one dispatcher. Each series is created once. */
import type * as Context from "effect/Context"
import type * as Metric from "effect/Metric"
import * as DispatcherMetrics from "../DispatcherMetrics.ts"
import type { AttemptDiagnostics } from "../Options.ts"

type Label = AttemptDiagnostics["outcome"]

const phases = {
  lookup: DispatcherMetrics.phaseDuration("lookup"),
  queue: DispatcherMetrics.phaseDuration("queue"),
  connect: DispatcherMetrics.phaseDuration("connect"),
  tls: DispatcherMetrics.phaseDuration("tls"),
  response: DispatcherMetrics.phaseDuration("response")
}

const gauges = {
  attempts: DispatcherMetrics.inUse("attempts"),
  waiting: DispatcherMetrics.inUse("waiting"),
  connections: DispatcherMetrics.inUse("connections"),
  idle_connections: DispatcherMetrics.inUse("idle_connections"),
  pools: DispatcherMetrics.inUse("pools"),
  lookups: DispatcherMetrics.inUse("lookups")
}

export class Instruments {
  readonly #context: Context.Context<never>
  readonly #outcomes = new Map<Label, Metric.Counter<number>>()

  constructor(context: Context.Context<never>) {
    this.#context = context
  }

  countAttempt(label: Label): void {
    let counter = this.#outcomes.get(label)
    if (counter === undefined) {
      counter = DispatcherMetrics.attempts(label)
      this.#outcomes.set(label, counter)
    }
    counter.updateUnsafe(1, this.#context)
  }

  observePhase(phase: keyof typeof phases, milliseconds: number): void {
    phases[phase].updateUnsafe(milliseconds / 1_000, this.#context)
  }

  countConnection(): void {
    DispatcherMetrics.connectionsOpened.updateUnsafe(1, this.#context)
  }

  /** Changes a gauge by one, so that several dispatchers add up. */
  adjust(gauge: keyof typeof gauges, change: 1 | -1): void {
    gauges[gauge].modifyUnsafe(change, this.#context)
  }
}
