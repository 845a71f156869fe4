/** The metrics of one dispatcher, each series made once. */
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

const kinds = {
  attempts: DispatcherMetrics.open("attempts"),
  waiting: DispatcherMetrics.open("waiting"),
  connections: DispatcherMetrics.open("connections"),
  targets: DispatcherMetrics.open("targets"),
  lookups: DispatcherMetrics.open("lookups")
}

export class Instruments {
  readonly #context: Context.Context<never>
  readonly #outcomes = new Map<Label, Metric.Counter<number>>()

  constructor(context: Context.Context<never>) {
    this.#context = context
  }

  ended(label: Label): void {
    let counter = this.#outcomes.get(label)
    if (counter === undefined) {
      counter = DispatcherMetrics.attempts(label)
      this.#outcomes.set(label, counter)
    }
    counter.updateUnsafe(1, this.#context)
  }

  took(phase: keyof typeof phases, milliseconds: number): void {
    phases[phase].updateUnsafe(milliseconds, this.#context)
  }

  opened(): void {
    DispatcherMetrics.connectionsOpened.updateUnsafe(1, this.#context)
  }

  /** Moves a gauge by `change`, so that several dispatchers add up. */
  move(kind: keyof typeof kinds, change: 1 | -1): void {
    kinds[kind].modifyUnsafe(change, this.#context)
  }
}
