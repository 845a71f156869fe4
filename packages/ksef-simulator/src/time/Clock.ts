/**
 * The time of the simulator. Everything that depends on time asks this clock when it is asked itself: nothing waits on a
 * timer, so a clock that is moved has its effect at once.
 */

/** The clock of a running simulator. */
export interface SimulatorClock {
  /** Returns milliseconds since the epoch. */
  readonly now: () => number
  /** Moves the clock forward by milliseconds. It never goes back. */
  readonly advance: (ms: number) => void
}

/** A clock over a source of time, with a factor by which every duration is divided. */
export class Clock implements SimulatorClock {
  readonly #source: () => number
  readonly #speed: number
  readonly #onAdvance: (offset: number) => void
  #offset: number

  constructor(options: {
    readonly source: () => number
    readonly speed: number
    readonly offset: number
    readonly onAdvance: (offset: number) => void
  }) {
    this.#source = options.source
    this.#speed = options.speed
    this.#offset = options.offset
    this.#onAdvance = options.onAdvance
  }

  readonly now = (): number => this.#source() + this.#offset

  readonly advance = (ms: number): void => {
    if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`Expected milliseconds from 0 up, got ${ms}`)
    this.#offset += ms
    this.#onAdvance(this.#offset)
  }

  /** Returns a duration of KSeF as the simulator keeps it: lifetimes and windows shrink by the same factor. */
  scaled(ms: number): number {
    return ms / this.#speed
  }
}

/** Durations in milliseconds. */
export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour
