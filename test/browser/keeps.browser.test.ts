/** The place in a list, a secret that is not stored, and the preferences of the browser, which the console keeps. */
import { createServer, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { hold, scripts } from "./support/hold.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable } from "./support/receivers.ts"

const invoices = 24
const eventsOfInvoice = 4

describe.skipIf(isMissing)("the console keeps", () => {
  let browser: Browser
  let server: Deployment
  let receiver: HttpServer
  let owner: Owner
  let endpoint: string

  const listed = async (path: string) =>
    (await owner.call("GET", `organizations/{org}/${path}`))["data"] as ReadonlyArray<{ readonly upo_available?: true }>

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.resume().on("end", () => response.writeHead(204).end())
    }).listen(0, "127.0.0.1")
    server = await deploy(reachable)
    browser = await launch()
    owner = await Owner.make(server)
    endpoint = await owner.createEndpoint(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`)
    const key = await owner.createKey()
    await Promise.all(Array.from({ length: invoices }, (_, n) => owner.submit(key, `invoice ${n}`)))
    await until(
      () => listed("deliveries?limit=100&status=succeeded"),
      ({ length }) => length === invoices * eventsOfInvoice
    )
    await until(
      () => listed("invoices?limit=100"),
      (all) => all.every(({ upo_available: isAvailable }) => isAvailable === true)
    )
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receiver?.closeAllConnections()
    receiver?.close()
  })

  const scrolled = (page: Page) => page.evaluate<number>("scrollY")
  const hasFocus = (page: Page, selector: string) =>
    until(() => page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`), Boolean)

  /** Scrolls to a row far down in the list. */
  const scrollDown = async (page: Page) => {
    await page.locator("[data-row]").nth(15).waitFor()
    const id = await page.locator("[data-row]").nth(15).getAttribute("data-row")
    const row = page.locator(`[data-row="${id}"]`)
    await page.evaluate(`document.querySelector('[data-row="${id}"]').scrollIntoView({ block: "center" })`)
    assert.isAbove(await scrolled(page), 200)
    const place = async () => (await row.boundingBox())?.y ?? NaN
    const before = await place()
    return {
      link: row.getByRole("link").first(),
      /** Waits until the row is where it was in the window. The head of a list has lines that come and go. */
      isInPlace: () => until(place, (y) => Math.abs(y - before) < 50),
      hasFocus: () => hasFocus(page, `[data-row="${id}"] a`)
    }
  }

  it.each([
    ["invoices", 1280, "h1"],
    ["invoices", 360, "h1"],
    ["deliveries", 1280, "h1"],
    ["deliveries", 360, "h1"]
  ] as const)(
    "the place in the list of %s at %i px, when its owner comes back from a record",
    async (list, width, heading) => {
      const { context, end } = await watch(browser, server.url, { context: { viewport: { width, height: 480 } } })
      const page = await context.newPage()
      await owner.open(page, `/${list}`)
      const row = await scrollDown(page)
      await row.link.click()
      await hasFocus(page, heading)
      await until(
        () => scrolled(page),
        (top) => top === 0
      )
      await page.goBack()
      await row.hasFocus()
      await row.isInPlace()
      await end()
    }
  )

  it("the place in the deliveries of an endpoint, when a delivery was open", async () => {
    const { context, end } = await watch(browser, server.url, { context: { viewport: { width: 1280, height: 480 } } })
    const page = await context.newPage()
    await owner.open(page, `/endpoints/${endpoint}/deliveries`)
    const row = await scrollDown(page)
    await row.link.click()
    await hasFocus(page, "h1")
    await page.goBack()
    await row.hasFocus()
    await row.isInPlace()
    await end()
  })

  const focused = (page: Page) => page.evaluate<string>("document.activeElement.innerText")

  it("the focus on the pager, while a page loads and at its ends", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, "/deliveries")
    const older = page.getByRole("button", { name: "Older" })
    const newer = page.getByRole("button", { name: "Newer" })
    await older.focus()
    const load = await hold(page, "**/v1/**cursor=**")
    await page.keyboard.press("Enter")
    const firstId = () => page.locator("[data-row]").first().getAttribute("data-row")
    const newest = await firstId()
    await page.waitForURL(/cursor=/)
    await until(() => older.isDisabled(), Boolean)
    assert.strictEqual(await focused(page), "Older")
    load()
    await until(firstId, (id) => id !== newest)
    assert.isTrue(await older.isDisabled(), "the last page")
    assert.strictEqual(await focused(page), "Older")
    await newer.press("Enter")
    await until(() => older.isEnabled(), Boolean)
    assert.strictEqual(await focused(page), "Newer")
    await page.getByText("50 per page").waitFor()
    await end()
  })

  it("the focus on the page, when the pressed button is gone", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const [first] = (await owner.call("GET", "organizations/{org}/deliveries?limit=1"))["data"] as ReadonlyArray<{
      readonly event_id: string
    }>
    await owner.open(page, `/deliveries?event=${first!.event_id}`)
    await page.getByRole("button", { name: /^Remove the filter evt_/ }).press("Enter")
    await hasFocus(page, "[data-filters] *")

    const other = await owner.createKey()
    await page.locator("[data-row]").nth(40).waitFor()
    await owner.submit(other, "shown later")
    await page.getByRole("button", { name: /new · show/ }).press("Enter")
    await hasFocus(page, "[data-row]:first-child a")
    await end()
  })

  it("the focus on the page, when a key is revoked, which j and k reach", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.createKey()
    await owner.open(page, "/keys")
    const rows = page.locator("[data-row]")
    await rows.nth(1).waitFor()
    const before = await rows.count()
    await page.keyboard.press("j")
    await hasFocus(page, "[data-row]:first-child button")
    await page.keyboard.press("j")
    await hasFocus(page, "[data-row]:nth-child(2) button")
    await page.keyboard.press("k")
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).press("Enter")
    await until(
      () => rows.count(),
      (count) => count === before - 1
    )
    await hasFocus(page, "h1")
    await end()
  })

  it("the full time of a row visible while its link has the focus", async () => {
    const { context, end } = await watch(browser, server.url, { context: { timezoneId: "UTC" } })
    const page = await context.newPage()
    await owner.open(page, "/deliveries")
    const link = page.locator("[data-row] a").first()
    const whole = await page.locator("[data-row] time").last().getAttribute("title")
    assert.match(whole!, /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC$/)
    const last = page.locator("[data-row]").last().locator("a")
    assert.strictEqual(await last.getAttribute("title"), whole)
    await page.keyboard.press("j")
    assert.strictEqual(
      await page.evaluate("getComputedStyle(document.activeElement, '::before').content"),
      `"${await link.getAttribute("title")}" / ""`
    )
    assert.notInclude(await page.locator("[data-row]").first().ariaSnapshot(), "UTC Succeeded")
    // Beside the times of rows, the clock of live updating is a time.
    await page
      .getByRole("button", { name: /^Updated/ })
      .locator("time[datetime]")
      .waitFor()
    await end()
  })

  it("a secret on the screen until the owner confirms that it is stored, or to leave without it", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const asked: Array<string> = []
    let leaves = false
    page.on("dialog", (dialog) => {
      asked.push(dialog.type())
      void (leaves ? dialog.accept() : dialog.dismiss())
    })
    const secret = page.locator("[data-secret]")
    const create = async () => {
      await page.getByRole("link", { name: "New API key" }).first().click()
      await page.getByRole("button", { name: "Create the key" }).click()
      return secret.innerText()
    }
    const isList = () => page.getByRole("heading", { level: 1, name: "API keys" }).waitFor()

    await owner.open(page, "/keys")
    const shown = await create()
    const ways: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
      ["confirm", () => page.goBack()],
      [
        "confirm",
        async () => {
          await page.getByRole("button", { name: "Submit a sandbox invoice" }).click()
          await page.getByRole("link", { name: "Open the invoice" }).click()
        }
      ],
      [
        "confirm",
        async () => {
          await page.keyboard.press("Control+k")
          await page.getByRole("combobox", { name: "Find an ID or a page" }).fill("Overview")
          await page.keyboard.press("Enter")
        }
      ],
      ["beforeunload", () => page.evaluate("location.reload()")]
    ]
    for (const [index, [type, leave]] of ways.entries()) {
      await leave()
      await until(
        async () => asked.length,
        (count) => count === index + 1
      )
      assert.strictEqual(asked[index], type)
      assert.strictEqual(await secret.innerText(), shown)
      assert.strictEqual(page.url(), `${server.url}/console/o/${owner.org}/keys/new`)
    }

    leaves = true
    await page.goBack()
    await isList()
    assert.strictEqual(asked.length, ways.length + 1)
    assert.notInclude(await page.content(), shown)

    // Nothing asks once it is stored.
    await create()
    await page.getByLabel("I have stored it").check()
    await page.goBack()
    await isList()
    await page.reload()
    await isList()
    assert.strictEqual(asked.length, ways.length + 1)
    await end()
  })

  it("the theme, the density and the time zone, from the first frame of a page", async () => {
    const { context, end } = await watch(browser, server.url, {
      context: { colorScheme: "light", timezoneId: "America/New_York" }
    })
    // Records what each frame shows.
    await context.addInitScript({
      content: `
        globalThis.shown = { grounds: [], zones: [] }
        const add = (all, value) => value && !all.includes(value) && all.push(value)
        const look = () => {
          const ground = document.body && getComputedStyle(document.body).backgroundColor
          if (ground !== "rgba(0, 0, 0, 0)") add(shown.grounds, ground)
          add(shown.zones, document.querySelector("time")?.title.split(" ").at(-1))
          requestAnimationFrame(look)
        }
        look()`
    })
    const shown = (page: Page) =>
      page.evaluate<{ readonly grounds: ReadonlyArray<string>; readonly zones: ReadonlyArray<string> }>("shown")
    const row = (page: Page) => page.locator("tr[data-row]").first()
    const heightOf = async (page: Page) => (await row(page).boundingBox())!.height
    const [light, dark] = ["rgb(246, 247, 249)", "rgb(14, 17, 21)"]

    const page = await context.newPage()
    await owner.open(page, "/deliveries")
    await row(page).waitFor()
    await until(
      () => shown(page),
      ({ zones }) => zones.length > 0
    )
    const before = await shown(page)
    assert.deepStrictEqual(before.grounds, [light])
    assert.notInclude(before.zones, "UTC")
    const dense = await heightOf(page)

    const choices = [
      ["Theme", "dark"],
      ["Density", "comfortable"],
      ["Time zone", "utc"]
    ] as const
    const choice = (name: string) => page.getByRole("combobox", { name, exact: true })
    await page.goto(`${server.url}/console/account`)
    for (const [name, value] of choices) await choice(name).selectOption(value)
    await page.reload()
    for (const [name, value] of choices) {
      await choice(name).waitFor()
      assert.strictEqual(await choice(name).inputValue(), value)
    }

    // Before the scripts of the page are loaded, its ground is there.
    const load = await hold(page, scripts)
    await page.goto(`${server.url}/console/o/${owner.org}/deliveries`, { waitUntil: "commit" })
    await until(
      () => shown(page),
      ({ grounds }) => grounds.length > 0
    )
    assert.deepStrictEqual((await shown(page)).grounds, [dark])
    load()
    await row(page).waitFor()
    await until(
      () => shown(page),
      ({ zones }) => zones.length > 0
    )
    assert.deepStrictEqual(await shown(page), { grounds: [dark], zones: ["UTC"] })
    assert.isAbove(await heightOf(page), dense)
    await end()
  })
})
