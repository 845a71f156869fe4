/**
 * The preferences of this browser, the only values in its storage: language, theme, density, time zone and shortcuts.
 */
import { useSyncExternalStore } from "react"

const values = {
  language: ["browser", "en", "pl"],
  theme: ["system", "light", "dark"],
  density: ["dense", "comfortable"],
  timeZone: ["local", "utc"],
  shortcuts: ["on", "off"]
} as const

type Name = keyof typeof values
type ValueOf<N extends Name> = (typeof values)[N][number]

const listeners = new Set<() => void>()

const stored = <N extends Name>(name: N): ValueOf<N> => {
  const known: ReadonlyArray<string> = values[name]
  try {
    const found = localStorage.getItem(`govoice.${name}`)
    return (found !== null && known.includes(found) ? found : known[0]) as ValueOf<N>
  } catch {
    return known[0] as ValueOf<N>
  }
}

const current: { [N in Name]: ValueOf<N> } = {
  language: stored("language"),
  theme: stored("theme"),
  density: stored("density"),
  timeZone: stored("timeZone"),
  shortcuts: stored("shortcuts")
}

/** Returns a preference. */
export const preference = <N extends Name>(name: N): ValueOf<N> => current[name]

/** Stores a preference. The default is removed from storage. */
export const setPreference = <N extends Name>(name: N, value: ValueOf<N>): void => {
  ;(current as Record<Name, string>)[name] = value
  const isDefault = value === values[name][0]
  try {
    if (isDefault) localStorage.removeItem(`govoice.${name}`)
    else localStorage.setItem(`govoice.${name}`, value)
  } catch {
    // Storage is blocked: the choice lasts until the page is closed.
  }
  if (name === "theme" || name === "density") {
    if (isDefault) delete document.documentElement.dataset[name]
    else document.documentElement.dataset[name] = value
  }
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/** Returns a preference and renders again when it changes. */
export const usePreference = <N extends Name>(name: N): ValueOf<N> =>
  useSyncExternalStore(subscribe, () => current[name])
