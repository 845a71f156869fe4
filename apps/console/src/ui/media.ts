/**
 * The width of the window, for parts whose elements differ between widths.
 */
import { useSyncExternalStore } from "react"

/** Returns whether the window has at least this width, and renders again when that changes. */
export const useWide = (pixels: number): boolean => {
  const query = matchMedia(`(min-width: ${pixels}px)`)
  return useSyncExternalStore(
    (listener) => {
      query.addEventListener("change", listener)
      return () => query.removeEventListener("change", listener)
    },
    () => query.matches
  )
}
