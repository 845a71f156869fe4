/**
 * The login of the console in a browser: tabs, lost answers, forged requests, and what scripts can read. Tests that wait for a
 * time of the server are in `sessionTimes.long.test.ts`.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Server } from "../e2e/support/server.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import {
  cookieName,
  cookieOf,
  deploy,
  isLoggedOut,
  logIn,
  openAccount,
  password,
  refreshWith,
  signUp
} from "./support/deployment.ts"
import { refuseTokens } from "./support/refusedTokens.ts"
import { tryAgain } from "./support/tryAgain.ts"

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

  const ended = /status of 401 .*\/(?:v1\/control-plane|console\/session)\//

  it("continues after a reload and in other tabs by a cookie that no script can read", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await openAccount(context, server, await signUp(server))
    const first = await cookieOf(context)
    await page.reload()
    await page.getByRole("button", { name: "Log out everywhere" }).waitFor()
    assert.notStrictEqual(await cookieOf(context), first, "every refresh rotates")
    await openAccount(context, server)
    const [cookie] = (await context.cookies()).filter(({ name }) => name === cookieName)
    assert.deepInclude(cookie, { httpOnly: true, secure: true, sameSite: "Strict", path: "/" })
    assert.isAbove(cookie!.expires, Date.now() / 1000 + 29 * 86_400, "it is remembered by default")
    await end()
  })

  it("shows why a refresh was refused, and continues after a successful one", async () => {
    const { context, end } = await watch(browser, server.url, {
      expected: /status of 429 .*\/console\/session\/refresh/
    })
    const page = await openAccount(context, server, await signUp(server))
    const error = { type: "rate_limit_error", code: "rate_limit_exceeded", message: "For programs.", param: null }
    const body = { error: { ...error, request_id: "req_0", retryable: true } }
    const refresh = "**/console/session/refresh"
    await page.route(refresh, (route) => route.fulfill({ status: 429, json: body }))
    await page.reload()
    await page.getByRole("heading", { level: 1, name: "Your session could not be renewed" }).waitFor()
    const notice = page.getByRole("alert").filter({ hasText: "Too many requests in a short time." })
    await notice.waitFor()
    const refused = page.waitForResponse(refresh)
    await notice.getByRole("button", { name: "Try again" }).click()
    await refused
    await page.unroute(refresh)
    await tryAgain(notice, page.getByRole("button", { name: "Log out everywhere" }).waitFor())
    await end()
  })

  it("is refreshed automatically after the Retry-After of a refusal", async () => {
    const { context, end } = await watch(browser, server.url, {
      expected: /status of 429 .*\/console\/session\/refresh/
    })
    const page = await openAccount(context, server, await signUp(server))
    const error = { type: "rate_limit_error", code: "rate_limit_exceeded", message: "Wait.", param: null }
    const body = { error: { ...error, request_id: "req_0", retryable: true } }
    const refused = { status: 429, headers: { "retry-after": "5" }, json: body }
    await page.route("**/console/session/refresh", (route) => route.fulfill(refused), { times: 1 })
    const says = page.getByText("You are still logged in. The page tries again in 5 s.").waitFor()
    await Promise.all([says, page.reload()])
    // Nothing is pressed.
    await page.getByRole("button", { name: "Log out everywhere" }).waitFor()
    await end()
  })

  it("leaves no token in storage, in the address, in scripts or in the document", async () => {
    const { context, end } = await watch(browser, server.url)
    const tokens: Array<string> = []
    context.on("response", (response) => {
      if (!response.url().includes("/console/session") || !response.ok()) return
      void response.json().then((body: { readonly access_token: string }) => tokens.push(body.access_token))
    })
    const page = await openAccount(context, server, await signUp(server))
    await page.reload()
    await page.getByRole("button", { name: "Log out everywhere" }).waitFor()
    const readable = await page.evaluate<string>(`(async () => JSON.stringify([
      Object.entries(localStorage),
      Object.entries(sessionStorage),
      document.cookie,
      location.href,
      document.documentElement.outerHTML,
      (await indexedDB.databases()).length,
      await caches.keys()
    ]))()`)
    assert.isAtLeast(tokens.length, 1)
    for (const secret of [...tokens, (await cookieOf(context)).split(".")[2]!, password]) {
      assert.notInclude(readable, secret)
    }
    await end()
  })

  it("is shared by six tabs whose access tokens are refused at once", async () => {
    const { context, end } = await watch(browser, server.url, { expected: ended })
    const email = await signUp(server)
    const pages = [await openAccount(context, server, email)]
    for (let other = 0; other < 5; other++) pages.push(await openAccount(context, server))
    for (const page of pages) {
      await page.goto(`${server.url}/console`)
      await page.getByRole("link", { name: "API keys" }).first().waitFor()
    }

    let refreshes = 0
    context.on("request", (request) => {
      if (request.url().endsWith("/console/session/refresh")) refreshes++
    })
    const refused = await refuseTokens(context)
    await Promise.all(
      pages.map(async (page) => {
        await page.getByRole("link", { name: "API keys" }).first().click()
        await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor()
        await page.getByRole("link", { name: "New API key" }).first().waitFor()
      })
    )
    assert.isAbove(refused(), 0)
    // A tab that has the lock before it was told of the refresh of another asks once more.
    assert.isTrue(refreshes >= 1 && refreshes < pages.length, `${refreshes} refreshes`)
    for (const page of pages) {
      await page.reload()
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor()
    }
    await end()
  })

  it("is refreshed once while the scripts of a page load, and again if that request got no answer", async () => {
    const { context, end } = await watch(browser, server.url, { expected: /ERR_FAILED .*\/console\/session\/refresh/ })
    const page = await openAccount(context, server, await signUp(server))
    const refresh = "**/console/session/refresh"
    let refreshes = 0
    page.on("request", (request) => {
      if (request.url().endsWith("/console/session/refresh")) refreshes++
    })
    // The scripts of the page arrive after the answer.
    const answered = page.waitForResponse(refresh)
    await page.route("**/console/assets/console-*.js", async (route) => {
      await answered
      await route.continue()
    })
    await page.reload()
    await page.getByRole("button", { name: "Log out everywhere" }).waitFor()
    assert.strictEqual(refreshes, 1)
    assert.isUndefined(await page.evaluate("globalThis.govoiceRefresh"))

    await page.unrouteAll()
    await page.route(refresh, (route) => route.abort(), { times: 1 })
    await page.reload()
    await page.getByRole("button", { name: "Log out everywhere" }).waitFor()
    assert.strictEqual(refreshes, 3)
    await end()
  })

  it("continues after the answer to a refresh was lost", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await openAccount(context, server, await signUp(server))
    // The server has rotated the token, and the browser has not seen the answer.
    assert.strictEqual(await refreshWith(server, await cookieOf(context)), 200)
    await page.reload()
    await page.getByRole("button", { name: "Log out everywhere" }).waitFor()
    await page.reload()
    await page.getByRole("button", { name: "Log out everywhere" }).waitFor()
    await end()
  })

  it("ends in all tabs with a logout in one of them", async () => {
    const { context, end } = await watch(browser, server.url, { expected: ended })
    const page = await openAccount(context, server, await signUp(server))
    const other = await openAccount(context, server)
    const cookie = await cookieOf(context)
    await page.getByRole("button", { name: "Log out here" }).click()
    await isLoggedOut(page)
    await isLoggedOut(other)
    assert.isUndefined((await context.cookies()).find(({ name }) => name === cookieName))
    assert.strictEqual(await refreshWith(server, cookie), 401)
    await end()
  })

  it("ends in other browsers with a logout everywhere, and with a change of the password", async () => {
    const email = await signUp(server)
    const here = await watch(browser, server.url, { expected: ended })
    const there = await watch(browser, server.url, { expected: ended })
    const page = await openAccount(here.context, server, email)
    const other = await openAccount(there.context, server, email)
    await page.getByLabel("Current password").fill(password)
    await page.getByLabel("New password").fill(`another ${password}`)
    await page.getByRole("button", { name: "Change the password" }).click()
    await page.getByText("Password changed").first().waitFor()
    await other.reload()
    await isLoggedOut(other)
    await page.reload()
    await page.getByRole("button", { name: "Log out everywhere" }).waitFor()

    await logIn(other, email, `another ${password}`)
    await other.getByRole("button", { name: "Log out everywhere" }).click()
    await isLoggedOut(other)
    await page.reload()
    await isLoggedOut(page)
    await here.end()
    await there.end()
  })

  it("is not touched by pages of other origins", async () => {
    const site = createServer((_, response) => response.setHeader("content-type", "text/html").end("<p>elsewhere</p>"))
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve))
    const { port } = site.address() as AddressInfo
    try {
      const { context, end } = await watch(browser, server.url)
      const page = await openAccount(context, server, await signUp(server))
      const cookie = await cookieOf(context)
      // Another host is another site; another port of the same host is not, so that the cookie is sent.
      for (const origin of [`http://localhost:${port}`, `http://127.0.0.1:${port}`]) {
        const foreign = await browser.newContext({ storageState: await context.storageState() })
        const attacker = await foreign.newPage()
        await attacker.goto(origin)
        await attacker.evaluate(async (target) => {
          const send = (path: string, init: RequestInit) =>
            fetch(`${target}${path}`, { ...init, mode: "no-cors", credentials: "include" }).catch(() => undefined)
          await send("/console/session/refresh", { method: "POST", body: "{}" })
          await send("/console/session", { method: "POST", body: "{}" })
          await fetch(`${target}/console/session`, { method: "DELETE", credentials: "include" }).catch(() => undefined)
        }, server.url)
        const [answer] = await Promise.all([
          attacker.waitForResponse(`${server.url}/console/session/refresh`),
          attacker
            .setContent(
              `<form method="post" action="${server.url}/console/session/refresh"><button>Send</button></form>`
            )
            .then(() => attacker.getByRole("button").click())
        ])
        assert.strictEqual(answer.status(), 403)
        assert.strictEqual(((await answer.json()) as { error: { code: string } }).error.code, "cross_site_request")
        await foreign.close()
      }
      assert.strictEqual(await cookieOf(context), cookie)
      await page.reload()
      await page.getByRole("button", { name: "Log out everywhere" }).waitFor()
      await end()
    } finally {
      site.closeAllConnections()
      site.close()
    }
  })
})
