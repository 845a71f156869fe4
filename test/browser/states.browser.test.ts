/**
 * Every screen in its four states, in both themes and at both widths, and what readers ask of a page: a narrow window, less
 * motion, their own colors, targets for fingers. In the suite, every screen is examined with data, and a few in the other states
 * and for those readers; in the long tests (`LOOKS=all`) all are.
 */
import type { Browser, Route } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { examineAll, isEveryLook } from "./support/examineAll.ts"
import { isMissing, launch, watch, type Watched } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { rendered, visit, type Visitor } from "./support/navigation.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable, type Receivers, startReceivers } from "./support/receivers.ts"
import { addressOf, type Records, type Screen, screens } from "./support/screens.ts"

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
    context: { type: "Nip", value: "5265877635" }
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

/** The screens that the suite examines in all states. */
const fewScreens = new Set(["overview", "endpoint", "invoices", "live"])

/** The screens that are examined for readers who ask something of a page: in the suite also a form. */
const screensOfReaders = screens.filter(({ name }) => isEveryLook || fewScreens.has(name) || name === "new-endpoint")

/** The requests of a screen beside those for the account and its organizations, without which there is no screen. */
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

interface State {
  /** Answers the requests of a screen in place of the server. */
  readonly route?: (route: Route) => unknown
  /** The content of the page in this state. */
  readonly shows?: string
  /** Whether the owner has no records but an endpoint. */
  readonly isEmpty?: boolean
}

