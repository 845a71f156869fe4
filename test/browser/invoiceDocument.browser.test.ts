/** The document of an invoice in the console: as a person reads it, and as XML. */
import { readFileSync } from "node:fs"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { examineAll } from "./support/examineAll.ts"
import { Owner } from "./support/owner.ts"

const xml = readFileSync(new URL("../support/fullInvoice.xml", import.meta.url), "utf8")

/** The same document with many lines. */
const withLines = (count: number): string => {
  const [line] = /<FaWiersz>\s*<NrWierszaFa>3[\s\S]*?<\/FaWiersz>/.exec(xml)!
  return xml.replace(line, () =>
    Array.from({ length: count }, (_, index) => line.replace("<NrWierszaFa>3<", `<NrWierszaFa>${index + 3}<`)).join(
      "\n"
    )
  )
}

describe.skipIf(isMissing)("the document of an invoice", () => {
  let browser: Browser
  let server: Deployment
  let owner: Owner
  let key: string
  let invoice: string

  beforeAll(async () => {
    server = await deploy()
    browser = await launch()
    owner = await Owner.make(server)
    key = await owner.createKey()
    invoice = await owner.submit(key, "document", { xml })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  const open = async (path: string, locale = "en-US") => {
    const { context, end } = await watch(browser, server.url, {
      context: { locale, viewport: { width: 1280, height: 800 } }
    })
    const page = await context.newPage()
    await owner.open(page, path)
    return { page, end }
  }

  const panel = (page: Page) => page.locator("[data-panel]").filter({ hasText: "What the document says" })

  it("is shown with its parties, lines, taxes, payment and attachment, in English beside the Polish of the schema", async () => {
    const { end, page } = await open(`/invoices/${invoice}`)
    const document = panel(page)
    await document.getByText("KOR/2026/11/0007").waitFor()
    const text = (await document.innerText()).replaceAll("\u00A0", " ")
    for (const shown of [
      /Seller\s+Sprzedawca/,
      "Sprzedawca Testowy Żółć i Gęśla Jaźń sp. z o.o.",
      /Factor\s+Faktor/,
      "PLN 685.09",
      "12,345.60",
      "Błędna cena jednostkowa",
      "2 November 2026",
      "5265877635-20261102-0A1B2C3D4E5F-6A",
      "Podręcznik „Zażółć gęślą jaźń”",
      "GTIN: 5901234123457",
      "Before the correction: Yes",
      "123.456",
      /Split payment\s+Mechanizm podzielonej płatności/,
      "Bank transfer",
      "Rozliczenie godzin",
      "Konsultant B",
      "Dziękujemy za zakupy."
    ])
      assert.match(text, shown instanceof RegExp ? shown : new RegExp(shown.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    assert.notInclude(text, "VAT group")
    assert.deepStrictEqual(await examineAll(page, true), [])
    await end()
  })

  it("is Polish alone in a Polish page", async () => {
    const { context, end } = await watch(browser, server.url, { context: { viewport: { width: 390, height: 800 } } })
    const page = await context.newPage()
    await owner.open(page, "/account")
    await page.evaluate("localStorage.setItem('govoice.language', 'pl')")
    await owner.show(page, `/invoices/${invoice}`)
    const document = page.locator("[data-panel]").filter({ hasText: "Treść dokumentu" })
    await document.getByText("KOR/2026/11/0007").waitFor()
    const text = await document.innerText()
    for (const shown of ["Sprzedawca", "685,09", "12 345,60", "Stan przed korektą", "Przelew", "2 listopada 2026"]) {
      assert.include(text.replaceAll(/\s/g, " "), shown)
    }
    assert.notMatch(text, /Seller|Bank transfer|Net value/)
    await end()
  })

  it("is shown as XML in a tab with an address of its own, by keyboard", async () => {
    const { end, page } = await open(`/invoices/${invoice}`)
    await panel(page).getByText("KOR/2026/11/0007").waitFor()
    await panel(page).getByRole("link", { name: "XML" }).focus()
    await page.keyboard.press("Enter")
    const lines = page.getByRole("list", { name: "XML of the document" }).getByRole("listitem")
    await lines.first().waitFor()
    assert.match(page.url(), new RegExp(`/invoices/${invoice}/xml$`))
    assert.strictEqual(await lines.count(), xml.trimEnd().split("\n").length)
    assert.strictEqual((await lines.nth(13).innerText()).replaceAll(/\s+/g, " "), "14 <Adres>")
    assert.deepStrictEqual(await examineAll(page, true), [])
    await end()
  })

  it("shows 200 rows of a long table, and all of them on request", async () => {
    const long = await owner.submit(key, "long", { xml: withLines(1500) })
    const { end, page } = await open(`/invoices/${long}`)
    const rows = page.getByRole("table", { name: "Lines" }).getByRole("row")
    await rows.first().waitFor()
    assert.strictEqual(await rows.count(), 201)
    await page.getByRole("button", { name: "Show all 1,503 rows" }).click()
    await rows.nth(1000).waitFor()
    assert.strictEqual(await rows.count(), 1504)
    await panel(page).getByRole("link", { name: "XML" }).click()
    await page.getByText(/^Lines 1 to 1,000 of /).waitFor()
    await page.getByRole("button", { name: "Lines after" }).click()
    await page.getByText(/^Lines 1,001 to 2,000 of /).waitFor()
    await end()
  })

  it("of very many values is shown from its beginning, and whole on request", async () => {
    const values = Array.from({ length: 10_000 }, (_, index) => `<Pole${index}>wartość ${index}</Pole${index}>`).join(
      ""
    )
    const hostile = await owner.submit(key, "hostile", { xml: xml.replace("</Faktura>", `${values}</Faktura>`) })
    const { end, page } = await open(`/invoices/${hostile}`)
    await panel(page).getByText("KOR/2026/11/0007").waitFor()
    const count = () => page.evaluate<number>("document.querySelectorAll('[data-panel] dd').length")
    assert.isBelow(await count(), 5200)
    const startedAt = Date.now()
    await panel(page).getByRole("button", { name: "Show the whole document" }).click()
    await panel(page).getByText("wartość 9999", { exact: true }).waitFor()
    assert.isAbove(await count(), 10_000)
    assert.isBelow(Date.now() - startedAt, 20_000)
    await end()
  })

  it("has its warnings at their lines of the XML, which a list above it leads to", async () => {
    const body = JSON.stringify({ invoice_xml: xml.replace("<P_15>685.09<", "<P_15>1685.09<") })
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": "marked",
      "gov-sandbox-checks": "schema"
    }
    const response = await fetch(`${server.url}/v1/invoices`, { method: "POST", headers, body })
    const { id } = (await response.json()) as { readonly id: string }
    const { end, page } = await open(`/invoices/${id}/xml`)
    const lineOf = (text: string) => `Line ${xml.slice(0, xml.indexOf(text)).split("\n").length}, column 5`
    const mark = page.locator("[data-mark=warn]").filter({ hasText: "<P_15>" })
    await mark.waitFor()
    assert.match(await mark.innerText(), /<P_15>1685\.09<\/P_15>\s*Warning: .*P_15/)
    await page.evaluate("scrollTo(0, 0)")
    await page.getByRole("button", { name: lineOf("<P_15>") }).click()
    await page.locator("[data-mark=warn]:focus").filter({ hasText: "<P_15>" }).waitFor()
    assert.deepStrictEqual(await examineAll(page, true), [])
    await end()
  })

  it("that is of no known form says so, and is shown as XML", async () => {
    const other = await owner.submit(key, "other")
    const { end, page } = await open(`/invoices/${other}`)
    await panel(page).getByText("The document is of no form that can be shown.").waitFor()
    await panel(page).getByRole("link", { name: "XML" }).click()
    await page.getByRole("listitem").getByText("<a/>").waitFor()
    await end()
  })
})
