/** Goes from screen to screen within a page, as links do, so that a test loads the page once. */
import type { Page, Request } from "playwright-core"
import { until } from "./owner.ts"

/** A page that changes its screens without loading anew. */
export interface Visitor {
  readonly page: Page
  /** Shows the screen of an address, and waits for its data unless they are held back. */
  readonly show: (address: string, isHeld?: boolean) => Promise<void>
}

/** Waits until the page has rendered what it knows: it learns of a change before the second frame. */
export const rendered = (page: Page): Promise<void> =>
  page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")

/** Follows the requests of a page that is logged in. */
export const visit = (page: Page): Visitor => {
  const open = new Set<Request>()
  const end = (request: Request) => void open.delete(request)
  page.on("request", (request) => open.add(request))
  page.on("requestfinished", end)
  page.on("requestfailed", end)

  // An answer can lead to the next request, a frame later.
  const isAtRest = async () => {
    await rendered(page)
    return open.size === 0
  }
  return {
    page,
    show: async (address, isHeld = false) => {
      await page.evaluate(`history.pushState(null, "", ${JSON.stringify(address)})`)
      await rendered(page)
      await page.getByRole("heading", { level: 1 }).waitFor()
      if (isHeld) return
      await until(async () => (await isAtRest()) && (await isAtRest()), Boolean)
      await page.locator("[role=status][aria-label=Loading]").first().waitFor({ state: "detached" })
    }
  }
}
