/**
 * One clock for all relative times of the page.
 */
import { useSyncExternalStore } from "react"

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, 5000)
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
    if (timer === undefined) now = Date.now()
    return now
  })
