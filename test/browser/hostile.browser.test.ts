/** Texts of strangers and tenants in the console: every screen shows them as text. */
import { readFileSync } from "node:fs"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { visit } from "./support/navigation.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable, type Receivers, startReceivers } from "./support/receivers.ts"
import { addressOf, screens } from "./support/screens.ts"

// Ends an attribute, a script, a style and a text, and begins what would run or load.
const hostile = `"'></textarea></title></style></script><img data-hostile src=x onerror=alert(1)><script data-hostile>alert(1)</script>{{7*7}}`

// No title of a screen and no fact of an invoice is longer.
const short = `"'><b data-hostile onclick=alert(1)>`

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

const template = readFileSync(new URL("../support/fullInvoice.xml", import.meta.url), "utf8")

/** The document with the text in each of its values, but for those that say which form it is. */
const document = template.replaceAll(
  /<(?!KodFormularza|WariantFormularza)(\w+)>([^<>]*\S[^<>]*)<\/\1>/g,
  (all, name: string) => (name === "NIP" ? all : `<${name}>${escaped(name === "P_2" ? short : hostile)}</${name}>`)
)

describe.skipIf(isMissing)("the console", () => {
  let browser: Browser
  let server: Deployment
  let receivers: Receivers

  beforeAll(async () => {
    receivers = await startReceivers()
    server = await deploy(reachable)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receivers?.close()
  })

  /** What of the texts became markup. */
  const markupOf = (page: Page) =>
    page.evaluate<ReadonlyArray<string>>(
      '[...document.querySelectorAll(\'[data-hostile], img:not([src^="/"]), a[href^="javascript:"]\')].map(({ outerHTML }) => outerHTML)'
    )

  it("shows names, documents, metadata and answers that are markup as text, on every screen", async () => {
    const owner = await Owner.make(server)
    await owner.call("PATCH", "organizations/{org}", { name: hostile })
    await owner.call("POST", "organizations", { name: `other ${hostile}` })
    await owner.call("POST", "organizations/{org}/api-keys", { mode: "test", name: short })
    const key = await owner.createKey()
    const create = async (path: string) => {
      const url = `${receivers.url}${path}?${encodeURIComponent(hostile)}&<b data-hostile>'`
      const body = { url, event_types: ["*"], description: hostile, headers: { "x-b!": hostile } }
      return String((await owner.call("POST", "organizations/{org}/webhook-endpoints", body))["id"])
    }
    const endpoint = await create("/404")
    const invoice = await owner.submit(key, hostile, { xml: document })
    const rejected = await owner.submit(key, "rejected", { xml: document, scenario: "rejected" })
    const failures = () => owner.call("GET", "organizations/{org}/deliveries?status=failed")
    const { data } = await until(failures, (list) => (list["data"] as ReadonlyArray<unknown>).length > 0)
    const [delivery] = data as ReadonlyArray<{ readonly id: string }>
    const read = (id: string) => owner.call("GET", `organizations/{org}/invoices/${id}`)
    await until(
      () => read(rejected),
      ({ status }) => status === "rejected"
    )
    // What KSeF answered.
    const message = `${hostile} line 3, column 5, ${hostile}: ${hostile} (wiersz 4)`
    await server.run(
      `UPDATE invoices SET rejection = ${literal(JSON.stringify({ code: short, message }))}::jsonb WHERE id = '${rejected}'`
    )

    const { context, end } = await watch(browser, server.url, { expected: /status of 4(04|22) / })
    const page = await context.newPage()
    await owner.open(page)
    const { show } = visit(page)
    const records = { org: owner.org, endpoint, invoice, failed: { endpoint, delivery: delivery!.id } }
    const found: Array<string> = []
    const look = async (address: string) => {
      await show(address)
      found.push(...(await markupOf(page)).map((markup) => `${address}: ${markup}`))
    }
    const sought = ["number", "official", "buyer", "seller", "key", "cursor", "status", "from", short]
    const query = new URLSearchParams(Object.fromEntries(sought.map((name) => [name, short]))).toString()
    for (const { path } of [
      ...screens,
      { path: () => `/invoices/${invoice}/xml` },
      { path: () => `/invoices/${rejected}` },
      { path: () => `/invoices/${rejected}/xml` },
      { path: () => `/invoices?${query}` },
      { path: () => `/deliveries?${query}` },
      { path: () => `/invoices/${encodeURIComponent(short)}` },
      { path: () => `/${encodeURIComponent(short)}` },
      { path: () => `/../../go/${encodeURIComponent(short)}` }
    ]) {
      await look(addressOf(server.url, records, { path }))
    }
    await look(`${server.url}/console/o/${owner.org}/invoices/${rejected}/xml`)
    assert.include(await page.locator("main").innerText(), "alert(1)")
    await page.keyboard.press("Control+k")
    for (const text of [hostile, "data-hostile", `a=${short}`]) {
      await page.getByRole("dialog").getByRole("combobox").fill(text)
      found.push(...(await markupOf(page)))
    }
    assert.deepStrictEqual(found, [])
    await end()
  })
})
