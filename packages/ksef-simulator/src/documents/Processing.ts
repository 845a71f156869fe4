/**
 * Work that goes on after an answer: judging documents, reading batches. It gives way to requests every few milliseconds,
 * and what goes wrong in it ends nothing else.
 */
import { setImmediate as nextTurn } from "node:timers/promises"

const sliceMs = 12

/** Runs work in the background. */
export class Processing {
  readonly #report: (error: unknown) => void
  #queue: Array<() => void | Promise<void>> = []
  #running: Promise<void> | undefined
  readonly #others = new Set<Promise<void>>()
  #since = performance.now()
  #closed = false

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** Does small work, in the order in which it is given. */
  enqueue(work: () => void | Promise<void>): void {
    this.#queue.push(work)
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined
    })
  }

  /** Does long work beside the rest. It calls `giveWay` between its steps. */
  start(work: () => Promise<void>): void {
    const running = this.#guarded(work).finally(() => this.#others.delete(running))
    this.#others.add(running)
  }

  /** Lets requests through, if it has been a while. Returns whether to go on. */
  async giveWay(): Promise<boolean> {
    if (performance.now() - this.#since > sliceMs) {
      await nextTurn()
      this.#since = performance.now()
    }
    return !this.#closed
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined || this.#others.size > 0) await Promise.all([this.#running, ...this.#others])
  }

  /** Ends what is under way at its next step. */
  async close(): Promise<void> {
    this.#closed = true
    this.#queue = []
    await this.idle()
  }

  async #drain(): Promise<void> {
    await nextTurn()
    this.#since = performance.now()
    for (let work = this.#queue.shift(); work !== undefined; work = this.#queue.shift()) {
      await this.#guarded(work)
      await this.giveWay()
    }
  }

  async #guarded(work: () => void | Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#report(error)
    }
  }
}
