/**
 * The circuit breaker of a process: calls stop until a probe succeeds.
 *
 * It opens after failures in a row over all lanes, and by what concerns all lanes: requests that are malformed, session keys
 * that cannot be read, and blocks of several taxpayers. Other refusals are no failures: the national system is there.
 */
import * as MonotonicTime from "../../observability/MonotonicTime.ts"

const failuresToOpen = 10
const withinMs = 60_000
/** From one probe to the next. What waits goes on so soon after an outage, and a probe is one small request of the process. */
const openMs = 15_000

/** Malformed requests within an hour, unreadable session keys in a row, and blocked lanes in a row that open it. */
const toOpen = { defects: 3, unreadableKeys: 2, blockedLanes: 3 }
const defectsWithinMs = 3_600_000

/** How soon an open breaker is looked at again whose probe is due. */
const probeMs = 1000

/** A breaker that is shared by the lanes of a process. */
export class CircuitBreaker {
  /** When each of the last failures in a row was. */
  #failedAt: ReadonlyArray<number> = []
  #openUntil = 0
  #isOpen = false
  /** When requests were refused as malformed, within the last hour. */
  #defectsAt: ReadonlyArray<number> = []
  /** Sessions in a row whose key the national system could not read. */
  #unreadableKeys = 0
  /** Lanes that were blocked since a call last succeeded. */
  readonly #blockedLanes = new Set<string>()
  readonly #stepOf = MonotonicTime.makeSteps()

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Until when no call is made, and from when on the probe is; 0 while closed. */
  get openUntil(): number {
    return this.#openUntil
  }

  /** Returns the time at which calls may be made: 0 while closed. The probe is made once the time is over. */
  waitUntil(now: number): number {
    return this.isOpen ? Math.max(this.#openUntil, now + probeMs) : 0
  }

  /**
   * Counts a failure. While the breaker is open, only the probe counts: other calls began before. `notBefore` is when KSeF asked to be
   * called again.
   */
  failed(now: number, isProbe: boolean, notBefore: number): void {
    if (this.isOpen) {
      if (isProbe) this.#open(now, notBefore)
      return
    }
    this.#failedAt = [...this.#failedAt, now].slice(-failuresToOpen)
    if (this.#failedAt.length === failuresToOpen && now - this.#failedAt[0]! <= withinMs) this.#open(now, notBefore)
  }

  /** Counts a call that was answered. While the breaker is open, only the probe counts. */
  succeeded(isProbe: boolean): void {
    if (this.isOpen && !isProbe) return
    this.#failedAt = []
    this.#openUntil = 0
    this.#isOpen = false
    this.#blockedLanes.clear()
  }

  /** Counts a request that was refused as malformed. */
  defect(now: number): void {
    const recent = this.#defectsAt.filter((at) => at > now - defectsWithinMs)
    this.#defectsAt = [...recent, now].slice(-toOpen.defects)
    if (this.#defectsAt.length === toOpen.defects && !this.isOpen) this.#open(now)
  }

  /** Counts a session whose key the national system could not read. */
  unreadableKey(now: number): void {
    this.#unreadableKeys++
    if (this.#unreadableKeys >= toOpen.unreadableKeys && !this.isOpen) this.#open(now)
  }

  /** Counts a session whose key was read. */
  readableKey(): void {
    this.#unreadableKeys = 0
  }

  /** Counts a call that was blocked without a reason. */
  blocked(context: string, now: number): void {
    this.#blockedLanes.add(context)
    if (this.#blockedLanes.size < toOpen.blockedLanes || this.isOpen) return
    this.#blockedLanes.clear()
    this.#open(now)
  }

  /** Moves all times with the clock, if it was stepped: what was to pass has still to pass. */
  follow(now: number, monotonic: number): void {
    const step = this.#stepOf(now, monotonic)
    if (step === 0) return
    this.#failedAt = this.#failedAt.map((at) => at + step)
    this.#defectsAt = this.#defectsAt.map((at) => at + step)
    if (this.isOpen) this.#openUntil += step
  }

  #open(now: number, notBefore = 0): void {
    this.#failedAt = []
    this.#openUntil = Math.max(now + openMs, notBefore)
    this.#isOpen = true
  }
}
