/**
 * Focus across screens: a new screen takes it to its heading, going back returns it to the link that was followed.
 */
import { useEffect, useRef } from "react"

let kind: "load" | "push" | "pop" = "load"
const followed = new Map<string, string>()

addEventListener("popstate", () => {
  kind = "pop"
})
// wouter dispatches these when the page changes its address.
addEventListener("pushState", () => {
  kind = "push"
})
document.addEventListener(
  "click",
  ({ target }) => {
    const link = target instanceof Element ? target.closest("a[href]") : null
    if (link !== null) followed.set(location.pathname, link.getAttribute("href")!)
  },
  { capture: true }
)

/** Returns the reference of a heading that takes the focus when its screen opens. */
export const useHeadingFocus = <E extends HTMLElement>(screen: string) => {
  const heading = useRef<E>(null)
  useEffect(() => {
    if (kind === "push") {
      heading.current?.focus({ preventScroll: true })
      scrollTo(0, 0)
    } else if (kind === "pop") {
      const href = followed.get(location.pathname)
      const link = href === undefined ? null : document.querySelector<HTMLElement>(`a[href="${CSS.escape(href)}"]`)
      link?.focus({ preventScroll: true })
    }
  }, [screen])
  return heading
}
