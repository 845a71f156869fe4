/** The last failures of a process, by what failed, for a day each. */

const keptMs = 24 * 3_600_000

/** Keeps the last failure of each key, of this process alone. It is evicted after a day without another. */
export class RecentFailures<Failure> {
  // In the order of their times.
  readonly #entries = new Map<string, { readonly failure: Failure; readonly at: number }>()

  /** Returns the last failure, unless it is too old. */
  get(key: string, now: number): Failure | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || entry.at + keptMs <= now ? undefined : entry.failure
  }

  /** Replaces the last failure, and evicts those that are too old. */
  set(key: string, failure: Failure, now: number): void {
    this.#entries.delete(key)
    this.#entries.set(key, { failure, at: now })
    for (const [other, { at }] of this.#entries) {
      if (at + keptMs > now) return
      this.#entries.delete(other)
    }
  }

  /** Forgets the failures of a key. */
  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** How many keys are kept. */
  get size(): number {
    return this.#entries.size
  }
}
