/**
 * The overlays that can be opened from anywhere: the palette and the sheet of keys.
 */
import { useSyncExternalStore } from "react"

type Overlay = "palette" | "keys" | undefined

let open: Overlay
const listeners = new Set<() => void>()

const set = (next: Overlay) => {
  open = next
  for (const listener of listeners) listener()
}

export const openPalette = (): void => set("palette")
export const openKeySheet = (): void => set("keys")
export const closeOverlay = (): void => set(undefined)

/** Returns the overlay that is open. */
export const useOverlay = (): Overlay =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => open
  )
