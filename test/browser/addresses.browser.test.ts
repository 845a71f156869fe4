/** The addresses of the console: the title of each, the filters that they carry, and the parts that cannot be read. */
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch, type Watched } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { visit, type Visitor } from "./support/navigation.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable, type Receivers, startReceivers } from "./support/receivers.ts"

const organization = "Sprzedawca Testowy"

interface Delivery {
  readonly id: string
  readonly endpoint_id: string
  readonly event_type: string
}

describe.skipIf(isMissing)("the addresses of the console", () => {
  let browser: Browser
  let server: Deployment
  let receivers: Receivers
  let owner: Owner
  let endpoint: string
  let deleted: string
  let delivery: Delivery
  let watched: Watched
  let page: Page
  let visitor: Visitor

  beforeAll(async () => {
    receivers = await startReceivers()
    server = await deploy(reachable)
    browser = await launch()
    owner = await Owner.make(server)
    endpoint = await owner.createEndpoint(`${receivers.url}/404`)
    deleted = await owner.createEndpoint(`${receivers.url}/204`)
    await owner.call("DELETE", `webhook-endpoints/${deleted}`)
    await owner.submit(await owner.createKey(), "order-1")
    const list = await until(
      async () =>
        (await owner.call("GET", "organizations/{org}/deliveries?status=failed"))["data"] as ReadonlyArray<Delivery>,
      ({ length }) => length > 0
    )
    delivery = list[0]!
    watched = await watch(browser, server.url, {
      expected: /status of 404/,
      context: { permissions: ["clipboard-read", "clipboard-write"] }
    })
    page = await watched.context.newPage()
    await owner.open(page, "/settings")
    visitor = visit(page)
  })
  afterAll(async () => {
    await watched?.end()
    await browser?.close()
    await server?.stop()
    receivers?.close()
  })

  const show = (path: string) => visitor.show(`${server.url}/console/o/${owner.org}${path}`)
  const main = () => page.getByRole("main")

  it("of each tab and of an open delivery have a title of their own", async () => {
    const short = `${delivery.id.slice(0, 9)}…${delivery.id.slice(-4)}`
    const url = `${receivers.url}/404`
    const titles: ReadonlyArray<readonly [path: string, title: string]> = [
      [`/endpoints/${endpoint}`, `Health · ${url}`],
      [`/endpoints/${endpoint}/deliveries`, `Deliveries · ${url}`],
      [`/endpoints/${endpoint}/receiver`, `Receiver · ${url}`],
      [`/endpoints/${endpoint}/settings`, `Settings · ${url}`],
      [`/endpoints/${endpoint}/deliveries/${delivery.id}?in=endpoint`, `Delivery ${short} · ${delivery.event_type}`],
      ["/deliveries", "Deliveries"],
      ["/deliveries?status=failed", "Failed deliveries"],
      [`/endpoints/${endpoint}/deliveries/${delivery.id}?status=failed`, `Delivery ${short} · ${delivery.event_type}`],
      ["", "Overview"]
    ]
    for (const [path, title] of titles) {
      await show(path)
      assert.strictEqual(await page.title(), `${title} · ${organization} · Govoice`, path)
    }
  })

  it.each([
    ["of the overview", () => "?window=3d&x=1", "x, window"],
    ["of the health of an endpoint", () => `/endpoints/${endpoint}?as=pie`, "as"],
    ["of a tab of an endpoint", () => `/endpoints/${endpoint}/logs`, "logs"]
  ])("%s show the names of the parameters that could not be read", async (_, path, names) => {
    await show(path())
    await main().getByText(`cannot be read (${names})`).waitFor()
    await show("/settings")
  })

  it("with an idempotency key and no mode find the test invoice of the key", async () => {
    const rows = main().locator("[data-row]")
    await show("/invoices?key=order-1")
    assert.strictEqual(await rows.count(), 1)
    await main().getByRole("link", { name: "TEST", exact: true }).and(main().locator("[aria-current]")).waitFor()
    await show("/invoices?key=order-2")
    await main().getByText("No invoices match these filters.").waitFor()
  })

  it("with an endpoint show the endpoint as a filter, also the only one or a deleted one", async () => {
    const filter = main().getByRole("combobox", { name: "Endpoint" })
    for (const [id, name] of [
      [endpoint, `${new URL(receivers.url).host}/404`],
      [deleted, `${deleted.slice(0, 9)}…${deleted.slice(-4)}`]
    ] as const) {
      await show(`/deliveries?endpoint=${id}`)
      assert.strictEqual(await filter.locator("option:checked").innerText(), name)
    }
    await filter.selectOption({ label: "All endpoints" })
    await page.waitForURL(`${server.url}/console/o/${owner.org}/deliveries`)
    await main().locator("[data-row]").first().waitFor()
  })

  it.each(["/deliveries", "/invoices", "/endpoints", "/keys"])(
    "of empty lists show a sentence, an action and a snippet: %s",
    async (path) => {
      const { context, end } = await watch(browser, server.url)
      const empty = await context.newPage()
      await (await Owner.make(server)).open(empty, path)
      const card = empty.getByRole("main")
      assert.strictEqual(await card.getByRole("table").count(), 0)
      await card.getByText(/^No (?:deliveries|invoices|endpoints|API keys) yet\./).waitFor()
      await card.getByRole("link", { name: /^New / }).first().waitFor()
      await card.getByRole("region", { name: /: / }).first().waitFor()
      await end()
    }
  )

  it("with filters that no delivery matches show how long deliveries are kept", async () => {
    await show(`/deliveries?event=evt_${delivery.id.slice(3)}`)
    await main()
      .getByText(/Deliveries are kept for at least \d+ days after their event\./)
      .waitFor()
  })

  it("of deliveries show the count of failed ones, and that of the overview the last change of each endpoint", async () => {
    await show("/deliveries")
    await main()
      .getByRole("link", { name: /^Failed \d+ in 24 hours$/ })
      .waitFor()
    await owner.call("POST", `webhook-endpoints/${endpoint}/rotate-secret`, { activates_in_seconds: 3600 })
    await page.reload()
    await show("")
    const row = main().getByRole("table", { name: "Endpoints" }).locator(`[data-row="${endpoint}"]`)
    await row.getByText(/new secret in/).waitFor()
    assert.include(await row.innerText(), "just now")
  })

  it("of the record of a row have the id that the key c copies", async () => {
    const copied = async (path: string, table: string) => {
      await show(path)
      const row = main().getByRole("table", { name: table }).locator("[data-row]").first()
      await row.getByRole("link").first().focus()
      await page.keyboard.press("c")
      return () => page.evaluate<string>("navigator.clipboard.readText()")
    }
    await until(await copied(`/endpoints/${endpoint}`, "Why deliveries fail"), (text) => text.startsWith("wd_"))
    await until(await copied("?as=table", "Deliveries of the last 24 hours"), (text) => text === endpoint)
  })

  it("of an endpoint show a switch whose accessible name contains its visible text", async () => {
    await show(`/endpoints/${endpoint}`)
    const found = main().getByRole("switch")
    assert.strictEqual(await found.innerText(), "On")
    assert.strictEqual(await found.getAttribute("aria-label"), "Receives events: On")
  })
})
