/**
 * The round of a worker over the endpoints that have something available: where the next claim begins, and how far it looks.
 *
 * Claims serve endpoints in turn: each begins after the endpoint of the claim before, and wraps around at the end. Slow endpoints
 * share fewer slots, so that the turn often passes them while none is free: they have a turn of their own.
 *
 * Completed deliveries leave entries at the front of the index until vacuum, or for as long as a snapshot is held. A round begins at
 * the oldest due time that the one before has seen; one round in a second begins a minute earlier, because a delivery becomes
 * visible some time after it was due; and one in a minute at the very beginning. What became due in the last few seconds is always read.
 */
import type { ClaimParameters, ClaimSummary } from "./claim.sql.ts"

// A claim visits as many endpoints as the one before would have needed to fill its slots. A visit takes some microseconds.
const minEndpoints = 16
const maxEndpoints = 250

const beginning = new Date(0)
const recentMs = 5000
const marginMs = 60_000
const marginEveryMs = 1000
const beginningEveryMs = 60_000

/** The members of a delivery that decide whose turn is next. */
interface Served {
  readonly endpoint_id: string
  readonly endpoint_slow: boolean
}

const lastEndpoint = (deliveries: ReadonlyArray<Served>): string =>
  deliveries.reduce((max, { endpoint_id: id }) => (id > max ? id : max), "")

/** The place of a worker in its round. */
export class ClaimRound {
  #after = ""
  #afterSlow = ""
  /** Whether this round has found no slow endpoint after `#afterSlow`, with slots for one all the time. */
  #isEndOfSlow = true
  #endpoints = minEndpoints
  #since = beginning
  /** The oldest due time that this round has seen. */
  #oldest = Infinity
  #marginAt = -Infinity
  #beginningAt = -Infinity

  /** Whether the next claim begins a round. */
  get isAtBeginning(): boolean {
    return this.#after === ""
  }

  /** Where the next claim begins, at a monotonic time in milliseconds. */
  next(now: number): Pick<ClaimParameters, "after" | "afterSlow" | "endpoints" | "since"> {
    if (this.isAtBeginning) this.#begin(now)
    return { after: this.#after, afterSlow: this.#afterSlow, endpoints: this.#endpoints, since: this.#since }
  }

  #begin(now: number): void {
    if (now - this.#beginningAt >= beginningEveryMs) {
      this.#beginningAt = this.#marginAt = now
      this.#since = beginning
    } else if (now - this.#marginAt >= marginEveryMs) {
      this.#marginAt = now
      this.#since = new Date(Math.max(0, this.#since.getTime() - marginMs))
    }
    this.#oldest = Infinity
    this.#isEndOfSlow = true
  }

  /**
   * Goes on after what a claim has served. Returns whether the claim has filled its slots, and whether the round has ended.
   */
  visited(
    { limit, slow }: Pick<ClaimParameters, "limit" | "slow">,
    {
      candidates,
      last,
      now,
      oldest,
      scanned
    }: Pick<ClaimSummary, "candidates" | "last" | "now" | "oldest" | "scanned">,
    deliveries: ReadonlyArray<Served>
  ): { readonly isEnd: boolean; readonly isFull: boolean } {
    const isFull = deliveries.length >= limit
    const isEnd = scanned < this.#endpoints && !isFull
    if (oldest !== null) this.#oldest = Math.min(this.#oldest, oldest.getTime())
    if (isEnd) this.#since = new Date(Math.max(0, Math.min(this.#oldest, now.getTime() - recentMs)))
    // A full claim has left out some of those it visited. Before the last that it served, they have more in flight, and wait for a round.
    this.#after = isEnd ? "" : isFull ? lastEndpoint(deliveries) : (last ?? "")
    const servedSlow = lastEndpoint(deliveries.filter((one) => one.endpoint_slow))
    this.#isEndOfSlow &&= slow > 0 && servedSlow === ""
    const isSlowWrapped = isEnd && this.#isEndOfSlow && this.#afterSlow !== ""
    if (isSlowWrapped) this.#afterSlow = ""
    else if (servedSlow !== "") this.#afterSlow = servedSlow
    const enough = Math.ceil((limit * scanned) / Math.max(1, candidates))
    // The turn of slow endpoints passes none of those that the visit contains.
    this.#endpoints =
      this.#afterSlow === ""
        ? Math.min(maxEndpoints, Math.max(1, enough, Math.min(minEndpoints, 2 * limit)))
        : maxEndpoints
    return { isEnd: isEnd && !isSlowWrapped, isFull }
  }
}
