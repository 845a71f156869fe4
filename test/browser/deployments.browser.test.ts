/** Deployments that offer less: without sign-up, without the API, without the console, and one that went away. */
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Server } from "../e2e/support/server.ts"
import { examineAll } from "./support/examineAll.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment, logIn } from "./support/deployment.ts"
import { Owner } from "./support/owner.ts"
import { tryAgain } from "./support/tryAgain.ts"

describe.skipIf(isMissing)("the console of a deployment", () => {
  let browser: Browser
  let server: Deployment
  let beside: Server | undefined

  beforeAll(async () => {
    server = await deploy()
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  it("answers 404 and sets no cookie where the console is switched off", async () => {
    const off = await server.startBeside({ GOVOICE_CONSOLE: "off" })
    const context = await browser.newContext()
    const page = await context.newPage()
    const response = await page.goto(`${off.url}/console`)
    assert.strictEqual(response?.status(), 404)
    assert.include(await page.content(), "not_found")
    assert.deepStrictEqual(await context.cookies(), [])
    await context.close()
  })

  it("offers no sign-up where it is closed, and logs existing owners in", async () => {
    const owner = await Owner.make(server)
    const closed = await server.startBeside({ GOVOICE_SIGNUP: "closed" })
    const { context, end } = await watch(browser, closed.url)
    const page = await context.newPage()
    await page.goto(`${closed.url}/console/signup`)
    await page.getByText("Sign-up is closed on this deployment. Ask its operator for an account.").waitFor()
    assert.deepStrictEqual(await examineAll(page, true), [])
    assert.strictEqual(await page.getByLabel("Password").count(), 0)
    await page.getByRole("link", { name: "Log in" }).click()
    await page.getByText("Sign-up is closed on this deployment.").waitFor()
    assert.strictEqual(await page.getByRole("link", { name: "Sign up" }).count(), 0)
    await logIn(page, owner.email)
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await end()
  })

  it("shows that the API is switched off", async () => {
    const off = await server.startBeside({ GOVOICE_API_ENABLED: "false" })
    const { context, end } = await watch(browser, off.url, { expected: /status of 503 .*\/console\/session\/refresh/ })
    const page = await context.newPage()
    await page.goto(`${off.url}/console`)
    await page.getByRole("heading", { level: 1, name: "The API is off" }).waitFor()
    await page.getByText("The operator has turned off the API of this deployment.").waitFor()
    assert.strictEqual(await page.getByRole("textbox").count(), 0)
    await end()
  })

  it("shows the settings with which a server accepts a receiver on the same computer", async () => {
    const owner = await Owner.make(server)
    const { context, end } = await watch(browser, server.url, { expected: /status of 4\d\d .*\/webhook-endpoints/ })
    const page = await context.newPage()
    const fill = async (url: string) => {
      await page.getByRole("textbox", { name: "URL" }).fill(url)
      await page.getByRole("button", { name: "Create the endpoint" }).click()
    }
    await owner.open(page, "/endpoints/new")
    await fill("http://192.168.0.1/hooks")
    await page.locator("input[aria-invalid=true]").waitFor()
    assert.strictEqual(await page.getByText("To try a receiver on this computer").count(), 0)
    await fill("http://127.0.0.1:8080/hooks")
    await page.getByText("To try a receiver on this computer").waitFor()
    const code = await page.getByRole("region", { name: "Settings for receivers on this computer: shell" }).innerText()
    const settings = Array.from(code.matchAll(/^(GOVOICE_\w+)=(\S+)/gm), ([, name, value]) => [name!, value!])
    await end()

    const local = await server.startBeside(Object.fromEntries(settings))
    const other = await watch(browser, local.url)
    const shown = await other.context.newPage()
    await new Owner(local.url, owner).open(shown, "/endpoints/new")
    await shown.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:8080/hooks")
    await shown.getByRole("button", { name: "Create the endpoint" }).click()
    await shown.locator("[data-secret]").waitFor()
    await other.end()
  })

  it("keeps the shown records with their time while the server is unreachable, and continues afterwards", async () => {
    const owner = await Owner.make(server)
    beside = await server.startBeside({})
    const { context, end } = await watch(browser, beside.url, {
      expected: /ERR_(?:CONNECTION_\w+|EMPTY_RESPONSE|SOCKET_\w+|INCOMPLETE_CHUNKED_ENCODING)|status of (?:401|503)/
    })
    const page = await context.newPage()
    await page.goto(`${beside.url}/console`)
    await logIn(page, owner.email)
    await page.getByRole("link", { name: "Deliveries" }).first().click()
    await page.getByText("No deliveries yet").waitFor()
    await beside.kill()
    const notice = page.getByRole("alert").filter({ hasText: "The server cannot be reached." })
    await notice.getByText(/Shown as of \d/).waitFor()
    assert.isTrue(await page.getByText("No deliveries yet").isVisible())
    await server.startBeside({ PORT: String(beside.port) })
    await tryAgain(notice, notice.waitFor({ state: "detached" }))

    // A page that is opened while the server is away has nothing to show but that.
    const late = await context.newPage()
    await late.route("**/console/config.json", (route) => route.abort("connectionrefused"))
    await late.goto(`${beside.url}/console`)
    await late.getByRole("heading", { level: 1, name: "No connection" }).waitFor()
    await late.unroute("**/console/config.json")
    await tryAgain(late, late.getByRole("heading", { level: 1, name: "Overview" }).waitFor())
    await end()
  })
})
