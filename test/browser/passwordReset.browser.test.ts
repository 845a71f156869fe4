/** A lost password, from the login to the next one, in both languages and themes. */
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Server } from "../e2e/support/server.ts"
import { type Mailbox, openMailbox } from "../support/mailbox.ts"
import { examine } from "./support/axe.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, openAccount, signUp } from "./support/deployment.ts"

const newPassword = "a better battery staple"

const languages = [
  {
    locale: "en-US",
    colorScheme: "light",
    lost: "Forgot password?",
    send: "Send the link",
    sent: "Check your mail",
    save: "Save the password",
    field: "New password",
    saved: "Password saved",
    void: "Request another link"
  },
  {
    locale: "pl-PL",
    colorScheme: "dark",
    lost: "Nie pamiętasz hasła?",
    send: "Wyślij link",
    sent: "Sprawdź pocztę",
    save: "Zapisz hasło",
    field: "Nowe hasło",
    saved: "Hasło zapisane",
    void: "Poproś o nowy link"
  }
] as const

describe.skipIf(isMissing)("a lost password", () => {
  let browser: Browser
  let mailbox: Mailbox
  let server: Server

  beforeAll(async () => {
    mailbox = await openMailbox()
    server = await deploy({ ...mailbox.settings, GOVOICE_PUBLIC_URL: "https://govoice.example.com" })
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await mailbox?.close()
  })

  it.each(languages)("is replaced by the link of a mail ($locale, $colorScheme)", async (words) => {
    const email = await signUp(server)
    const { context, end } = await watch(browser, server.url, {
      expected: /status of 422 .*password-reset/,
      context: { locale: words.locale, colorScheme: words.colorScheme, viewport: { width: 390, height: 800 } }
    })
    const page = await context.newPage()
    const clean = async () => assert.deepStrictEqual(await examine(page), [])

    await page.goto(`${server.url}/console/login`)
    await page.getByRole("link", { name: words.lost }).click()
    await page.getByRole("button", { name: words.send }).waitFor()
    await clean()
    await page.getByRole("textbox").fill(email)
    const count = mailbox.mails.length
    await page.getByRole("button", { name: words.send }).click()
    await page.getByRole("heading", { name: words.sent }).waitFor()
    await clean()

    await mailbox.until(count + 1)
    const link = /\/console\/reset#[\w-]{43}/.exec(mailbox.mails[count]!.text)![0]
    await page.goto(`${server.url}${link}`)
    await page.getByLabel(words.field).fill(newPassword)
    assert.strictEqual(page.url(), `${server.url}/console/reset`)
    await clean()
    await page.getByRole("button", { name: words.save }).click()
    await page.getByRole("heading", { name: words.saved }).waitFor()
    await clean()

    const again = await context.newPage()
    await again.goto(`${server.url}${link}`)
    await again.getByLabel(words.field).fill(newPassword)
    await again.getByRole("button", { name: words.save }).click()
    await again.getByRole("link", { name: words.void }).waitFor()
    await end()
  })

  it("is replaced in a browser that is logged in, too", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await openAccount(context, server, await signUp(server))
    await page.goto(`${server.url}/console/reset#${"A".repeat(43)}`)
    await page.getByLabel("New password").waitFor()
    await end()
  })
})
