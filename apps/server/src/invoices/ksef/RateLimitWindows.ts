/**
 * Sliding windows of the rate limits of a taxpayer, counted on our side, so that a call is made only within its limits.
 *
 * A call occupies the windows of its group from its start until a window's length and a margin after its end: neither
 * latency nor a clock that differs can put it into a fuller window there. Calls are kept across restarts. Their times move with a clock that
 * is stepped, as when the database fails over to a machine with another clock: KSeF counts the time that has passed.
 */
import { Operation } from "@govoice/ksef/protocol"
import * as MonotonicTime from "../../observability/MonotonicTime.ts"
import type { StorageCall, WaitCode } from "./CallFailure.ts"

/**
 * A group of operations that share limits, or what has none but may have to wait: a call of the storage, and the step that sends,
 * after failures.
 */
export type Group = Operation.RateLimitGroup | StorageCall | "sending"

const unlimited: Operation.RateLimit = { perSecond: undefined, perMinute: undefined, perHour: undefined }
const defaultLimits: Readonly<Record<Group, Operation.RateLimit>> = {
  ...Operation.defaultRateLimits,
  sending: unlimited,
  uploadPart: unlimited,
  downloadUpo: unlimited
}

/** Covers clocks that drift apart while a window is open. */
const marginMs = 1500

const periods = [
  { limit: "perSecond", lengthMs: 1000 },
  { limit: "perMinute", lengthMs: 60_000 },
  { limit: "perHour", lengthMs: 3_600_000 }
] as const

const longestMs = 3_600_000 + marginMs

/** Calls of a group: when those that have ended did, in order, and how many are in flight. */
export interface Calls {
  readonly endedAt: ReadonlyArray<number>
  readonly inFlight: number
}

/** Returns the earliest time for another call, `Infinity` where calls in flight have to end first. */
export const earliest = (limit: Operation.RateLimit, { endedAt, inFlight }: Calls, now: number): number =>
  periods.reduce((at, { lengthMs, limit: period }) => {
    const most = limit[period]
    if (most === undefined) return at
    if (inFlight >= most) return Infinity
    // Of the calls that have ended, this one and all before it have to leave the window.
    const last = endedAt[endedAt.length - (most - inFlight)]
    return last === undefined ? at : Math.max(at, last + lengthMs + marginMs)
  }, now)

/** Returns how many calls the windows allow until a time, if they follow one another without a pause. */
export const capacity = (limit: Operation.RateLimit, { endedAt, inFlight }: Calls, until: number): number =>
  periods.reduce((capacity, { lengthMs, limit: period }) => {
    const most = limit[period]
    if (most === undefined || period === "perSecond") return capacity
    const occupied = endedAt.filter((end) => end + lengthMs + marginMs > until).length + inFlight
    return Math.max(0, Math.min(capacity, most - occupied))
  }, Infinity)

/**
 * A refusal of a group, and why. `halvedUntil`: the group runs at half its rate, because others use the same quota.
 */
interface Block {
  readonly until: number
  readonly refusals: number
  readonly halvedUntil: number
  readonly code?: WaitCode
}

/** The stored form: calls of each group as pairs of time and count, and blocks. Times are milliseconds since the epoch. */
export interface StoredWindows {
  readonly used: Readonly<Record<string, ReadonlyArray<readonly [number, number]>>>
  readonly blocked: Readonly<Record<string, Block>>
}

/** The block of all groups together. */
const wholeLane = "lane"

const refusalWaitMs = { first: 60_000, longest: 3_600_000 }

const half = (limit: number | undefined): number | undefined =>
  limit === undefined ? undefined : Math.max(1, Math.floor(limit / 2))

/** Merges calls that ended within the same second, and after a minute those of the same minute: each at the latest end. */
const compress = (endedAt: ReadonlyArray<number>, now: number): ReadonlyArray<readonly [number, number]> => {
  const merged: Array<[number, number]> = []
  for (const end of endedAt) {
    const unit = now - end > 65_000 ? 60_000 : 1000
    const last = merged.at(-1)
    if (last !== undefined && Math.floor(last[0] / unit) === Math.floor(end / unit)) {
      last[0] = end
      last[1] += 1
    } else merged.push([end, 1])
  }
  return merged
}

