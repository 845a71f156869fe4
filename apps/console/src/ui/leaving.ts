/**
 * Asks before the screen is left while a secret is not stored: by a link, by the history of the browser, or with the page.
 */
import { useEffect } from "react"
import type { AroundNavHandler } from "wouter"
import { texts } from "../text/texts.ts"

/** The address and the state that the screen with the secret has in the history. */
let guarded: { readonly href: string; readonly state: unknown } | undefined

const mayLeave = (): boolean => guarded === undefined || confirm(texts.secret.leave)

// A window calls listeners in the order in which they were added: this one comes before that of the router.
addEventListener("popstate", (event) => {
  if (mayLeave()) return
  // The address has changed already. It changes back before the router reads it.
  event.stopImmediatePropagation()
  history.pushState(guarded!.state, "", guarded!.href)
})

const askOnUnload = (event: BeforeUnloadEvent) => event.preventDefault()

/** Goes to another screen, unless the owner stays. */
export const navigateUnlessGuarded: AroundNavHandler = (navigate, to, options) => {
  if (mayLeave()) navigate(to, options)
}

/** Asks before this screen is left, while it is on. */
export const useLeaveGuard = (isOn: boolean): void =>
  useEffect(() => {
    if (!isOn) return
    guarded = { href: location.href, state: history.state }
    addEventListener("beforeunload", askOnUnload)
    return () => {
      guarded = undefined
      removeEventListener("beforeunload", askOnUnload)
    }
  }, [isOn])
