/** The login of the console in a browser after times that the server keeps: half a minute of grace, and a minute of limits. */
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { en } from "../../apps/console/src/text/en.ts"
import type { Server } from "../e2e/support/server.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { cookieOf, deploy, isLoggedOut, openAccount, refreshWith, signUp } from "./support/deployment.ts"

describe.skipIf(isMissing)("a login of the console", () => {
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

  it("continues automatically after too many pages were opened in a minute", async () => {
    const { context, end } = await watch(browser, server.url, {
      expected: /status of 429 .*\/console\/session\/refresh/
    })
    const page = await openAccount(context, server, await signUp(server))
    // Each load of a page is a refresh, and a minute has 30.
    const refreshes = await page.evaluate<number>(`(async () => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }
      let refreshes = 0
      while ((await fetch("/console/session/refresh", init)).ok) refreshes++
      return refreshes
    })()`)
    assert.isAtLeast(refreshes, 30)
    const refused = page.waitForResponse("**/console/session/refresh")
    await page.reload()
    const retryAfter = Number((await refused).headers()["retry-after"])
    assert.isTrue(retryAfter > 0 && retryAfter <= 60, `${retryAfter} s`)
    await page.getByRole("heading", { level: 1, name: "Your session could not be renewed" }).waitFor()
    await page.getByRole("alert").filter({ hasText: "Too many requests" }).waitFor()
    await page.getByText(en.unreachable.goesOn(en.seconds(retryAfter))).waitFor()
    // Nothing is pressed.
    await page.getByRole("button", { name: "Log out everywhere" }).waitFor({ timeout: retryAfter * 1000 + 50_000 })
    await end()
  })

  it("ends when a stolen refresh token is used 31 seconds after its rotation", async () => {
    const { context, end } = await watch(browser, server.url, {
      expected: /status of 401 .*\/(?:v1\/control-plane|console\/session)\//
    })
    const page = await openAccount(context, server, await signUp(server))
    const stolen = await cookieOf(context)
    await page.reload()
    await page.getByRole("button", { name: "Log out everywhere" }).waitFor()
    await new Promise((resolve) => setTimeout(resolve, 31_000))
    assert.strictEqual(await refreshWith(server, stolen), 401)
    await page.reload()
    await isLoggedOut(page)
    await end()
  })
})
