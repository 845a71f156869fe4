/**
 * The keys of the page. Single keys act outside of fields and dialogs only, and can be switched off.
 */
import { useEffect } from "react"
import { useLocation } from "wouter"
import { firstFilter, firstRow } from "../ui/focus.ts"
import { paths } from "../url/paths.ts"
import { openKeySheet, openPalette } from "./overlays.ts"
import { preference } from "../ui/preferences.ts"

/** The screens of `g` and a letter. */
export const goKeys = {
  o: paths.overview,
  i: paths.invoices,
  d: paths.deliveries,
  e: paths.endpoints,
  k: paths.keys
} as const

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Listens to the keys of the page. */
export const useShortcuts = (org: string | undefined): void => {
  const [, navigate] = useLocation()
  useEffect(() => {
    let wentAt = 0
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault()
        openPalette()
        return
      }
      const isElsewhere = isTyping(event.target) || document.querySelector("dialog[open]") !== null
      if (isElsewhere || event.metaKey || event.ctrlKey || event.altKey || preference("shortcuts") === "off") return
      if (Date.now() - wentAt < 1500 && event.key in goKeys && org !== undefined) {
        wentAt = 0
        navigate(goKeys[event.key as keyof typeof goKeys](org))
      } else if (event.key === "g") wentAt = Date.now()
      else if (event.key === "?") openKeySheet()
      else if (event.key === "j" && !(event.target instanceof Element && event.target.closest("[data-row]")))
        document.querySelector<HTMLElement>(firstRow)?.focus()
      else if (event.key === "/") {
        const filter = document.querySelector<HTMLElement>(firstFilter)
        if (filter === null) return
        event.preventDefault()
        filter.focus()
      }
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [navigate, org])
}
