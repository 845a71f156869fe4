/**
 * The circuit breaker of a process: after failures in a row over all lanes, calls stop until a probe succeeds.
 *
 * Answers of the national system that refuse something are no failures: it is there.
 */
const failuresToOpen = 10
const withinMs = 60_000
const openMs = { first: 15_000, longest: 300_000 }

/** The state of a breaker. */
export interface BreakerState {
  /** When each of the last failures in a row was. */
  readonly failedAt: ReadonlyArray<number>
  /** Until when no call is made; 0 while closed. */
  readonly openUntil: number
  /** How often it was opened since a call last succeeded. */
  readonly openings: number
}

export const closed: BreakerState = { failedAt: [], openUntil: 0, openings: 0 }

/** Returns the state after a failure. */
export const failed = (state: BreakerState, now: number): BreakerState => {
  const failedAt = [...state.failedAt, now].slice(-failuresToOpen)
  const isOver = failedAt.length === failuresToOpen && now - failedAt[0]! <= withinMs
  // After a probe that failed, at once.
  if (!isOver && state.openings === 0) return { ...state, failedAt }
  return open(state, now)
}

/** Returns the state that an error opens which concerns all lanes. */
export const open = (state: BreakerState, now: number): BreakerState => ({
  failedAt: [],
  openUntil: now + Math.min(openMs.first * 2 ** state.openings, openMs.longest),
  openings: state.openings + 1
})

/** Tells whether calls may be made. */
export const allows = (state: BreakerState, now: number): boolean => state.openUntil === 0 || now >= state.openUntil

/** A breaker that is shared by the lanes of a process. */
export class Breaker {
  #state = closed

  get state(): BreakerState {
    return this.#state
  }

  get isOpen(): boolean {
    return this.#state.openings > 0
  }

  failed(now: number): void {
    // Calls that were in flight when it opened do not open it again.
    if (!this.isOpen || allows(this.#state, now)) this.#state = failed(this.#state, now)
  }

  open(now: number): void {
    this.#state = open(this.#state, now)
  }

  succeeded(): void {
    this.#state = closed
  }
}
