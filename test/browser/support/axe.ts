/** Examines pages for violations of the rules of accessibility. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"
import { rendered } from "./navigation.ts"

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** The rules of axe-core that depend on the theme, and those that depend on the width where the markup does not. */
const ofTheme = ["color-contrast"]
const ofWidth = ["color-contrast", "scrollable-region-focusable", "target-size"]

interface Result {
  readonly violations: ReadonlyArray<{ readonly id: string; readonly nodes: ReadonlyArray<{ readonly html: string }> }>
}

/** Returns the violations of all rules of axe-core, or of these rules, and whether the page scrolls sideways. */
export const examine = async (page: Page, rules?: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  // Evaluated by the debugger, which the policy of the page does not bind.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(source)
  const options = JSON.stringify({ resultTypes: ["violations"], preload: false, ...(rules && { runOnly: rules }) })
  const { violations } = await page.evaluate<Result>(`axe.run(${options})`)
  const isWider = await page.evaluate<boolean>(
    "document.documentElement.scrollWidth > document.documentElement.clientWidth"
  )
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`),
    ...(isWider ? ["scrolls sideways"] : [])
  ]
}

/**
 * Examines what a page shows at both widths, in both themes. Rules that depend on the markup alone are examined once for each
 * markup: the page renders cards in place of tables where it is narrow.
 */
export const examineAll = async (page: Page): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  let examined = ""
  for (const [width, first, second] of [
    [1280, "light", "dark"],
    [360, "dark", "light"]
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    await rendered(page)
    const markup = await page.locator("body").innerHTML()
    for (const colorScheme of [first, second]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      const rules = colorScheme === second ? ofTheme : markup === examined ? ofWidth : undefined
      const found = await examine(page, rules)
      faults.push(...found.map((fault) => `${colorScheme}, ${width} px: ${fault}`))
    }
    examined = markup
  }
  return faults
}
