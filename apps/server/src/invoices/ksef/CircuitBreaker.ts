/**
 * The circuit breaker of a process: calls stop until a probe succeeds.
 *
 * It opens after failures in a row over all lanes, and by what concerns all lanes: requests that are malformed, session keys
 * that cannot be read, and blocks of several taxpayers. Other refusals are no failures: the national system is there.
 */
import * as MonotonicTime from "../../observability/MonotonicTime.ts"

const failuresToOpen = 10
const withinMs = 60_000
const openMs = { first: 15_000, longest: 300_000 }

/** Malformed requests within an hour, unreadable session keys in a row, and blocked lanes in a row that open it. */
const toOpen = { defects: 3, unreadableKeys: 2, blockedLanes: 3 }
const defectsWithinMs = 3_600_000

/** How soon an open breaker is looked at again whose probe is due. */
const probeMs = 1000

/** The state of a breaker. */
export interface BreakerState {
  /** When each of the last failures in a row was. */
  readonly failedAt: ReadonlyArray<number>
  /** Until when no call is made; 0 while closed. */
  readonly openUntil: number
  /** How often it was opened since a probe last succeeded. */
  readonly openings: number
  /** When requests were refused as malformed, within the last hour. */
  readonly defectsAt: ReadonlyArray<number>
  /** Sessions in a row whose key the national system could not read. */
  readonly unreadableKeys: number
  /** Lanes that were blocked since a call last succeeded. */
  readonly blockedLanes: ReadonlyArray<string>
}

export const closed: BreakerState = {
  failedAt: [],
  openUntil: 0,
  openings: 0,
  defectsAt: [],
  unreadableKeys: 0,
  blockedLanes: []
}

export const isOpen = ({ openings }: BreakerState): boolean => openings > 0

/** Returns the state that an error opens which concerns all lanes. `notBefore` is when KSeF asked to be called again. */
const open = (state: BreakerState, now: number, notBefore = 0): BreakerState => ({
  ...state,
  failedAt: [],
  openUntil: Math.max(now + Math.min(openMs.first * 2 ** state.openings, openMs.longest), notBefore),
  openings: state.openings + 1
})

/** Returns the state after a failure. While it is open, only the probe counts: other calls began before. */
export const failed = (state: BreakerState, now: number, isProbe = false, notBefore = 0): BreakerState => {
  if (isOpen(state)) return isProbe ? open(state, now, notBefore) : state
  const failedAt = [...state.failedAt, now].slice(-failuresToOpen)
  const isOver = failedAt.length === failuresToOpen && now - failedAt[0]! <= withinMs
  return isOver ? open(state, now, notBefore) : { ...state, failedAt }
}

/** Returns the state after a call that was answered. While it is open, only the probe counts. */
export const succeeded = (state: BreakerState, isProbe = false): BreakerState => {
  if (isOpen(state) && !isProbe) return state
  return { ...state, failedAt: [], openUntil: 0, openings: 0, blockedLanes: [] }
}

/** Returns the state after a request that was refused as malformed. */
export const defect = (state: BreakerState, now: number): BreakerState => {
  const defectsAt = [...state.defectsAt.filter((at) => at > now - defectsWithinMs), now].slice(-toOpen.defects)
  const next = { ...state, defectsAt }
  return defectsAt.length === toOpen.defects && !isOpen(state) ? open(next, now) : next
}

/** Returns the state after a session whose key the national system could not read. */
export const unreadableKey = (state: BreakerState, now: number): BreakerState => {
  const next = { ...state, unreadableKeys: state.unreadableKeys + 1 }
  return next.unreadableKeys >= toOpen.unreadableKeys && !isOpen(state) ? open(next, now) : next
}

/** Returns the state after a session whose key was read. */
export const readableKey = (state: BreakerState): BreakerState => ({ ...state, unreadableKeys: 0 })

/** Returns the state after a call that was blocked without a reason. */
export const blocked = (state: BreakerState, context: string, now: number): BreakerState => {
  const blockedLanes = [...state.blockedLanes.filter((other) => other !== context), context]
  const next = { ...state, blockedLanes }
  return blockedLanes.length >= toOpen.blockedLanes && !isOpen(state) ? open({ ...next, blockedLanes: [] }, now) : next
}

/** Returns the state after a step of the clock: what was to pass has still to pass. */
export const stepped = (state: BreakerState, step: number): BreakerState => ({
  ...state,
  failedAt: state.failedAt.map((at) => at + step),
  openUntil: isOpen(state) ? state.openUntil + step : 0,
  defectsAt: state.defectsAt.map((at) => at + step)
})

/** Returns the time at which calls may be made: 0 while closed. The probe is made once the time is over. */
export const waitUntil = (state: BreakerState, now: number): number =>
  isOpen(state) ? Math.max(state.openUntil, now + probeMs) : 0

/** A breaker that is shared by the lanes of a process. */
export class CircuitBreaker {
  #state = closed
  readonly #stepOf = MonotonicTime.makeSteps()

  get state(): BreakerState {
    return this.#state
  }

  get isOpen(): boolean {
    return isOpen(this.#state)
  }

  /** Moves all times with the clock, if it was stepped. */
  follow(now: number, monotonic: number): void {
    const step = this.#stepOf(now, monotonic)
    if (step !== 0) this.#state = stepped(this.#state, step)
  }

  waitUntil(now: number): number {
    return waitUntil(this.#state, now)
  }

  failed(now: number, isProbe: boolean, notBefore: number): void {
    this.#state = failed(this.#state, now, isProbe, notBefore)
  }

  succeeded(isProbe: boolean): void {
    this.#state = succeeded(this.#state, isProbe)
  }

  defect(now: number): void {
    this.#state = defect(this.#state, now)
  }

  unreadableKey(now: number): void {
    this.#state = unreadableKey(this.#state, now)
  }

  readableKey(): void {
    this.#state = readableKey(this.#state)
  }

  blocked(context: string, now: number): void {
    this.#state = blocked(this.#state, context, now)
  }
}
