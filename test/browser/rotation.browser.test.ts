/** The rotation of a signing secret in a browser: the new one is shown once, and the old one signs until the chosen time. */
import { createServer, type IncomingHttpHeaders, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createVerifier } from "@govoice/webhooks"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable } from "./support/receivers.ts"

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

describe.skipIf(isMissing)("the secret of an endpoint", () => {
  let browser: Browser
  let server: Deployment
  let receiver: HttpServer
  const received: Array<Received> = []

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
        response.writeHead(204).end()
      })
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

  it("is rotated at the chosen time, shown once, and not kept in the page", async () => {
    const owner = await Owner.make(server)
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`
    const made = await owner.call("POST", "organizations/{org}/webhook-endpoints", { url, event_types: ["*"] })
    const [endpoint, old] = [String(made["id"]), String(made["secret"])]
    const key = await owner.createKey()
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, `/endpoints/${endpoint}/settings`)
    const dialog = page.getByRole("dialog")
    const rotate = async (when: string) => {
      await page.getByRole("main").getByRole("button", { name: "Rotate the secret" }).click()
      assert.isTrue(await dialog.getByRole("radio", { name: /in 24 hours/ }).isChecked(), "24 hours are proposed")
      await dialog.getByText("createVerifier({").waitFor()
      await dialog.getByRole("radio", { name: when }).check()
      await dialog.getByRole("button", { name: "Rotate the secret" }).click()
      const secret = (await dialog.locator("[data-secret]").innerText()).trim()
      assert.match(secret, /^whsec_/)
      // Only its button closes it, after the box is ticked.
      await page.keyboard.press("Escape")
      await dialog.getByRole("button", { name: "Done" }).waitFor()
      assert.isTrue(await dialog.getByRole("button", { name: "Done" }).isDisabled())
      await page.emulateMedia({ media: "print" })
      assert.isFalse(await dialog.locator("[data-secret]").isVisible(), "it is not printed")
      await page.emulateMedia({ media: "screen" })
      await dialog.getByLabel("I have stored it").check()
      await dialog.getByRole("button", { name: "Done" }).click()
      await dialog.waitFor({ state: "detached" })
      const readable = await page.evaluate<string>(
        `JSON.stringify([document.documentElement.outerHTML, location.href, { ...localStorage }, { ...sessionStorage }])`
      )
      assert.notInclude(readable, secret.slice(6))
      return secret
    }
    const verifiedBy = async (secret: string, name: string): Promise<boolean> => {
      received.length = 0
      await owner.submit(key, name)
      await until(
        async () => received.length,
        (count) => count > 0
      )
      const [{ body, headers }] = received as [Received]
      const verifier = createVerifier({ secrets: [secret] })
      return verifier.verify(body, headers).then(
        () => true,
        () => false
      )
    }

    const later = await rotate("in 7 days")
    await page.getByText("A new signing secret is waiting. The old one is used until").waitFor()
    const waits = Date.parse(String((await owner.call("GET", `webhook-endpoints/${endpoint}`))["next_secret_at"]))
    assert.isTrue(waits - Date.now() > 6.9 * 86_400_000 && waits - Date.now() < 7.1 * 86_400_000)
    assert.isTrue(await verifiedBy(old, "before"))
    assert.isFalse(await verifiedBy(later, "not yet"))

    const now = await rotate("now")
    await until(() => verifiedBy(now, `now ${Date.now()}`), Boolean)
    assert.isFalse(await verifiedBy(old, "after"))
    await end()
  })
})
