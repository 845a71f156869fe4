/** The pages before the login, and what opens above a screen: menus, the palette, the keys, and each dialog. */
import { randomUUID } from "node:crypto"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { examineAll } from "./support/examineAll.ts"
import { isMissing, launch, watch, type Watched } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { visit, type Visitor } from "./support/navigation.ts"
import { Owner } from "./support/owner.ts"

const click = (text: string) => (page: Page) => page.locator("main button", { hasText: text }).first().click()

const press = (key: string) => (page: Page) => page.keyboard.press(key)

/** Something that opens above a screen of the organization. */
interface Overlay {
  readonly name: string
  readonly path: string
  readonly open: (page: Page) => Promise<unknown>
}

describe.skipIf(isMissing)("the console", () => {
  let browser: Browser
  let server: Deployment

  beforeAll(async () => {
    server = await deploy({
      GOVOICE_LIVE_MODE: "true",
      GOVOICE_KSEF_URL: "http://127.0.0.1:9/v2",
      GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1000000"
    })
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  it.each([
    ["log-in", "/login", "Log in"],
    ["sign-up", "/signup", "Create the account"]
  ])("has no accessibility violation on the page of the %s, before and after a refusal", async (_, path, action) => {
    const { context, end } = await watch(browser, server.url, { expected: /status of 4\d\d/ })
    const page = await context.newPage()
    await page.goto(`${server.url}/console${path}`)
    await page.getByRole("heading", { level: 1 }).waitFor()
    assert.deepStrictEqual(await examineAll(page), [])
    await page.getByLabel("Email").fill("nobody@example.com")
    await page.getByLabel("Password").first().fill("short, and wrong")
    await page.route(/\/console\/session$|\/control-plane\/accounts$/, (route) =>
      route.fulfill({
        status: 400,
        json: { error: { type: "invalid_request", code: "invalid_credentials", message: "Refused.", param: null } }
      })
    )
    await page.getByRole("button", { name: action }).first().click()
    await page.getByRole("alert").first().waitFor()
    assert.deepStrictEqual(await examineAll(page), [])
    await end()
  })

  it("shows an error and a link to log in when the first log-in of a new account fails", async () => {
    const { context, end } = await watch(browser, server.url, { expected: /ERR_FAILED .*\/console\/session/ })
    const page = await context.newPage()
    await page.goto(`${server.url}/console/signup`)
    await page.getByLabel("Email").fill(`${randomUUID()}@example.com`)
    await page.getByLabel("Password").first().fill("correct horse battery")
    await page.route(/\/console\/session$/, (route) => route.abort())
    await page.getByRole("button", { name: "Create the account" }).click()
    await page.getByRole("alert").waitFor()
    await page.getByRole("link", { name: "Log in" }).waitFor()
    await end()
  })

  describe("in an overlay", () => {
    let visitor: Visitor
    let watched: Watched
    let owner: Owner
    let endpoint: string

    beforeAll(async () => {
      owner = await Owner.make(server)
      endpoint = await owner.createEndpoint("https://shop.example.com/hooks")
      await owner.createKey()
      await owner.createKey("live")
      await owner.call("PUT", "organizations/{org}/gateway-credential", {
        type: "ksef_token",
        token: "20261122-EC-0000000000-0000000000-00|nip-5265877635|0",
        context: { type: "Nip", value: "5265877635" }
      })
      watched = await watch(browser, server.url)
      const page = await watched.context.newPage()
      await owner.open(page, "/settings")
      visitor = visit(page)
    })
    afterAll(() => watched?.end())

    const settings = () => `/endpoints/${endpoint}/settings`
    const menu = (name: RegExp | string) => (page: Page) => page.getByRole("button", { name }).first().click()
    const overlays: ReadonlyArray<Overlay> = [
      { name: "the palette", path: "/settings", open: press("Control+k") },
      { name: "the list of keys", path: "/settings", open: press("?") },
      { name: "the menu of the account", path: "/settings", open: menu("Account") },
      { name: "the menu of the organizations", path: "/settings", open: menu(/^Organizations/) },
      { name: "the menu of times", path: "/deliveries", open: menu(/^Time/) },
      {
        name: "a range of times",
        path: "/deliveries",
        open: async (page) => {
          await menu(/^Time/)(page)
          await page.getByText("Custom range").click()
        }
      },
      { name: "the deletion of an endpoint", path: "settings", open: click("Delete") },
      { name: "the pause of an endpoint", path: "settings", open: click("Turn off") },
      { name: "the rotation of a secret", path: "settings", open: click("Rotate the secret") },
      { name: "the revocation of a key", path: "/keys", open: click("Revoke") },
      { name: "a new secret", path: "/keys/new", open: click("Create the key") },
      { name: "the submission of an invoice", path: "", open: click("Submit a sandbox invoice") }
    ]

    it.each(overlays)("has no accessibility violation: $name", async ({ open, path }) => {
      const { page, show } = visitor
      await page.setViewportSize({ width: 1280, height: 800 })
      page.once("dialog", (dialog) => void dialog.accept())
      await show(`${server.url}/console/o/${owner.org}${path === "settings" ? settings() : path}`)
      const overlay = page.locator("dialog[open], :popover-open").first()
      await open(page)
      await overlay.waitFor()
      assert.deepStrictEqual(await examineAll(page), [])
      assert.isTrue(await overlay.isVisible(), "is still open")
      await page.keyboard.press("Escape")
    })
  })
})
