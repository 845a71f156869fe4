/** How an owner reads lists: by invoice, by single keys, with updates paused, and from addresses that are partly unreadable. */
import { createServer, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable } from "./support/receivers.ts"
import { tryAgain } from "./support/tryAgain.ts"

const eventsOfInvoice = 4

describe.skipIf(isMissing)("the lists of the console", () => {
  let browser: Browser
  let server: Deployment
  let receiver: HttpServer
  let owner: Owner
  let invoices: ReadonlyArray<string>

  const deliveries = async () =>
    (await owner.call("GET", "organizations/{org}/deliveries?limit=100&status=succeeded"))["data"] as ReadonlyArray<{
      readonly id: string
    }>

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.resume().on("end", () => response.writeHead(204).end())
    }).listen(0, "127.0.0.1")
    server = await deploy(reachable)
    browser = await launch()
    owner = await Owner.make(server)
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    await owner.createEndpoint(`${url}/shop`)
    await owner.createEndpoint(`${url}/warehouse`)
    const key = await owner.createKey()
    invoices = [await owner.submit(key, "first"), await owner.submit(key, "second")]
    await until(deliveries, ({ length }) => length === 2 * 2 * eventsOfInvoice)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receiver?.closeAllConnections()
    receiver?.close()
  })

  const rowsOf = (page: Page) => page.locator("[data-row]")
  const focusedRow = (page: Page) =>
    page.evaluate<string | undefined>(`document.activeElement.closest("[data-row]")?.dataset.row`)

  it("ask for each fact of the overview once, and for no steps that are done", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, "/settings")
    const asked: Array<string> = []
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname.startsWith("/v1/")) asked.push(`${pathname.split("/").pop()}${search}`)
    })
    await owner.show(page)
    await page.getByRole("link", { name: "API keys" }).last().waitFor()
    await page.getByText("No deliveries are retrying or have failed.").waitFor()
    assert.deepStrictEqual(asked.toSorted(), [
      "account",
      "api-keys?limit=100",
      "deliveries?limit=1&status=succeeded",
      "deliveries?limit=50&status=failed",
      "deliveries?limit=50&status=retrying",
      "organizations?limit=100",
      "overview?window=24h",
      "webhook-endpoints?limit=100"
    ])
    await end()
  })

  it("show the deliveries of an invoice, beside it and as a filtered list", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, `/invoices/${invoices[0]}`)
    const beside = page.getByRole("table", { name: "Deliveries of this invoice" })
    await beside
      .locator("[data-row]")
      .nth(2 * eventsOfInvoice - 1)
      .waitFor()
    assert.strictEqual(await beside.locator("[data-row]").count(), 2 * eventsOfInvoice)
    // Both endpoints have the same host, so the path tells them apart.
    for (const path of ["/shop", "/warehouse"]) {
      assert.strictEqual(await beside.getByText(path).count(), eventsOfInvoice, path)
    }
    await page.getByRole("main").getByRole("link", { name: "View all" }).click()
    await page.waitForURL(`${server.url}/console/o/${owner.org}/deliveries?invoice=${invoices[0]}`)
    await rowsOf(page)
      .nth(2 * eventsOfInvoice - 1)
      .waitFor()
    assert.strictEqual(await rowsOf(page).count(), 2 * eventsOfInvoice)
    await rowsOf(page).first().getByRole("link").click()
    await page.getByRole("definition").first().getByRole("link").click()
    await page.waitForURL(`${server.url}/console/o/${owner.org}/invoices/${invoices[0]}`)
    await page.goBack()
    await page.goBack()
    await page.getByRole("button", { name: /^Remove the filter inv_/ }).click()
    await rowsOf(page)
      .nth(2 * 2 * eventsOfInvoice - 1)
      .waitFor()
    await end()
  })

  it("are navigated by single keys, which can be switched off and have no effect in a field", async () => {
    const { context, end } = await watch(browser, server.url, {
      context: { permissions: ["clipboard-read", "clipboard-write"] }
    })
    const page = await context.newPage()
    const { keyboard } = page
    await owner.open(page)
    const heading = (name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor()
    for (const [key, name] of [
      ["i", "Invoices"],
      ["e", "Endpoints"],
      ["k", "API keys"],
      ["o", "Overview"],
      ["d", "Deliveries"]
    ] as const) {
      await keyboard.press("g")
      await keyboard.press(key)
      await heading(name)
    }
    await rowsOf(page).nth(1).waitFor()
    const ids = await page.evaluate<ReadonlyArray<string>>(
      `[...document.querySelectorAll("[data-row]")].map(({ dataset }) => dataset.row)`
    )
    for (const [key, index] of [
      ["j", 0],
      ["j", 1],
      ["j", 2],
      ["k", 1]
    ] as const) {
      await keyboard.press(key)
      assert.strictEqual(await focusedRow(page), ids[index], key)
    }
    await keyboard.press("c")
    await until(
      () => page.evaluate("navigator.clipboard.readText()"),
      (text) => text === ids[1]
    )
    await keyboard.press("Enter")
    await page.waitForURL(new RegExp(`/deliveries/${ids[1]}`))
    await page.goBack()
    await page.waitForURL(`${server.url}/console/o/${owner.org}/deliveries`)
    await keyboard.press("/")
    assert.strictEqual(await page.evaluate(`document.activeElement.closest("[data-filters]") !== null`), true)
    await keyboard.press("?")
    const sheet = page.getByRole("dialog")
    await sheet.waitFor()
    await keyboard.press("Escape")
    await sheet.waitFor({ state: "detached" })

    // Nothing of it in a field, and nothing anywhere once they are off.
    await owner.show(page, "/invoices")
    await page.getByLabel("Invoice number").pressSequentially("gd?")
    assert.strictEqual(await page.getByLabel("Invoice number").inputValue(), "gd?")
    await heading("Invoices")
    await page.goto(`${server.url}/console/account`)
    await page.getByLabel("Single-key shortcuts").uncheck()
    await owner.show(page, "/invoices")
    await heading("Invoices")
    await rowsOf(page).first().waitFor()
    for (const key of ["g", "d", "j", "?"]) await keyboard.press(key)
    await heading("Invoices")
    assert.isUndefined(await focusedRow(page))
    assert.strictEqual(await page.getByRole("dialog").count(), 0)
    await end()
  })

  it("send no request while they are paused, and continue when they are resumed", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, "/deliveries")
    await rowsOf(page).first().waitFor()
    await page.getByRole("button", { name: /^Updated/, pressed: true }).click()
    const resume = page.getByRole("button", { name: /^Paused/, pressed: false })
    await resume.waitFor()
    let asked = 0
    page.on("request", (request) => {
      if (request.url().includes("/deliveries?")) asked++
    })
    // A list is asked for every five seconds.
    await page.waitForTimeout(11_000)
    assert.isAtMost(asked, 1, "one may have been on its way")
    const next = page.waitForRequest(/\/deliveries\?/)
    await resume.click()
    await next
    await end()
  })

  it("update a row that left the page in its place", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    let hasLeft = false
    // The newest delivery is retrying at first, and then no longer in the list.
    await page.route(/\/deliveries\?/, async (route) => {
      const response = await route.fetch()
      const { data, ...rest } = (await response.json()) as { readonly data: ReadonlyArray<object> }
      const rows = hasLeft ? data.slice(1) : [{ ...data[0], status: "retrying" }, ...data.slice(1)]
      await route.fulfill({ response, json: { ...rest, data: rows } })
    })
    await owner.open(page, "/deliveries")
    const newest = rowsOf(page).first()
    await newest.getByText("Retrying").waitFor()
    const id = await newest.getAttribute("data-row")
    hasLeft = true
    await newest.getByText("Succeeded").waitFor()
    assert.strictEqual(await newest.getAttribute("data-row"), id)
    await end()
  })

  it("stay visible when a later request for the configuration fails", async () => {
    const { context, end } = await watch(browser, server.url, { expected: /ERR_FAILED .*config\.json/ })
    const page = await context.newPage()
    await owner.open(page, "/deliveries")
    await rowsOf(page).first().waitFor()
    await page.route("**/console/config.json", (route) => route.abort())
    await page.getByRole("button", { name: /^Updated/, pressed: true }).click()
    const refused = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/console/config.json"))
    await page.getByRole("button", { name: /^Paused/, pressed: false }).click()
    await refused
    await page.waitForTimeout(500)
    assert.isAbove(await rowsOf(page).count(), 1)
    await end()
  })

  it("have a heading and a button to retry when the organizations cannot be read", async () => {
    const { context, end } = await watch(browser, server.url, { expected: /ERR_FAILED .*\/organizations/ })
    const page = await context.newPage()
    await owner.open(page, "/deliveries")
    await rowsOf(page).first().waitFor()
    await page.route(/\/control-plane\/organizations(?:\?|$)/, (route) => route.abort())
    await page.reload()
    await page.getByRole("heading", { level: 1, name: "This page cannot be shown right now" }).waitFor()
    assert.match(await page.title(), /^This page cannot be shown right now · Govoice$/)
    await page.unroute(/\/control-plane\/organizations(?:\?|$)/)
    await tryAgain(page, rowsOf(page).first().waitFor())
    await end()
  })

  it("show why a log-out failed, and retry the log-out", async () => {
    const { context, end } = await watch(browser, server.url, { expected: /ERR_FAILED .*\/console\/session/ })
    const page = await context.newPage()
    await owner.open(page, "/deliveries")
    await page.route("**/console/session", (route) => route.abort())
    await page.getByRole("button", { name: "Account" }).click()
    await page
      .getByRole("menuitem", { name: "Log out" })
      .or(page.getByRole("button", { name: "Log out" }))
      .click()
    const notice = page.getByRole("alert")
    await notice.waitFor()
    await page.unroute("**/console/session")
    await tryAgain(notice, page.getByRole("button", { name: "Log in" }).waitFor())
    await end()
  })

  it("refuse an endpoint without a URL, at the field", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, "/endpoints/new")
    await page.getByRole("button", { name: "Create the endpoint" }).click()
    await page.locator("input[type=url][aria-invalid=true]:focus").waitFor()
    await end()
  })

  it("send no request after half an hour without input, and continue with the next input", async () => {
    const { context, end } = await watch(browser, server.url, { expected: /status of 401/ })
    const page = await context.newPage()
    await page.clock.install()
    await owner.open(page, "/deliveries")
    await rowsOf(page).first().waitFor()
    await page.clock.fastForward("31:00")
    // The timer of before the rest may ask once more.
    await page.waitForTimeout(2000)
    let asked = 0
    page.on("request", (request) => {
      if (request.url().includes("/deliveries?")) asked++
    })
    await page.waitForTimeout(7000)
    assert.strictEqual(asked, 0)
    const next = page.waitForRequest(/\/deliveries\?/)
    await page.keyboard.press("Shift")
    await next
    await end()
  })

  it("drop parameters of an address that cannot be read, and name them", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, "/deliveries?status=lost&invoice=inv_x&type=invoice.received")
    await page
      .getByText(/status.*invoice/)
      .first()
      .waitFor()
    const notice = page.locator("main").getByText(/could not be read|cannot be read/)
    assert.match(await notice.innerText(), /status, invoice/)
    // The part that can be read applies.
    await rowsOf(page).nth(3).waitFor()
    assert.strictEqual(await rowsOf(page).count(), 4)
    assert.strictEqual(await rowsOf(page).getByText("invoice.received").count(), 4)
    await end()
  })
})
