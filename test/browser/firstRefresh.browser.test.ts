/** The refresh that begins before the page is loaded: tabs that share it, and tabs that change the login meanwhile. */
import type { Browser, BrowserContext, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Server } from "../e2e/support/server.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, isLoggedOut, logIn, openAccount, signUp } from "./support/deployment.ts"
import { hold, scripts } from "./support/hold.ts"
import { until } from "./support/owner.ts"
import { refuseTokens } from "./support/refusedTokens.ts"

const refresh = "**/console/session/refresh"

/** Counts the refreshes of a page, or of all. */
const countRefreshes = (context: BrowserContext, page?: Page): (() => number) => {
  let refreshes = 0
  context.on("request", (request) => {
    if (!request.url().endsWith("/console/session/refresh")) return
    if (page === undefined || request.frame().page() === page) refreshes++
  })
  return () => refreshes
}

describe.skipIf(isMissing)("the first refresh of a tab", () => {
  let browser: Browser
  let server: Server

  beforeAll(async () => {
    server = await deploy()
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  const isLoggedIn = (page: Page) => page.getByRole("button", { name: "Log out everywhere" }).waitFor()

  /** Opens tabs. Each waits for the refresh of the first before its scripts are loaded. */
  const openAtOnce = async (context: BrowserContext, watcher: Page, count: number): Promise<ReadonlyArray<Page>> => {
    const loadScripts = await hold(context, scripts)
    const answer = await hold(context, refresh)
    const pages = await Promise.all(Array.from({ length: count }, () => context.newPage()))
    await Promise.all(pages.map((page) => page.goto(`${server.url}/console`, { waitUntil: "commit" })))
    await until(
      () =>
        watcher.evaluate(async () => {
          const { held, pending } = await navigator.locks.query()
          return held.length + pending.length
        }),
      (requests) => requests === count
    )
    answer()
    loadScripts()
    await Promise.all(pages.map((page) => page.getByRole("link", { name: "API keys" }).first().waitFor()))
    return pages
  }

  it("is shared by tabs that are opened at once", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await openAccount(context, server, await signUp(server))
    const refreshes = countRefreshes(context)
    await openAtOnce(context, page, 6)
    // A message that arrives after the lock costs a refresh.
    assert.isAtLeast(refreshes(), 1)
    assert.isAtMost(refreshes(), 3)
    await end()
  })

  it("is not used again when the tokens of two tabs that were opened at once are refused", async () => {
    const { context, end } = await watch(browser, server.url, { expected: /status of 401 .*\/v1\/control-plane\// })
    const page = await openAccount(context, server, await signUp(server))
    const pages = await openAtOnce(context, page, 2)
    for (const opened of pages) assert.isUndefined(await opened.evaluate("globalThis.govoiceRefresh"))
    const refreshes = countRefreshes(context)
    const refused = await refuseTokens(context)
    await Promise.all(
      pages.map(async (opened) => {
        const listed = opened.waitForResponse(
          (response) => new URL(response.url()).pathname.endsWith("/invoices") && response.ok()
        )
        await opened.getByRole("link", { name: "Invoices" }).first().click()
        await listed
      })
    )
    assert.isAbove(refused(), 0)
    assert.isAtLeast(refreshes(), 1)
    await end()
  })

  /** Opens a tab whose scripts are not loaded, and waits for the answer to its refresh. */
  const openHeld = async (context: BrowserContext) => {
    const page = await context.newPage()
    const load = await hold(page, scripts)
    const answered = page.waitForResponse(refresh)
    await page.goto(`${server.url}/console/account`, { waitUntil: "commit" })
    await answered
    return { page, load }
  }

  it("does not undo a logout in another tab", async () => {
    const { context, end } = await watch(browser, server.url)
    const other = await openAccount(context, server, await signUp(server))
    const { load, page } = await openHeld(context)
    await other.getByRole("button", { name: "Log out here" }).click()
    await isLoggedOut(other)
    load()
    await isLoggedOut(page)
    await isLoggedOut(other)
    await end()
  })

  it("is discarded after a login of another account in another tab", async () => {
    const { context, end } = await watch(browser, server.url)
    const other = await openAccount(context, server, await signUp(server))
    const second = await signUp(server)
    const { load, page } = await openHeld(context)
    const refreshes = countRefreshes(context, page)
    await other.getByRole("button", { name: "Log out here" }).click()
    await logIn(other, second)
    await isLoggedIn(other)
    load()
    await page.getByRole("main").getByText(second).waitFor()
    assert.strictEqual(refreshes(), 0)
    await other.reload()
    await other.getByRole("main").getByText(second).waitFor()
    await end()
  })

  it("is followed by another when its token expires before the scripts are loaded", async () => {
    const { context, end } = await watch(browser, server.url)
    await (await openAccount(context, server, await signUp(server))).close()
    const sent: Array<string> = []
    context.on("request", (request) => sent.push(request.headers()["authorization"] ?? ""))
    // A token is renewed 30 seconds before it expires.
    await context.route(refresh, (route) => route.fulfill({ json: { access_token: "expired", expires_in: 35 } }), {
      times: 1
    })
    const { load, page } = await openHeld(context)
    const refreshes = countRefreshes(context, page)
    await new Promise((resolve) => setTimeout(resolve, 8000))
    load()
    await isLoggedIn(page)
    assert.strictEqual(refreshes(), 1)
    assert.notInclude(sent, "Bearer expired")
    await end()
  })
})
