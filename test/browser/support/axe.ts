/** Examines pages for violations of the rules of accessibility. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

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
