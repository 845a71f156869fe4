/** The checklist, as somebody follows it who has never seen the console: from the sign-up to the first verified webhook. */
import { createServer, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createHandler } from "@govoice/webhooks/node"
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment, password } from "./support/deployment.ts"
import { reachable } from "./support/receivers.ts"

/** The actions of a person, counted. Each waits until its element is visible. */
class Person {
  readonly actions: Array<string> = []
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  async #act(name: string, action: Promise<unknown>): Promise<void> {
    this.actions.push(name)
    await action
  }

  press(name: string, inside: Pick<Page, "getByRole"> = this.#page.getByRole("main")): Promise<void> {
    const button = inside.getByRole("button", { name, exact: true })
    return this.#act(
      name,
      button
        .or(inside.getByRole("link", { name, exact: true }))
        .first()
        .click()
    )
  }

  enter(field: string | Locator, text: string): Promise<void> {
    const input = typeof field === "string" ? this.#page.getByLabel(field, { exact: true }) : field
    return this.#act(`enter ${String(field)}`, input.fill(text))
  }

  /** Copies the secret of the dialog, confirms that it is stored, and returns what was copied. */
  async store(): Promise<string> {
    const dialog = this.#page.getByRole("dialog")
    const [outer, done] = await Promise.all([
      dialog.boundingBox(),
      dialog.getByRole("button", { name: "Done" }).boundingBox()
    ])
    assert.isAtMost(done!.y + done!.height, outer!.y + outer!.height, "the button of the dialog is in view")
    const cut = `[...document.querySelectorAll("dialog pre")].filter((pre) => pre.scrollWidth > pre.clientWidth).length`
    assert.strictEqual(await this.#page.evaluate(cut), 0, "no line of code is cut")
    await this.press("Copy", dialog)
    await dialog.getByRole("button", { name: "Copied" }).waitFor()
    const copied = await this.#page.evaluate<string>("navigator.clipboard.readText()")
    await this.#act("I have stored it", dialog.getByLabel("I have stored it").check())
    await this.press("Done", dialog)
    return copied
  }
}

/** A receiver as the snippet has it. It answers 2xx to webhooks that it has verified, once it knows the secret. */
class Receiver {
  readonly verified: Array<string> = []
  readonly #server: HttpServer
  #handler: ReturnType<typeof createHandler> | undefined

  constructor() {
    this.#server = createServer((request, response) => {
      if (this.#handler === undefined) response.writeHead(503).end()
      else void this.#handler(request, response)
    }).listen(0, "127.0.0.1")
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hooks/govoice`
  }

  start(secret: string): void {
    this.#handler = createHandler({ secret }, ({ event }) => void this.verified.push(event.type))
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

describe.skipIf(isMissing)("the checklist", () => {
  let browser: Browser
  let server: Deployment
  let receiver: Receiver

  beforeAll(async () => {
    receiver = new Receiver()
    server = await deploy(reachable)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receiver?.close()
  })

  it("leads from the sign-up to the first verified webhook in 23 actions", async () => {
    const { context, end } = await watch(browser, server.url)
    await context.grantPermissions(["clipboard-read", "clipboard-write"])
    const page = await context.newPage()
    const main = page.getByRole("main")
    const navigation = page.getByRole("navigation").first()
    const person = new Person(page)
    const startedAt = performance.now()

    await page.goto(`${server.url}/console`)
    await person.press("Sign up", page)
    await person.enter("Email", "first@example.com")
    await person.enter("Password", password)
    await person.press("Create the account", page)
    await person.enter("Name", "Sprzedawca Testowy")
    await person.press("Create the organization")

    await main.getByRole("heading", { name: "Create a test key" }).waitFor()
    await person.press("New API key")
    await person.press("Create the key")
    await person.store()
    await person.press("Overview", navigation)

    await person.press("New endpoint")
    await person.enter(page.getByRole("textbox", { name: "URL" }), receiver.url)
    await person.press("Create the endpoint")
    receiver.start(await person.store())
    person.actions.push("start the receiver with the secret")
    await person.press("Overview", navigation)

    await person.press("Submit a sandbox invoice")
    await person.press("Submit a sandbox invoice", page.getByRole("dialog"))
    await page.getByText("Submitted.").waitFor()
    await person.press("Close", page.getByRole("dialog"))
    await page.getByText("Your first webhook was delivered").first().waitFor()
    await main.getByRole("heading", { name: "Getting started" }).waitFor({ state: "detached" })
    await main.getByText("Everything is being delivered.").waitFor()
    // Sooner than counts are asked for elsewhere.
    const accepted = main.locator("dl > div").filter({ hasText: "Accepted, 24 hours" })
    await accepted.getByText("1", { exact: true }).waitFor({ timeout: 40_000 })

    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.log(`Sign-up to the first verified webhook: ${person.actions.length} actions, ${seconds} s in the browser.`)
    assert.isAtMost(person.actions.length, 23, person.actions.join(", "))
    assert.include(receiver.verified, "invoice.received")

    // The key of the submission is gone: the one that was created is the only one.
    await page.getByRole("link", { name: "API keys", exact: true }).first().click()
    await main.locator("[data-row]").first().waitFor()
    assert.strictEqual(await main.locator("[data-row]").count(), 1)
    await end()
  })
})
