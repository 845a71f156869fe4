/**
 * Every screen in its four states, in both themes and at both widths, and what readers ask of a page: a narrow window, less
 * motion, their own colors, targets for fingers.
 */
import type { Browser, Page, Route } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { examine } from "./support/axe.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable, type Receivers, startReceivers } from "./support/receivers.ts"
import { addressOf, type Records, screens } from "./support/screens.ts"

const widths = [1280, 360] as const

/** The rules of axe-core that depend on the theme. */
const ofTheme = ["color-contrast"]

interface Delivery {
  readonly id: string
  readonly endpoint_id: string
  readonly status: string
}

/** An owner with records of every kind, and words that are longer than any column. */
const withRecords = async (server: Deployment, { url }: Receivers): Promise<{ owner: Owner; records: Records }> => {
  const owner = await Owner.make(server)
  const long = "a-very-long-path-without-any-place-to-break-".repeat(4)
  const [endpoint, failing] = await Promise.all([
    owner.createEndpoint(`${url}/204/${long}`),
    owner.createEndpoint(`${url}/404`),
    owner.createEndpoint(`${url}/503`)
  ])
  await owner.call("PATCH", `webhook-endpoints/${endpoint}`, { description: `Warehouse ${"x".repeat(200)}` })
  await owner.call("PUT", "organizations/{org}/gateway-credential", {
    type: "ksef_token",
    token: "20261122-EC-0000000000-0000000000-00|nip-5265877635|0",
    context_nip: "5265877635"
  })
  const key = await owner.createKey()
  await owner.createKey("live")
  const invoice = await owner.submit(key, "a".repeat(200))
  await owner.submit(key, "rejected", { scenario: "rejected" })
  const list = await until(
    async () =>
      (await owner.call("GET", "organizations/{org}/deliveries?limit=100"))["data"] as ReadonlyArray<Delivery>,
    (all) => all.length >= 18 && all.every(({ status }) => /succeeded|failed|retrying/.test(status))
  )
  const delivery = list.find(({ endpoint_id: id }) => id === failing)!.id
  return { owner, records: { org: owner.org, endpoint, failed: { endpoint: failing, delivery }, invoice } }
}

/** What a screen asks for beside the account and its organizations, without which there is no screen. */
const asked = /\/v1\/control-plane\/(?!account$|organizations(?:\?|$))/

const fail = (route: Route) =>
  route.fulfill({
    status: 500,
    contentType: "application/json",
    headers: { "request-id": "req_01m7q5e8x2v9k4t6w8y0z2b4d6" },
    body: JSON.stringify({
      error: {
        type: "api_error",
        code: "internal_error",
        message: "The request failed. Try again later.",
        param: null,
        request_id: "req_01m7q5e8x2v9k4t6w8y0z2b4d6",
        retryable: true
      }
    })
  })

