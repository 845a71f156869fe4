/**
 * Measures the console in Chromium: from the navigation to the first data, cold and warm, and from a click on "Older" to the
 * rows of the next page. In the same turns the browser fetches what these need without showing it, which is their floor.
 */
import { type Browser, chromium, type Page } from "playwright-core"
import { chromiumPath, chromiumRemedy } from "../../test/browser/support/chromiumPath.ts"
import type { Deployment } from "./deployment.ts"
import { cursorOf } from "./lists.ts"

const loads = Number(process.env["BENCH_LOADS"] ?? 11)
const pages = Number(process.env["BENCH_PAGES"] ?? 200)

// Of the page itself: what it shows, and when that is painted, in milliseconds since the navigation. `evaluate` runs beside
// the policy of the page; functions that wait in it would be bound by it.
const observer = `
  globalThis.bench = { longest: 0 }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) bench.longest = Math.max(bench.longest, duration)
  }).observe({ entryTypes: ["longtask"] })
  bench.painted = (isShown) => new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("Not shown: " + document.body.innerText.slice(0, 500))), 30000)
    const look = () => {
      if (!isShown()) return false
      observer.disconnect()
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))
      return true
    }
    const observer = new MutationObserver(look)
    if (!look()) observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true })
  })
  // The first data of the overview: the counts of the endpoints, as bars.
  bench.firstData = bench.painted(() => document.querySelector("[data-row] svg[role=img]") !== null)
  bench.resources = () => performance.getEntriesByType("resource").map(({ name }) => name)
  bench.fetchAll = async (names) => {
    const begun = performance.now()
    await Promise.all(names.map((name) => fetch(name, { cache: "no-store" }).then((answer) => answer.text())))
    return performance.now() - begun
  }
  const firstRow = () => document.querySelector("[data-row]")?.getAttribute("data-row")
  bench.older = async () => {
    const shown = firstRow()
    const button = [...document.querySelectorAll("nav button")].find(({ innerText }) => innerText.trim() === "Older")
    const clicked = performance.now()
    button.click()
    return (await bench.painted(() => firstRow() !== shown)) - clicked
  }
`

const languages = ["en", "pl"] as const

/** A page of a browser in a language that has not seen the console, and is logged in. */
const openCold = async (
  browser: Browser,
  { login, url }: Deployment,
  locale: (typeof languages)[number] = "en"
): Promise<Page> => {
  const context = await browser.newContext({ locale, viewport: { width: 1280, height: 800 } })
  await context.addInitScript({ content: observer })
  const page = await context.newPage()
  // Of the origin, but not of the page: a cookie of this kind is set by its origin only.
  await page.goto(`${url}/console/config.json`)
  const status = await page.evaluate<number>(`fetch("/console/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: ${JSON.stringify(login)}
  }).then(({ status }) => status)`)
  if (status !== 200) throw new Error(`Log in: ${status}`)
  return page
}

const heapOf = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page)
  await session.send("HeapProfiler.collectGarbage")
  const { usedSize } = await session.send("Runtime.getHeapUsage")
  await session.detach()
  return usedSize / 1024 / 1024
}

/** The longest task since the last call, in milliseconds. */
const takeLongestTask = (page: Page): Promise<number> =>
  page.evaluate<number>(
    "new Promise((resolve) => setTimeout(() => { resolve(bench.longest); bench.longest = 0 }, 500))"
  )

/** Clicks on "Older" this many times, and returns the times to the next rows, in milliseconds. */
const leaf = async (page: Page, times: number): Promise<Array<number>> => {
  const taken: Array<number> = []
  for (let time = 0; time < times; time++) {
    await page.locator("nav button:not([aria-disabled=true])", { hasText: "Older" }).waitFor()
    taken.push(await page.evaluate<number>("bench.older()"))
  }
  return taken
}

/** The times of loads in a language in each round, in milliseconds, and those of the floor. */
export interface Loads {
  readonly language: string
  readonly cold: ReadonlyArray<number>
  readonly warm: ReadonlyArray<number>
  /** The files and data of a load, fetched alone. */
  readonly fetched: ReadonlyArray<number>
}

/** The times of the screens in each round, in milliseconds, and the memory around many pages, in MiB. */
export interface Screens {
  readonly loads: ReadonlyArray<Loads>
  readonly next: ReadonlyArray<number>
  readonly nextOfThousandth: ReadonlyArray<number>
  /** The longest task of a cold load of a list, and of all clicks on "Older", in milliseconds. 0: none was over 50. */
  readonly longestTask: { readonly load: number; readonly pages: number }
  readonly memory: { readonly before: number; readonly after: number }
}

/** Measures the screens. */
export const measureScreens = async (deployment: Deployment): Promise<Screens> => {
  if (chromiumPath === undefined) throw new Error(chromiumRemedy)
  const { endpoint, organization, url } = deployment
  const overview = `${url}/console/o/${organization}`
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] })
  try {
    const measured = languages.map((language) => ({
      language,
      cold: new Array<number>(),
      warm: new Array<number>(),
      fetched: new Array<number>()
    }))
    for (let load = 0; load < loads; load++) {
      for (const { cold, fetched, language, warm } of measured) {
        const page = await openCold(browser, deployment, language)
        await page.goto(overview)
        cold.push(await page.evaluate<number>("bench.firstData"))
        fetched.push(await page.evaluate<number>("bench.fetchAll(bench.resources())"))
        await page.reload()
        warm.push(await page.evaluate<number>("bench.firstData"))
        await page.context().close()
      }
    }

    const page = await openCold(browser, deployment)
    const list = `${overview}/endpoints/${endpoint}/deliveries`
    await page.goto(list)
    await page.locator("[data-row]").first().waitFor()
    const load = await takeLongestTask(page)
    const first = await leaf(page, 20)
    const before = await heapOf(page)
    await leaf(page, pages)
    const after = await heapOf(page)
    const longestTask = { load, pages: await takeLongestTask(page) }
    const cursor = await cursorOf(deployment, `webhook-endpoints/${endpoint}/deliveries`, 1000)
    await page.goto(`${list}?cursor=${encodeURIComponent(cursor)}`)
    const thousandth = await leaf(page, 20)
    return {
      loads: measured,
      next: first,
      nextOfThousandth: thousandth,
      longestTask,
      memory: { before, after }
    }
  } finally {
    await browser.close()
  }
}
