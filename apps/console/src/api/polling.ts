/**
 * Polling: whether the page polls, how often, and what it does after errors.
 */
import { useSyncExternalStore } from "react"
import { problemOf } from "../session/problem.ts"

/** Times between two requests, in milliseconds. */
export const pollMs = {
  /** The first page of a list. */
  list: 5000,
  /** A record that changes soon, or that is awaited. */
  awaited: 2000,
  /** Pictures and counts. */
  picture: 60_000
} as const

const idleAfterMs = 30 * 60_000
const afterErrorMs = [5000, 10_000, 30_000] as const

let isPaused = false
let lastInput = Date.now()
const listeners = new Set<() => void>()
const resumeListeners = new Set<() => void>()

/** Calls the listener when polling goes on: a query that rested is not polled again by itself. */
export const onResume = (listener: () => void): void => {
  resumeListeners.add(listener)
}

const resume = (): void => {
  for (const listener of resumeListeners) listener()
}

/** Pauses or resumes polling. */
export const setPaused = (paused: boolean): void => {
  isPaused = paused
  lastInput = Date.now()
  for (const listener of listeners) listener()
  if (!paused) resume()
}

for (const type of ["pointerdown", "keydown", "wheel", "touchstart"])
  addEventListener(
    type,
    () => {
      const isBack = Date.now() - lastInput > idleAfterMs
      lastInput = Date.now()
      if (isBack && !isPaused) resume()
    },
    { passive: true, capture: true }
  )

/** Returns whether polling is paused. */
export const usePaused = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isPaused
  )

interface AnyQuery<Data> {
  readonly state: {
    readonly data: Data | undefined
    readonly dataUpdatedAt: number
    readonly error: Error | null
    readonly errorUpdateCount: number
    readonly errorUpdatedAt: number
  }
}

// The number of errors of a query at its last success.
const errorsBefore = new WeakMap<object, number>()

/**
 * Returns the `refetchInterval` of a query, as a function of its data. Polling rests when it is paused, and when
 * nobody used the page for half an hour. The cache rests it when the page is hidden or offline.
 */
export const everyBy =
  <Data>(interval: (data: Data | undefined) => number | false) =>
  (query: AnyQuery<Data>): number | false => {
    if (isPaused || Date.now() - lastInput > idleAfterMs) return false
    const { data, dataUpdatedAt, error, errorUpdateCount, errorUpdatedAt } = query.state
    if (error === null || dataUpdatedAt > errorUpdatedAt) {
      errorsBefore.set(query, errorUpdateCount)
      return interval(data)
    }
    const { retryable, retryAfterMs } = problemOf(error)
    if (!retryable) return false
    const errors = errorUpdateCount - (errorsBefore.get(query) ?? 0)
    return retryAfterMs ?? afterErrorMs[Math.min(errors, afterErrorMs.length) - 1] ?? afterErrorMs[0]
  }

/** Returns the `refetchInterval` of a query that is polled always. See {@link everyBy}. */
export const every = (ms: number): ((query: AnyQuery<unknown>) => number | false) => everyBy(() => ms)
