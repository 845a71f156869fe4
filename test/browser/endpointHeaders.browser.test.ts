/** Headers and modes of an endpoint in a browser: values are sent to the receiver, and shown nowhere. */
import { createServer, type IncomingHttpHeaders, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable } from "./support/receivers.ts"

describe.skipIf(isMissing)("headers and modes of an endpoint", () => {
  let browser: Browser
  let server: Deployment
  let receiver: HttpServer
  const received: Array<IncomingHttpHeaders> = []

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      received.push(request.headers)
      request.resume().on("end", () => response.writeHead(204).end())
    }).listen(0, "127.0.0.1")
    server = await deploy(reachable)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receiver?.closeAllConnections()
    receiver?.close()
  })

  it("are set under its settings; values leave the page when they are saved", async () => {
    const owner = await Owner.make(server)
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`
    const made = await owner.call("POST", "organizations/{org}/webhook-endpoints", { url, event_types: ["*"] })
    const key = await owner.createKey()
    const { context, end } = await watch(browser, server.url, { expected: /status of 422/ })
    const page = await context.newPage()
    await owner.open(page, `/endpoints/${String(made["id"])}/settings`)
    const main = page.getByRole("main")
    const replace = main.getByRole("button", { name: "Replace the headers" })

    await main.getByLabel("New headers").fill("no header")
    await replace.click()
    await main.getByText("Each line needs a name, a colon and a value.").waitFor()
    await main.getByLabel("New headers").fill("Gov-Signature: v1=00")
    await replace.click()
    await main.getByText(/must not have the header Gov-Signature/).waitFor()

    await main.getByLabel("New headers").fill("X-Api-Key: key-of-the-gateway\nX-Tenant: a: b")
    await replace.click()
    await main.getByText("X-Api-Key, X-Tenant").waitFor()
    const readable = await page.evaluate<string>(
      `JSON.stringify([document.documentElement.outerHTML, document.querySelector("textarea").value, { ...localStorage }, { ...sessionStorage }])`
    )
    assert.notInclude(readable, "key-of-the-gateway")
    await owner.submit(key, "one")
    await until(
      async () => received.length,
      (count) => count > 0
    )
    assert.deepInclude(received[0], { "x-api-key": "key-of-the-gateway", "x-tenant": "a: b" })

    await main.getByRole("checkbox", { name: /^test/i }).uncheck()
    assert.isTrue(await main.getByRole("checkbox", { name: /^live/i }).isDisabled(), "one mode stays")
    await main.getByRole("button", { name: "Save" }).click()
    await until(
      () => owner.call("GET", `webhook-endpoints/${String(made["id"])}`),
      ({ modes }) => JSON.stringify(modes) === '["live"]'
    )
    await main.getByRole("button", { name: "Remove all" }).click()
    await main.getByText("None").waitFor()
    await end()
  })
})
