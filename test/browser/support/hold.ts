/** Requests that are held back, so that a test sees the page before their answers. */
import type { BrowserContext, Page } from "playwright-core"

/** The scripts of the page, without that of the theme. */
export const scripts = "**/console/assets/console-*.js"

/** Holds requests until the returned function is called. */
export const hold = async (target: Page | BrowserContext, url: string | RegExp): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await target.route(url, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}
