/** What a reader sees: in view, named alike everywhere, and said once. */
import type { Browser, Locator } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable, type Receivers, startReceivers } from "./support/receivers.ts"

const widths = [1280, 390] as const

describe.skipIf(isMissing)("the console", () => {
  let browser: Browser
  let server: Deployment
  let receivers: Receivers
  let owner: Owner
  let endpoint: string

  beforeAll(async () => {
    receivers = await startReceivers()
    server = await deploy(reachable)
    browser = await launch()
    owner = await Owner.make(server)
    endpoint = await owner.createEndpoint(`${receivers.url}/404/hooks`)
    const invoice = await owner.submit(await owner.createKey(), "looks")
    await until(
      () => owner.call("GET", `organizations/{org}/invoices/${invoice}`),
      ({ upo_available: isAvailable }) => isAvailable === true
    )
    await until(
      () => owner.call("GET", "organizations/{org}/deliveries?status=failed"),
      ({ data }) => (data as ReadonlyArray<unknown>).length === 4
    )
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receivers?.close()
  })

  const open = async (path: string, options: { readonly width?: number; readonly expected?: RegExp } = {}) => {
    const { expected, width = 1280 } = options
    const viewport = { width, height: 800 }
    const { context, end } = await watch(browser, server.url, {
      ...(expected && { expected }),
      context: { viewport }
    })
    const page = await context.newPage()
    await owner.open(page, path)
    return { page, end }
  }

  const colorOf = (badge: Locator): Promise<unknown> => badge.evaluate("(badge) => getComputedStyle(badge).color")

  it.each(widths)("shows its menus within the window at %i px", async (width) => {
    const { end, page } = await open("/deliveries", { width })
    for (const name of [/^Organizations/, /^Account/, /^Time/]) {
      await page.getByRole("button", { name }).click()
      const menu = page.locator("[popover]:popover-open")
      const { height, width: wide, x, y } = (await menu.boundingBox())!
      assert.isAtLeast(x, 0)
      assert.isAtMost(x + wide, width)
      assert.isAtMost(y + height, 800)
      await page.keyboard.press("Escape")
    }
    await end()
  })

  it("keeps the button that copies code off the code", async () => {
    const { context, end } = await watch(browser, server.url, { context: { viewport: { width: 390, height: 800 } } })
    const page = await context.newPage()
    const fresh = await Owner.make(server)
    await fresh.open(page, "/keys")
    await page.getByRole("region", { name: /curl$/ }).waitFor()
    const covered = `[...document.querySelectorAll("pre")].filter((pre) =>
      pre.parentElement.querySelector("button").getBoundingClientRect().bottom >
      pre.querySelector("code").getBoundingClientRect().top).length`
    assert.strictEqual(await page.evaluate(covered), 0)
    await end()
  })

  it("says «live» of live mode alone", async () => {
    const { end, page } = await open("")
    for (const path of ["", "/deliveries", "/invoices", "/live"]) {
      await owner.show(page, path)
      await page
        .getByRole("button", { name: /^Updated/ })
        .first()
        .waitFor()
      assert.strictEqual(await page.getByText(/^live$/i).count(), path === "/invoices" ? 1 : 0, path)
    }
    await end()
  })

  it("shows the navigation on the screens of the account, and no empty column before there is an organization", async () => {
    const { end, page } = await open("")
    await page.goto(`${server.url}/console/account`)
    await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Invoices" }).click()
    await page.getByRole("heading", { level: 1, name: "Invoices" }).waitFor()
    await page.route(/\/organizations\?/, (route) =>
      route.fulfill({ json: { object: "list", data: [], has_more: false, next_cursor: null } })
    )
    await page.goto(`${server.url}/console/account`)
    await page.getByRole("heading", { level: 1, name: "Account" }).waitFor()
    assert.strictEqual(await page.getByRole("navigation").count(), 0)
    assert.isBelow((await page.getByRole("main").boundingBox())!.x, 40)
    await end()
  })

  it("says once why a field was refused", async () => {
    const { end, page } = await open("/endpoints/new", { expected: /status of 4\d\d/ })
    await page.getByRole("textbox", { name: "URL" }).fill("http://10.0.0.1/hooks")
    await page.getByRole("button", { name: "Create the endpoint" }).click()
    const error = page.locator("[id$=-error]")
    await error.waitFor()
    const sentence = (await error.innerText()).trim()
    assert.strictEqual(await page.getByText(sentence, { exact: true }).count(), 1)
    assert.strictEqual(await page.getByRole("alert").count(), 0)

    await page.goto(`${server.url}/console/account`)
    await page.getByLabel("Current password").fill("not the password at all")
    await page.getByLabel("New password").fill("another password, long enough")
    await page.getByRole("button", { name: "Change the password" }).click()
    await page.getByText("The current password is wrong.").first().waitFor()
    assert.strictEqual(await page.getByText("The current password is wrong.").count(), 1)
    await end()
  })

  it("names an endpoint by its host and path in every table", async () => {
    const { end, page } = await open("")
    const name = `${new URL(receivers.url).host}/404/hooks`
    for (const path of ["", "/deliveries", "/endpoints"]) {
      await owner.show(page, path)
      for (const row of [page.locator("[data-row]").first(), page.locator("[data-row]").last()]) {
        await row.waitFor()
        assert.include((await row.innerText()).replaceAll(/\s/g, ""), name, path)
      }
    }
    await end()
  })

  it("shows a delivery on a page of its own, which leads back to the filtered list", async () => {
    const { end, page } = await open("/deliveries?status=failed")
    const row = page.locator("[data-row]").first()
    assert.include(await row.innerText(), "404 Not Found")
    await row.getByRole("link").first().click()
    await page.getByRole("region", { name: "What happened" }).waitFor()
    assert.strictEqual(await page.getByRole("table").count(), 0)
    const order = await page.getByRole("region", { name: "What happened" }).innerText()
    const places = ["Planned", "Attempt 1: 404 Not Found", "Failed: there are no further attempts", "What to do"].map(
      (step) => order.indexOf(step)
    )
    assert.deepStrictEqual(
      [...places].sort((one, other) => one - other),
      places
    )
    assert.isAtLeast(places[0]!, 0)
    await page.getByRole("main").getByRole("link", { name: "Deliveries", exact: true }).click()
    await page.waitForURL(/\/deliveries\?status=failed$/)
    await owner.show(page, `/endpoints/${endpoint}/deliveries`)
    await row.getByRole("link").first().click()
    await page
      .getByRole("main")
      .getByRole("link", { name: new URL(receivers.url).host, exact: true })
      .click()
    await page.waitForURL(new RegExp(`/endpoints/${endpoint}/deliveries$`))
    await end()
  })

  it("shows an accepted invoice in one color, and the last step at the end of its line", async () => {
    const { end, page } = await open("/invoices")
    const inList = await colorOf(page.locator("[data-row] [data-badge]", { hasText: "Accepted" }).first())
    await page.locator("[data-row] a").first().click()
    const badge = page.locator("main [data-badge]", { hasText: "Accepted" })
    await badge.waitFor()
    assert.strictEqual(await colorOf(badge), inList)
    const steps = (await page.getByRole("list", { name: "Steps of the invoice" }).boundingBox())!
    const last = (await page
      .getByRole("list", { name: "Steps of the invoice" })
      .getByRole("listitem")
      .last()
      .boundingBox())!
    assert.isAbove((last.x - steps.x) / steps.width, 0.9)
    await end()
  })
})