describe.skipIf(isMissing)("every screen of the console", () => {
  let browser: Browser
  let server: Deployment
  let receivers: Receivers
  let full: { readonly owner: Owner; readonly records: Records }

  beforeAll(async () => {
    receivers = await startReceivers()
    server = await deploy({
      ...reachable,
      GOVOICE_LIVE_MODE: "true",
      GOVOICE_KSEF_URL: "http://127.0.0.1:9/v2",
      // The screens follow each other faster than a person opens them.
      GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1000000"
    })
    browser = await launch()
    full = await withRecords(server, receivers)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receivers?.close()
  })

  /** Opens a page that is logged in. */
  const openPage = async ({ context }: Watched, owner: Owner): Promise<Visitor> => {
    const page = await context.newPage()
    await owner.open(page, "/settings")
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor()
    return visit(page)
  }

  const show = ({ show }: Visitor, records: Records, screen: Screen, isHeld = false): Promise<void> =>
    show(addressOf(server.url, records, screen), isHeld)

  const states: Readonly<Record<string, State>> = {
    data: {},
    loading: { route: () => {}, shows: "[role=status][aria-label=Loading]" },
    error: { route: fail, shows: "[role=alert]" },
    nothing: { isEmpty: true }
  }

  const hasState = (name: string, screen: Screen): boolean =>
    name === "data" ||
    (screen.isStatic !== true &&
      !(name === "nothing" && (screen.name === "delivery" || screen.name === "invoice")) &&
      (isEveryLook || fewScreens.has(screen.name)))

  for (const [name, { isEmpty = false, route, shows }] of Object.entries(states)) {
    describe(`in the state: ${name}`, () => {
      let visitor: Visitor
      let records: Records
      let watched: Watched

      beforeAll(async () => {
        const owner = isEmpty ? await Owner.make(server) : full.owner
        const endpoint = isEmpty ? await owner.createEndpoint("https://shop.example.com/hooks") : full.records.endpoint
        records = { ...full.records, org: owner.org, endpoint }
        watched = await watch(browser, server.url, { expected: /status of 500|status of 404/ })
        visitor = await openPage(watched, owner)
        if (route !== undefined) await watched.context.route(asked, route)
      })
      afterAll(() => watched?.end())

      it.each(screens.filter((screen) => hasState(name, screen)))(
        "$name has no accessibility violation",
        async (screen) => {
          await show(visitor, records, screen, shows !== undefined)
          if (shows !== undefined) await visitor.page.locator(shows).first().waitFor({ state: "attached" })
          assert.deepStrictEqual(await examineAll(visitor.page), [])
        }
      )
    })
  }

  describe("with reduced motion, forced colors and a width of 320 px", () => {
    let visitor: Visitor
    let watched: Watched

    beforeAll(async () => {
      const context = {
        viewport: { width: 320, height: 640 },
        reducedMotion: "reduce",
        forcedColors: "active"
      } as const
      watched = await watch(browser, server.url, { expected: /status of 404/, context })
      visitor = await openPage(watched, full.owner)
    })
    afterAll(() => watched?.end())

    it.each(screensOfReaders)("$name fits, has no animation, and shows its edges and the focus", async (screen) => {
      const { page } = visitor
      await show(visitor, full.records, screen)
      const { moving, top, unseen, width } = await page.evaluate<{
        readonly width: number
        readonly top: number
        readonly moving: number
        readonly unseen: ReadonlyArray<string>
      }>(`({
        width: document.documentElement.scrollWidth,
        top: document.querySelector("h1").getBoundingClientRect().top,
        moving: document.getAnimations().length,
        unseen: [...document.querySelectorAll("[data-badge], [data-panel]")]
          .filter((element) => getComputedStyle(element).borderTopStyle === "none")
          .map((element) => element.outerHTML.slice(0, 120))
      })`)
      assert.isAtMost(width, 320)
      assert.isAtMost(top, 240, "begins below the navigation")
      assert.strictEqual(moving, 0)
      assert.deepStrictEqual(unseen, [])
      await page.keyboard.press("Tab")
      assert.strictEqual(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid")
    })
  })

  describe("at widths between a phone and a desktop", () => {
    let visitor: Visitor
    let watched: Watched

    beforeAll(async () => {
      watched = await watch(browser, server.url, { expected: /status of 404/ })
      visitor = await openPage(watched, full.owner)
    })
    afterAll(() => watched?.end())

    it.each(screensOfReaders)("$name shows all columns of its tables", async (screen) => {
      const { page } = visitor
      await show(visitor, full.records, screen)
      for (const width of [640, 700, 768, 900, 1023, 1024, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        await rendered(page)
        const cut = await page.evaluate<ReadonlyArray<string>>(`
          [document.documentElement, ...[...document.querySelectorAll("table")].map(({ parentElement }) => parentElement)]
            .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
            .map(({ clientWidth, scrollWidth, tagName, innerText }) =>
              tagName + ": " + scrollWidth + " in " + clientWidth + " px: " + innerText.slice(0, 60))
        `)
        assert.deepStrictEqual(cut, [], `${width} px`)
      }
    })
  })

  describe("on a touch screen", () => {
    let visitor: Visitor
    let watched: Watched

    beforeAll(async () => {
      const context = { viewport: { width: 360, height: 800 }, hasTouch: true, isMobile: true }
      watched = await watch(browser, server.url, { expected: /status of 404/, context })
      visitor = await openPage(watched, full.owner)
    })
    afterAll(() => watched?.end())

    it.each(screensOfReaders)("$name has targets of 44 px", async (screen) => {
      const { page } = visitor
      await show(visitor, full.records, screen)
      // Links in sentences and cells are as tall as their line (WCAG 2.5.8). The label of a box is part of its target.
      const small = await page.evaluate<ReadonlyArray<string>>(`
        [...document.querySelectorAll("button, input, select, textarea, summary, nav a, [role=button]")]
          .map((element) => [element, element.matches("[type=checkbox], [type=radio]") ? element.closest("label") : element])
          .map(([element, target]) => [element, target.getBoundingClientRect()])
          .filter(([, { height, width }]) => width > 1 && height > 0 && height < 43.5)
          .map(([element, { height }]) => Math.round(height) + " px: " + element.outerHTML.slice(0, 140))
      `)
      assert.deepStrictEqual(small, [])
    })
  })
})