/** The windows and blocks of one lane, which one process leases. */
export class RateLimitWindows {
  readonly #calls = new Map<Group, { endedAt: Array<number>; inFlight: number }>()
  readonly #blocks = new Map<string, Block>()
  readonly #begun = new Map<Group, number>()
  readonly #stepOf = MonotonicTime.makeSteps()
  #stored: ReadonlyMap<Group, number> = new Map()
  #limits: Readonly<Record<string, Operation.RateLimit>>

  constructor(limits: Readonly<Record<string, Operation.RateLimit>>, stored: StoredWindows) {
    this.#limits = limits
    for (const [group, pairs] of Object.entries(stored.used)) {
      const endedAt = pairs.flatMap(([end, count]) => Array.from({ length: count }, () => end))
      this.#calls.set(group as Group, { endedAt, inFlight: 0 })
    }
    for (const [group, block] of Object.entries(stored.blocked)) this.#blocks.set(group, block)
  }

  /** Replaces the limits by those that hold for this taxpayer. */
  setLimits(limits: Readonly<Record<string, Operation.RateLimit>>): void {
    this.#limits = limits
  }

  /** Moves all times with the clock, if it was stepped. */
  follow(now: number, monotonic: number): void {
    const step = this.#stepOf(now, monotonic)
    if (step === 0) return
    for (const calls of this.#calls.values()) calls.endedAt = calls.endedAt.map((end) => end + step)
    for (const [group, block] of this.#blocks) {
      this.#blocks.set(group, { ...block, until: block.until + step, halvedUntil: block.halvedUntil + step })
    }
  }

  /** Counts one call of every group: as many as a holder that was lost can have made without storing them. */
  addUnknown(now: number): void {
    for (const group of Object.keys(Operation.defaultRateLimits) as Array<Group>) {
      if (group !== "anonymous") this.#of(group).endedAt.push(now)
    }
  }

  /** Returns the earliest time for a call: no block, and capacity in every window. */
  earliest(group: Group, now: number): number {
    const blocked = Math.max(this.#blocks.get(group)?.until ?? 0, this.#blocks.get(wholeLane)?.until ?? 0)
    return Math.max(blocked, earliest(this.#limit(group, now), this.#of(group), now))
  }

  /** Until when the group has to wait, apart from the limits of the lane. */
  pausedUntil(group: Group): number {
    return this.#blocks.get(group)?.until ?? 0
  }

  /** Why a call of the group has to wait: the block that ends last, or the limits. */
  reason(group: Group, now: number): WaitCode {
    const blocks = [this.#blocks.get(group), this.#blocks.get(wholeLane)].filter((block) => block !== undefined)
    const last = blocks.toSorted((left, right) => right.until - left.until)[0]
    return last !== undefined && last.until > now ? (last.code ?? "gateway_limit") : "gateway_limit"
  }

  /** When the last call of the group ended; 0 where none did within the hour. */
  lastEnd(group: Group): number {
    return this.#calls.get(group)?.endedAt.at(-1) ?? 0
  }

  /** Returns how many calls can be made within this time, by all limits, or by those of an hour alone. */
  capacity(group: Group, now: number, withinMs: number, options?: { readonly ofHour: boolean }): number {
    if (this.earliest(group, now) > now + withinMs) return 0
    const limit = this.#limit(group, now)
    const counted = options?.ofHour === true ? { ...limit, perMinute: undefined } : limit
    return capacity(counted, this.#of(group), now + withinMs)
  }

  begin(group: Group): void {
    this.#of(group).inFlight += 1
    this.#begun.set(group, (this.#begun.get(group) ?? 0) + 1)
  }

  /** Whether a call of the group was begun and is not stored. The next holder counts one of each group, and no more. */
  hasUnstored(group: Group): boolean {
    return (this.#begun.get(group) ?? 0) > (this.#stored.get(group) ?? 0)
  }

  /** Returns a function that marks the calls that were begun until now as stored. */
  beginStore(): () => void {
    const begun = new Map(this.#begun)
    return () => {
      this.#stored = begun
    }
  }

  /** Ends a call that was begun. A call that never left occupies nothing, and one that was refused ends no count of refusals. */
  end(group: Group, now: number, wasSent: boolean, isRefused = false): void {
    const calls = this.#of(group)
    calls.inFlight -= 1
    if (wasSent) calls.endedAt.push(now)
    const firstKept = calls.endedAt.findIndex((end) => end + longestMs > now)
    calls.endedAt.splice(0, firstKept === -1 ? calls.endedAt.length : firstKept)
    const block = this.#blocks.get(group)
    if (wasSent && !isRefused && block !== undefined && block.until <= now)
      this.#blocks.set(group, { ...block, refusals: 0 })
  }

  /**
   * Records a 429. Where there was capacity by our count, others use the quota of this taxpayer, and the rate is halved for an hour.
   * Another group that refuses during a block blocks the whole lane.
   */
  refuse(group: Group, now: number, retryAfterMs: number | undefined): void {
    const block = this.#blocks.get(group)
    const earlier = block?.refusals ?? 0
    // Calls that were under way together are refused together.
    const refusals = earlier > 0 && block!.until > now ? earlier : earlier + 1
    const waitMs = retryAfterMs ?? Math.min(refusalWaitMs.first * 2 ** (refusals - 1), refusalWaitMs.longest)
    const until = now + waitMs + 1000
    const limit = this.#limit(group, now)
    const { endedAt } = this.#of(group)
    // The refused call itself has been counted.
    const hadCapacity = earliest(limit, { endedAt: endedAt.slice(0, -1), inFlight: 0 }, now) <= now
    const isSecond = [...this.#blocks].some(([other, { code, until: end }]) => {
      return other !== group && end > now && code !== "gateway_unavailable"
    })
    const halvedUntil = hadCapacity ? now + 3_600_000 : (block?.halvedUntil ?? 0)
    this.#blocks.set(group, { until, refusals, halvedUntil, code: "gateway_limit" })
    if (isSecond) this.block(until, "gateway_limit")
  }

  /** Has a group wait until a time. */
  pause(group: Group, until: number): void {
    const block = this.#blocks.get(group)
    if (block !== undefined && block.until >= until) return
    const { halvedUntil = 0, refusals = 0 } = block ?? {}
    this.#blocks.set(group, { until, refusals, halvedUntil, code: "gateway_unavailable" })
  }

  /** Blocks every group until a time. */
  block(until: number, code: WaitCode): void {
    const before = this.#blocks.get(wholeLane)
    this.#blocks.set(wholeLane, { until, refusals: (before?.refusals ?? 0) + 1, halvedUntil: 0, code })
  }

  /** How often the whole lane was blocked since a call last succeeded. */
  get laneBlocks(): number {
    return this.#blocks.get(wholeLane)?.refusals ?? 0
  }

  /** Ends the count of blocks of the whole lane. */
  unblock(): void {
    this.#blocks.delete(wholeLane)
  }

  /** Returns the stored form. Calls in flight count as ended now. */
  stored(now: number): StoredWindows {
    return {
      used: Object.fromEntries(
        [...this.#calls]
          .map(([group, { endedAt, inFlight }]) => {
            const kept = endedAt.filter((end) => end + longestMs > now)
            return [group, compress([...kept, ...Array.from({ length: inFlight }, () => now)], now)] as const
          })
          .filter(([, pairs]) => pairs.length > 0)
      ),
      blocked: Object.fromEntries(
        [...this.#blocks].filter(([, { halvedUntil, until }]) => until > now || halvedUntil > now)
      )
    }
  }

  #of(group: Group) {
    const known = this.#calls.get(group)
    if (known !== undefined) return known
    const calls = { endedAt: [], inFlight: 0 }
    this.#calls.set(group, calls)
    return calls
  }

  #limit(group: Group, now: number): Operation.RateLimit {
    const limit = this.#limits[group] ?? defaultLimits[group]
    if ((this.#blocks.get(group)?.halvedUntil ?? 0) <= now) return limit
    return { perSecond: half(limit.perSecond), perMinute: half(limit.perMinute), perHour: half(limit.perHour) }
  }
}

/**
 * Reads the limits that `rateLimits` returned. A negative number means no limit. Zero is none of ours either: with it, no call could
 * ever be made, and none would say why. What KSeF refuses, it refuses with 429.
 */
export const toLimits = (
  answer: Readonly<Record<string, { readonly perSecond: number; readonly perMinute: number; readonly perHour: number }>>
): Readonly<Record<string, Operation.RateLimit>> => {
  const of = (limit: number) => (limit < 1 ? undefined : limit)
  return Object.fromEntries(
    Object.entries(answer).map(([group, { perHour, perMinute, perSecond }]) => [
      group,
      { perSecond: of(perSecond), perMinute: of(perMinute), perHour: of(perHour) }
    ])
  )
}
