/** Examines pages at both widths, each in one theme, or in both with `LOOKS=all` (in the long tests). */
import type { Page } from "playwright-core"
import { examine } from "./axe.ts"
import { rendered } from "./navigation.ts"

/** The rules of axe-core that depend on the theme, and those that depend on the width where the markup does not. */
const ofTheme = ["color-contrast"]
const ofWidth = ["color-contrast", "scrollable-region-focusable", "target-size"]

/** Whether pages are examined at each width in both themes. */
export const isEveryLook = process.env["LOOKS"] === "all"

/**
 * Examines what a page shows at both widths: wide in the light theme, narrow in the dark one, and with `isInAll` each width in
 * both. Rules that depend on the markup alone are examined once for each markup: the page renders cards in place of tables where
 * it is narrow.
 */
export const examineAll = async (page: Page, isInAll = isEveryLook): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  let examined = ""
  for (const [width, first, second] of [
    [1280, "light", "dark"],
    [360, "dark", "light"]
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    await rendered(page)
    const markup = await page.locator("body").innerHTML()
    for (const colorScheme of isInAll ? [first, second] : [first]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      const rules = colorScheme === second ? ofTheme : markup === examined ? ofWidth : undefined
      const found = await examine(page, rules)
      faults.push(...found.map((fault) => `${colorScheme}, ${width} px: ${fault}`))
    }
    examined = markup
  }
  return faults
}
