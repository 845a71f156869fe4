/** What an owner should know, on the overview, the endpoint and live mode, in both languages and themes. */
import { existsSync } from "node:fs"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { examine } from "./support/axe.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment, password } from "./support/deployment.ts"
import { Owner } from "./support/owner.ts"

const languages = [
  {
    locale: "en-US",
    colorScheme: "light",
    width: 1280,
    logIn: ["Email", "Password", "Log in"],
    failing: "No webhook to this endpoint has succeeded since",
    disabled: "The server switched this endpoint off",
    offline: "The offline certificate is valid until",
    toEndpoint: "Open the endpoint",
    toLive: "Open Live mode",
    switch: "Receives events"
  },
  {
    locale: "pl-PL",
    colorScheme: "dark",
    width: 390,
    logIn: ["Adres e-mail", "Hasło", "Zaloguj się"],
    failing: "Żaden webhook na ten adres nie dotarł od",
    disabled: "Serwer wyłączył ten adres",
    offline: "Certyfikat offline jest ważny do",
    toEndpoint: "Otwórz adres",
    toLive: "Otwórz tryb produkcyjny",
    switch: "Odbiera zdarzenia"
  }
] as const

const pictures = process.env["PICTURES"]

describe.skipIf(isMissing)("what an owner should know", () => {
  let browser: Browser
  let server: Deployment

  beforeAll(async () => {
    server = await deploy({ GOVOICE_KSEF_URL: "http://127.0.0.1:9/v2" })
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  it.each(languages)(
    "stands above the overview, and where it is mended ($locale, $colorScheme, $width)",
    async (words) => {
      const owner = await Owner.make(server)
      const failing = await owner.createEndpoint("https://failing.example.com/hook")
      const disabled = await owner.createEndpoint("https://off.example.com/hook")
      await server.run(`
        UPDATE webhook_endpoints SET failing_since = now() - interval '7 hours', failed_at = now() WHERE id = '${failing}'
      `)
      await server.run(`
        UPDATE webhook_endpoints SET failing_since = now() - interval '5 days', failed_at = now(), enabled = false, disabled_reason = 'failing'
        WHERE id = '${disabled}'
      `)
      await server.run(`
        INSERT INTO offline_certificates (id, updated_at, valid_from, valid_until, environment, serial_number, subject, private_key)
        VALUES ('${owner.org}', now(), now(), now() + interval '9 days', 'http://127.0.0.1:9/v2', '01', 'CN=Example', '\\x010101')
      `)
      const { colorScheme, locale, width } = words
      const { context, end } = await watch(browser, server.url, {
        context: { locale, colorScheme, viewport: { width, height: 900 } }
      })
      const page = await context.newPage()
      const main = page.getByRole("main")
      const clean = async (name: string) => {
        if (pictures !== undefined && existsSync(pictures)) {
          await page.screenshot({ path: `${pictures}/${name}-${locale}.png`, fullPage: true })
        }
        assert.deepStrictEqual(await examine(page), [])
      }
      await page.goto(`${server.url}/console/o/${owner.org}`)
      const [email, secret, button] = words.logIn
      await page.getByLabel(email).fill(owner.email)
      await page.getByLabel(secret, { exact: true }).fill(password)
      await page.getByRole("button", { name: button }).click()

      for (const text of [words.failing, words.disabled, words.offline]) await main.getByText(text).waitFor()
      await clean("overview")

      await main.getByRole("link", { name: words.toLive }).click()
      await main.getByText(words.offline).waitFor()
      await clean("live")

      await page.goto(`${server.url}/console/o/${owner.org}/endpoints/${disabled}`)
      await main.getByText(words.disabled).waitFor()
      await clean("endpoint")
      await page.getByRole("switch", { name: words.switch }).click()
      await main.getByText(words.disabled).waitFor({ state: "detached" })
      assert.deepInclude(await owner.call("GET", `webhook-endpoints/${disabled}`), {
        enabled: true,
        disabled_reason: null
      })
      await end()
    }
  )

  it("moves nothing of the overview as it appears, with the first steps or without", async () => {
    const owner = await Owner.make(server)
    const { context, end } = await watch(browser, server.url, { context: { viewport: { width: 1280, height: 900 } } })
    const page = await context.newPage()
    await owner.open(page)
    const shift = async (): Promise<number> => {
      await page.reload()
      await page.getByRole("heading", { name: "Getting started" }).waitFor()
      await page.waitForLoadState("networkidle")
      return page.evaluate<number>(`new Promise((resolve) => {
        let sum = 0
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += entry.value
        }).observe({ type: "layout-shift", buffered: true })
        setTimeout(() => resolve(sum), 500)
      })`)
    }
    assert.isBelow(await shift(), 0.02)
    const key = await owner.createKey()
    await owner.createEndpoint("https://nowhere.invalid/hook")
    await owner.submit(key, "first")
    assert.isBelow(await shift(), 0.02)
    await end()
  })
})
