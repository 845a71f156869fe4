/**
 * Sliding windows of a second, a minute and an hour, and the block that follows when one of them is full.
 *
 * A refused call takes no place in a window. A call during a block doubles it, up to an hour; a block that was obeyed leaves
 * nothing behind.
 */
import type { Limit } from "../openapi/rateLimits.ts"
import type { Clock } from "../time/Clock.ts"
import { hour, minute, second } from "../time/Clock.ts"

/** The outcome of a call. */
export type Admission =
  | { readonly ok: true }
  | { readonly ok: false; readonly retryAfterMs: number; readonly exceeded: string }

interface Window {
  /** When calls were admitted, in order; those before `first` are out of every window. */
  times: Array<number>
  first: number
  blockedUntil: number
  blockMs: number
  exceeded: string
}

const periods = [
  { member: "perSecond", ms: second, unit: "sekundę" },
  { member: "perMinute", ms: minute, unit: "minutę" },
  { member: "perHour", ms: hour, unit: "godzinę" }
] as const

/** Counts calls under keys. */
export class RateLimiter {
  readonly #clock: Clock
  readonly #windows = new Map<string, Window>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a call that was admitted by an earlier process. */
  restore(key: string, at: number): void {
    this.#windowOf(key).times.push(at)
  }

  /** Admits a call under a key, or tells how long to wait. */
  admit(key: string, limit: Limit): Admission {
    const now = this.#clock.now()
    const window = this.#windowOf(key)
    this.#prune(window, now)
    const full = this.#full(window, limit, now)
    if (now >= window.blockedUntil && full === undefined) {
      window.times.push(now)
      return { ok: true }
    }
    const longest = this.#clock.scaled(hour)
    // A caller that waited as long as the answer said starts anew.
    if (now >= window.blockedUntil) window.blockMs = 0
    const least = Math.max(full?.waitMs ?? 0, this.#clock.scaled(second))
    window.blockMs = Math.min(Math.max(least, window.blockMs * 2), Math.max(longest, least))
    window.blockedUntil = now + window.blockMs
    window.exceeded = full?.exceeded ?? window.exceeded
    return { ok: false, retryAfterMs: window.blockMs, exceeded: window.exceeded }
  }

  /** Returns how many calls stand in the windows of a key. */
  used(key: string): Limit {
    const now = this.#clock.now()
    const times = this.#windows.get(key)?.times ?? []
    const count = (ms: number) => times.filter((time) => time > now - this.#clock.scaled(ms)).length
    return { perSecond: count(second), perMinute: count(minute), perHour: count(hour) }
  }

  #windowOf(key: string): Window {
    const known = this.#windows.get(key)
    if (known !== undefined) return known
    if (this.#windows.size >= 100_000) this.#forgetIdle()
    const window = { times: [], first: 0, blockedUntil: 0, blockMs: 0, exceeded: "" }
    this.#windows.set(key, window)
    return window
  }

  #forgetIdle(): void {
    const now = this.#clock.now()
    const longest = this.#clock.scaled(hour)
    for (const [key, { blockedUntil, times }] of this.#windows) {
      if (now - (times.at(-1) ?? 0) > longest && now - blockedUntil > longest) this.#windows.delete(key)
    }
  }

  #prune(window: Window, now: number): void {
    const oldest = now - this.#clock.scaled(hour)
    while (window.first < window.times.length && window.times[window.first]! <= oldest) window.first += 1
    if (window.first < 1024 || window.first * 2 < window.times.length) return
    window.times = window.times.slice(window.first)
    window.first = 0
  }

  // The period that has no place left, with the longest wait of those.
  #full(window: Window, limit: Limit, now: number): { readonly waitMs: number; readonly exceeded: string } | undefined {
    let found: { readonly waitMs: number; readonly exceeded: string } | undefined
    for (const { member, ms, unit } of periods) {
      const most = limit[member]
      if (most < 0) continue
      const at = window.times.length - most
      // Of `most` calls, the first has to leave before the next may come.
      const leaves = most === 0 ? Infinity : at < window.first ? -Infinity : window.times[at]! + this.#clock.scaled(ms)
      if (leaves <= now) continue
      const waitMs = Math.min(leaves - now, this.#clock.scaled(hour))
      const exceeded = `Przekroczono limit ${most} żądań na ${unit}.`
      if (found === undefined || waitMs > found.waitMs) found = { waitMs, exceeded }
    }
    return found
  }
}