describe.skipIf(isMissing)("every screen of the console", () => {
  let browser: Browser
  let server: Deployment
  let receivers: Receivers
  let full: { readonly owner: Owner; readonly records: Records }

  beforeAll(async () => {
    receivers = await startReceivers()
    server = await deploy({ ...reachable, GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: "http://127.0.0.1:9/v2" })
    browser = await launch()
    full = await withRecords(server, receivers)
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receivers?.close()
  })

  const open = async (page: Page, owner: Owner) => {
    await owner.open(page, "/settings")
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor()
  }

  /** Examines a screen that is loaded. The rules that do not depend on colors are examined in one theme. */
  const examineAll = async (page: Page, name: string): Promise<ReadonlyArray<string>> => {
    const faults: Array<string> = []
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 })
      // The page renders again when it learns its width, before the second frame.
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
        const found = await examine(page, colorScheme === "light" ? undefined : ofTheme)
        faults.push(...found.map((fault) => `${name}, ${colorScheme}, ${width} px: ${fault}`))
      }
    }
    return faults
  }

  const states = {
    data: { of: () => full, route: undefined, shows: undefined },
    loading: { of: () => full, route: () => {}, shows: "[role=status][aria-label=Loading]" },
    error: { of: () => full, route: fail, shows: "[role=alert]" }
  } as const

  for (const [state, { of, route, shows }] of Object.entries(states)) {
    it(`has no violation while it shows: ${state}`, async () => {
      const { owner, records } = of()
      const { context, end } = await watch(browser, server.url, { expected: /status of 500|status of 404/ })
      const page = await context.newPage()
      await open(page, owner)
      if (route !== undefined) await context.route(asked, route)
      const faults: Array<string> = []
      for (const screen of screens) {
        if (shows !== undefined && screen.isStatic) continue
        await page.goto(addressOf(server.url, records, screen))
        await page.getByRole("heading", { level: 1 }).waitFor()
        if (shows === undefined) await page.waitForLoadState("networkidle")
        else if (screen.name !== "account") await page.locator(shows).first().waitFor({ state: "attached" })
        faults.push(...(await examineAll(page, screen.name)))
      }
      assert.deepStrictEqual(faults, [])
      await end()
    })
  }

  it("has no violation while it shows: nothing", async () => {
    const owner = await Owner.make(server)
    const endpoint = await owner.createEndpoint("https://shop.example.com/hooks")
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await open(page, owner)
    const empty = { ...full.records, org: owner.org, endpoint }
    const faults: Array<string> = []
    for (const screen of screens) {
      if (screen.isStatic || screen.name === "delivery" || screen.name === "invoice") continue
      await page.goto(addressOf(server.url, empty, screen))
      await page.getByRole("heading", { level: 1 }).waitFor()
      await page.waitForLoadState("networkidle")
      faults.push(...(await examineAll(page, screen.name)))
    }
    assert.deepStrictEqual(faults, [])
    await end()
  })

  it(
    "fits in 320 px, moves nothing for those who ask for that, and keeps its shapes in forced colors",
    { timeout: 120_000 },
    async () => {
      const { owner, records } = full
      const { context, end } = await watch(browser, server.url, { expected: /status of 404/ })
      const page = await context.newPage()
      await page.setViewportSize({ width: 320, height: 640 })
      await page.emulateMedia({ reducedMotion: "reduce", forcedColors: "active" })
      await open(page, owner)
      for (const screen of screens) {
        await page.goto(addressOf(server.url, records, screen))
        await page.getByRole("heading", { level: 1 }).waitFor()
        await page.waitForLoadState("networkidle")
        const { moving, unseen, width } = await page.evaluate<{
          width: number
          moving: number
          unseen: Array<string>
        }>(`({
        width: document.documentElement.scrollWidth,
        moving: document.getAnimations().length,
        unseen: [...document.querySelectorAll("[data-badge], [data-panel]")]
          .filter((element) => getComputedStyle(element).borderTopStyle === "none")
          .map((element) => element.outerHTML.slice(0, 120))
      })`)
        assert.isAtMost(width, 320, `${screen.name} scrolls sideways`)
        assert.strictEqual(moving, 0, `${screen.name} moves`)
        assert.deepStrictEqual(unseen, [], `${screen.name} has shapes without an edge`)
        await page.keyboard.press("Tab")
        const outline = await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle")
        assert.strictEqual(outline, "solid", `${screen.name} shows the focus`)
      }
      await end()
    }
  )

  it("has targets of 44 px for fingers", async () => {
    const { owner, records } = full
    const { context, end } = await watch(browser, server.url, {
      expected: /status of 404/,
      context: { viewport: { width: 360, height: 800 }, hasTouch: true, isMobile: true }
    })
    const page = await context.newPage()
    await open(page, owner)
    const faults: Array<string> = []
    for (const screen of screens) {
      await page.goto(addressOf(server.url, records, screen))
      await page.getByRole("heading", { level: 1 }).waitFor()
      await page.waitForLoadState("networkidle")
      // Links in sentences and cells are as tall as their line (WCAG 2.5.8). The label of a box is part of its target.
      const small = await page.evaluate<ReadonlyArray<string>>(`[...document.querySelectorAll(
          "button, input, select, textarea, summary, nav a, [role=button]")]
        .map((element) => [element, (element.matches("input[type=checkbox], input[type=radio]") ? element.closest("label") : element)])
        .map(([element, target]) => [element, target.getBoundingClientRect()])
        .filter(([element, { height, width }]) => width > 1 && height > 0 && height < 43.5)
        .map(([element, { height }]) => Math.round(height) + " px: " + element.outerHTML.slice(0, 140))`)
      faults.push(...small.map((element) => `${screen.name}: ${element}`))
    }
    assert.deepStrictEqual(faults, [])
    await end()
  })
})
