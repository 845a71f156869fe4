/**
 * One clock for all relative times of the page.
 */
import { useSyncExternalStore } from "react"

const tickMs = 5000

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, tickMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** Returns the time in milliseconds, and renders again every five seconds. */
export const useNow = (): number =>
  useSyncExternalStore(subscribe, () => {
    // Before the first tick. Rendering asks several times, and the answer must stay the same.
    if (timer === undefined && Date.now() - now >= tickMs) now = Date.now()
    return now
  })
