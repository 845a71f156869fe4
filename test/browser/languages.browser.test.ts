/** The console in the language of its reader: that of the browser, or the one that is chosen in the account. */
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { en } from "../../apps/console/src/text/en.ts"
import { pl } from "../../apps/console/src/text/pl.ts"
import { examine } from "./support/axe.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment, password } from "./support/deployment.ts"
import { visit } from "./support/navigation.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable, type Receivers, startReceivers } from "./support/receivers.ts"
import { addressOf, type Records, screens } from "./support/screens.ts"

const wordsOf = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(wordsOf)
      : []

const polish = new Set(wordsOf(pl))

/** The texts that are English alone, the short ones left out: they can be values of records. */
const englishAlone = new Set(wordsOf(en).filter((words) => words.length > 7 && !polish.has(words)))

describe.skipIf(isMissing)("the language of the console", () => {
  let browser: Browser
  let server: Deployment
  let receivers: Receivers
  let owner: Owner
  let records: Records

  beforeAll(async () => {
    receivers = await startReceivers()
    server = await deploy(reachable)
    browser = await launch()
    owner = await Owner.make(server)
    const endpoint = await owner.createEndpoint(`${receivers.url}/404`)
    const invoice = await owner.submit(await owner.createKey(), "languages")
    const { data } = await until(
      () => owner.call("GET", "organizations/{org}/deliveries?status=failed"),
      ({ data }) => (data as ReadonlyArray<unknown>).length === 4
    )
    const [{ id: delivery }] = data as readonly [{ readonly id: string }]
    records = { org: owner.org, endpoint, failed: { endpoint, delivery }, invoice }
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receivers?.close()
  })

  it("is Polish on every screen of a Polish browser, without an English text", async () => {
    const { context, end } = await watch(browser, server.url, {
      context: { locale: "pl-PL", viewport: { width: 390, height: 800 } }
    })
    const page = await context.newPage()
    await page.goto(`${server.url}/console/o/${owner.org}`)
    await page.getByRole("heading", { level: 1, name: "Logowanie" }).waitFor()
    await page.getByLabel("Adres e-mail").fill(owner.email)
    await page.getByLabel("Hasło").fill(password)
    await page.getByRole("button", { name: "Zaloguj się" }).click()
    await page.getByRole("heading", { level: 1, name: "Przegląd" }).waitFor()
    const { show } = visit(page)
    for (const screen of screens) {
      await show(addressOf(server.url, records, screen), true)
      await page.locator("[role=status][aria-label=Wczytywanie]").first().waitFor({ state: "detached" })
      assert.strictEqual(await page.locator("html").getAttribute("lang"), "pl")
      const shown = await page.evaluate<ReadonlyArray<string>>(`(() => {
        const texts = [], nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
        while (nodes.nextNode()) texts.push(nodes.currentNode.data.trim())
        for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]"))
          for (const name of ["aria-label", "title", "placeholder"]) texts.push(element.getAttribute(name) ?? "")
        return texts
      })()`)
      assert.deepStrictEqual(
        shown.filter((text) => englishAlone.has(text)),
        [],
        screen.name
      )
      assert.deepStrictEqual(await examine(page, ["html-has-lang", "html-lang-valid", "valid-lang"]), [], screen.name)
    }
    await page.getByRole("button", { name: "Pomoc" }).click()
    await page.getByRole("link", { name: "Poradnik: dla integratorów" }).click()
    await page.getByRole("heading", { level: 1, name: "Dla integratorów" }).waitFor()
    assert.strictEqual(await page.locator("html").getAttribute("lang"), "pl")
    await end()
  })

  it("is the one that was chosen in the account, in every tab and after a reload", async () => {
    const { context, end } = await watch(browser, server.url, { context: { locale: "pl-PL" } })
    const page = await context.newPage()
    await page.goto(`${server.url}/console/account`)
    await page.getByLabel("Adres e-mail").fill(owner.email)
    await page.getByLabel("Hasło").fill(password)
    await page.getByRole("button", { name: "Zaloguj się" }).click()
    await page.getByLabel("Język").selectOption("en")
    await page.getByRole("heading", { level: 1, name: "Account" }).waitFor()
    const other = await context.newPage()
    await other.goto(`${server.url}/console/o/${owner.org}/invoices`)
    await other.getByRole("heading", { level: 1, name: "Invoices" }).waitFor()
    await page.getByLabel("Language").selectOption("browser")
    await page.getByRole("heading", { level: 1, name: "Konto" }).waitFor()
    await end()
  })

  it("is the first of the browser that the console has, and English without one", async () => {
    for (const [locale, lang] of [
      ["de-DE", "en"],
      ["pl", "pl"]
    ] as const) {
      const { context, end } = await watch(browser, server.url, { context: { locale } })
      const page = await context.newPage()
      await page.goto(`${server.url}/console`)
      await page.getByRole("heading", { level: 1 }).waitFor()
      assert.strictEqual(await page.locator("html").getAttribute("lang"), lang)
      await end()
    }
  })

  it("writes dates, amounts and numbers, and says what was refused", async () => {
    const xml = `<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/"><Naglowek><KodFormularza kodSystemowy="FA (3)" wersjaSchemy="1-0E">FA</KodFormularza></Naglowek><Fa><KodWaluty>PLN</KodWaluty><P_1>2026-11-20</P_1><P_2>FV/7</P_2><P_15>1230.50</P_15></Fa></Faktura>`
    const invoice = await owner.submit(await owner.createKey(), "amounts", { xml })
    for (const [locale, day, total] of [
      ["pl-PL", "20 listopada 2026", /1230,50\szł/],
      ["en-GB", "20 November 2026", /PLN\s1,230\.50/]
    ] as const) {
      const { context, end } = await watch(browser, server.url, { context: { locale }, expected: /status of 4\d\d/ })
      const page = await context.newPage()
      await page.goto(`${server.url}/console/o/${owner.org}/invoices/${invoice}`)
      await page.locator("input[name=email]").fill(owner.email)
      await page.locator("input[name=password]").fill(`${password}, and more`)
      await page.locator("button[type=submit]").click()
      await page.getByRole("alert").waitFor()
      const { problems } = locale === "pl-PL" ? pl : en
      assert.include(await page.getByRole("alert").innerText(), problems["invalid_credentials"]!)
      await page.locator("input[name=password]").fill(password)
      await page.locator("button[type=submit]").click()
      await page.getByText(day).first().waitFor()
      await page.getByText(total).first().waitFor()
      await end()
    }
  })
})
