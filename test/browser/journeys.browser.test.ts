/** Journeys of an owner through the console, in a browser. */
import { readFileSync } from "node:fs"
import { createServer, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Server } from "../e2e/support/server.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, logIn, password, signUp } from "./support/deployment.ts"
import { Owner, until } from "./support/owner.ts"

const invoiceXml = readFileSync(new URL("../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")

/** Presses Tab until the focused element has this text, label or name. */
const tabTo = async (page: Page, text: string): Promise<void> => {
  for (let pressed = 0; pressed < 60; pressed++) {
    await page.keyboard.press("Tab")
    const focused = await page.evaluate<string>(`(() => {
      if (!document.activeElement.matches("a, button, input, select")) return ""
      const { ariaLabel, innerText, labels } = document.activeElement
      return [ariaLabel, innerText, labels?.[0]?.innerText].join("\\n")
    })()`)
    if (focused.split("\n").some((line) => line.trim() === text)) return
  }
  throw new Error(`Tab does not reach ${text}`)
}

describe.skipIf(isMissing)("the console", () => {
  let browser: Browser
  let server: Server
  let receiver: HttpServer
  let status = 204

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.resume().on("end", () => response.writeHead(status).end())
    }).listen(0, "127.0.0.1")
    server = await deploy({ GOVOICE_WEBHOOK_ALLOW_HTTP: "true", GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" })
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receiver?.closeAllConnections()
    receiver?.close()
  })

  const receiverUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`

  it("leads from the sign-up to the first delivered webhook by keyboard alone", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const { keyboard } = page
    const store = async () => {
      const secret = await page.locator("[data-secret]").innerText()
      await tabTo(page, "I have stored it")
      await keyboard.press("Space")
      await tabTo(page, "Done")
      await keyboard.press("Enter")
      return secret
    }
    const goToOverview = async () => {
      await page.locator("[data-secret]").waitFor({ state: "detached" })
      await keyboard.press("g")
      await keyboard.press("o")
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    }
    await page.goto(`${server.url}/console`)
    await page.getByRole("heading", { name: "Log in" }).waitFor()
    await tabTo(page, "Sign up")
    await keyboard.press("Enter")
    await page.getByRole("heading", { name: "Sign up" }).waitFor()
    await tabTo(page, "Email")
    await keyboard.type("keyboard@example.com")
    await tabTo(page, "Password")
    await keyboard.type(password)
    await keyboard.press("Enter")
    await page.getByRole("heading", { name: "New organization" }).waitFor()
    await tabTo(page, "Name")
    await keyboard.type("Sprzedawca Testowy")
    await keyboard.press("Enter")
    await page.getByRole("heading", { name: "Create a test key" }).waitFor()
    await tabTo(page, "New API key")
    await keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "New API key" }).waitFor()
    await tabTo(page, "Create the key")
    await keyboard.press("Enter")
    await store()
    await goToOverview()
    await tabTo(page, "New endpoint")
    await keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "New endpoint" }).waitFor()
    await tabTo(page, "URL")
    await keyboard.type(receiverUrl())
    await keyboard.press("Enter")
    await store()
    await goToOverview()
    await tabTo(page, "Submit a sandbox invoice")
    await keyboard.press("Enter")
    await tabTo(page, "Submit a sandbox invoice")
    await keyboard.press("Enter")
    await page.getByText("Submitted.").waitFor()
    await keyboard.press("Escape")
    await page.getByText("Your first webhook was delivered").first().waitFor()
    await end()
  })

  const logInTo = async (page: Page): Promise<string> => {
    await page.goto(`${server.url}/console`)
    await logIn(page, await signUp(server))
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    return /org_\w+/.exec(page.url())![0]
  }

  const createKey = async (page: Page, org: string): Promise<string> => {
    await page.goto(`${server.url}/console/o/${org}/keys/new`)
    await page.getByRole("button", { name: "Create the key" }).click()
    const key = await page.locator("[data-secret]").innerText()
    await page.getByLabel("I have stored it").check()
    await page.getByRole("button", { name: "Done" }).click()
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor()
    return key
  }

  const submit = async (key: string, idempotencyKey: string, invoice_xml = "<a/>"): Promise<string> => {
    const response = await fetch(`${server.url}/v1/invoices`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": idempotencyKey
      },
      body: JSON.stringify({ invoice_xml, metadata: { order: idempotencyKey } })
    })
    return ((await response.json()) as { readonly id: string }).id
  }

  it("revokes an API key only after a confirmation", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const org = await logInTo(page)
    const key = await createKey(page, org)
    const works = async () =>
      (await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status
    await page.getByRole("button", { name: /^Revoke the key/ }).click()
    await page.getByRole("button", { name: "Cancel" }).click()
    assert.strictEqual(await works(), 200)
    await page.getByRole("button", { name: /^Revoke the key/ }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click()
    await page.getByText("No API keys yet").waitFor()
    assert.strictEqual(await works(), 401)
    assert.notInclude(await page.content(), key)
    await end()
  })

  it("downloads receipt, document and code byte for byte, and finds their invoice by the id", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const org = await logInTo(page)
    const key = await createKey(page, org)
    const id = await submit(key, "receipt", invoiceXml)
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").fill(id)
    await page.keyboard.press("Enter")
    for (const [button, path, name] of [
      ["Download UPO", "upo", `upo-${id}.xml`],
      ["Download PDF", "pdf", `invoice-${id}.pdf`],
      ["Download XML", "document", `invoice-${id}.xml`],
      ["Download SVG", "qr", `qr-1-${id}.svg`],
      ["Download PNG", "qr?format=png", `qr-1-${id}.png`]
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: button }).click()
      ])
      const file = await fetch(`${server.url}/v1/invoices/${id}/${path}`, {
        headers: { authorization: `Bearer ${key}` }
      })
      assert.deepStrictEqual(
        await buffer(await download.createReadStream()),
        Buffer.from(await file.arrayBuffer()),
        path
      )
      assert.strictEqual(download.suggestedFilename(), name)
    }
    await end()
  })

  it("finds an invoice by what its owner knows of it, in the list and in the palette", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const org = await logInTo(page)
    const key = await createKey(page, org)
    const id = await submit(key, "order-1", invoiceXml)
    await submit(key, "order-2", invoiceXml.replace("FV/2026/11/0001", "FV/2").replace("5260250274", "5252248481"))
    const list = `${server.url}/console/o/${org}/invoices`
    const rows = page.locator("[data-row]")
    await page.goto(list)
    await rows.nth(1).waitFor()
    for (const text of ["FV/2026/11/0001", "Nabywca Testowy", "5260250274", "PLN\u00A0123.00"]) {
      await rows.nth(1).getByText(text, { exact: true }).waitFor()
    }

    for (const [by, text, query] of [
      ["Invoice number", "FV/2026/11/0001", "number=FV%2F2026%2F11%2F0001"],
      ["Tax number of the buyer", "5260250274", "buyer=5260250274"],
      ["Metadata", "order=order-1", "metadata=order%3Dorder-1"],
      ["Invoice number", "order=order-1", "metadata=order%3Dorder-1"],
      ["Idempotency-Key", "order-1", "key=order-1"]
    ] as const) {
      await page.goto(list)
      await page.getByRole("combobox", { name: "Find invoices by" }).selectOption({ label: by })
      await page.getByRole("textbox", { name: by }).fill(text)
      await page.keyboard.press("Enter")
      await page.waitForURL(`${list}?*${query}*`)
      await rows.nth(1).waitFor({ state: "detached" })
      assert.strictEqual(await rows.first().getAttribute("data-row"), id, query)
      await page.getByRole("button", { name: /^Remove the filter/ }).waitFor()
    }
    await page.goto(list)
    await page.getByRole("textbox", { name: "Invoice number" }).fill(id)
    await page.keyboard.press("Enter")
    await page.waitForURL(`${list}/${id}`)
    await page.getByRole("heading", { level: 1, name: "FV/2026/11/0001" }).waitFor()

    await page.keyboard.press("Control+k")
    await page.getByRole("dialog").getByRole("combobox").fill("5260250274")
    await page.getByRole("option", { name: "Invoices by tax number of the buyer: 5260250274" }).click()
    await page.waitForURL(`${list}?buyer=5260250274`)
    await rows.first().waitFor()
    assert.strictEqual(await rows.count(), 1)
    await end()
  })

  it("shows why a webhook was not delivered, and that the next one is", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const org = await logInTo(page)
    const key = await createKey(page, org)
    await page.goto(`${server.url}/console/o/${org}/endpoints/new`)
    await page.getByRole("textbox", { name: "URL" }).fill(receiverUrl())
    await page.getByRole("button", { name: "Create the endpoint" }).click()
    await page.getByLabel("I have stored it").check()
    await page.getByRole("button", { name: "Done" }).click()
    await page.getByRole("heading", { name: receiverUrl() }).waitFor()
    try {
      status = 404
      await submit(key, "fails")
      await page.goto(`${server.url}/console/o/${org}/deliveries?status=failed`)
      await page.locator("[data-row] a").first().click()
      await page.getByText("The receiver does not have this path.").waitFor()
      assert.match(new URL(page.url()).pathname + new URL(page.url()).search, /\/deliveries\/wd_\w+\?status=failed$/)
      await page.getByRole("main").getByRole("link", { name: "Deliveries", exact: true }).click()
      await page.getByRole("heading", { level: 1, name: "Failed deliveries" }).waitFor()
    } finally {
      status = 204
    }
    await submit(key, "arrives")
    await page.getByRole("link", { name: "Succeeded", exact: true }).click()
    // Rows that are newer than the list wait until they are asked for.
    const arrived = page.locator("[data-row]").getByText("invoice.upo_available").first()
    const show = page.getByRole("button", { name: "new · show" })
    while (!(await arrived.isVisible())) {
      await arrived.or(show).first().waitFor()
      if (await show.isVisible()) await show.click()
    }
    await end()
  })

  it("finds a record of every kind by its id, and no record of another account", async () => {
    const [owner, other] = [await Owner.make(server), await Owner.make(server)]
    const endpoint = await owner.createEndpoint(receiverUrl())
    const key = await owner.createKey()
    const invoice = await owner.submit(key, "palette")
    const [delivery] = await until(
      async () =>
        (await owner.call("GET", "organizations/{org}/deliveries?status=succeeded"))["data"] as ReadonlyArray<{
          readonly id: string
          readonly event_id: string
        }>,
      ({ length }) => length > 0
    )
    const [apiKey] = (await owner.call("GET", "organizations/{org}/api-keys"))["data"] as ReadonlyArray<{
      readonly id: string
    }>
    const { context, end } = await watch(browser, server.url, { expected: /status of 404/ })
    const page = await context.newPage()
    await owner.open(page)
    const goTo = async (id: string) => {
      await page.getByRole("heading", { level: 1 }).waitFor()
      await page.keyboard.press("Control+k")
      await page.getByRole("dialog").getByRole("combobox").fill(` ${id} `)
      await page.keyboard.press("Enter")
    }
    const screens = `/console/o/${owner.org}`
    for (const [id, address] of [
      [endpoint, `${screens}/endpoints/${endpoint}`],
      [delivery!.id, `${screens}/endpoints/${endpoint}/deliveries/${delivery!.id}`],
      [delivery!.event_id, `${screens}/deliveries?event=${delivery!.event_id}`],
      [invoice, `${screens}/invoices/${invoice}`],
      [apiKey!.id, `${screens}/keys`],
      [owner.org, screens]
    ] as const) {
      await goTo(id)
      await page.waitForURL(`${server.url}${address}`)
    }
    const foreign = await other.createEndpoint(receiverUrl())
    await goTo(foreign)
    await page.getByText(`No record of this account has the id ${foreign}.`).waitFor()
    await end()
  })

  it("moves no row of a list until newer rows are requested", async () => {
    const owner = await Owner.make(server)
    await owner.createEndpoint(receiverUrl())
    const key = await owner.createKey()
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const rows = () =>
      page.evaluate<ReadonlyArray<string>>(
        `[...document.querySelectorAll("[data-row]")].map(({ dataset }) => dataset.row)`
      )
    await owner.submit(key, "first")
    await until(
      async () =>
        (await owner.call("GET", "organizations/{org}/deliveries?status=succeeded"))["data"] as ReadonlyArray<unknown>,
      ({ length }) => length === 4
    )
    await owner.open(page, "/deliveries")
    await page.locator("[data-row]").nth(3).waitFor()
    const before = await rows()
    await Promise.all(Array.from({ length: 10 }, (_, n) => owner.submit(key, `later ${n}`)))
    const show = page.getByRole("button", { name: /\d+ new · show/ })
    await show.waitFor()
    assert.deepStrictEqual(await rows(), before)
    await show.click()
    await page.locator("[data-row]").nth(before.length).waitFor()
    assert.deepStrictEqual((await rows()).slice(-before.length), before)
    await end()
  })

  it.each(["deliveries", "invoices"])("shows the page of older %s, and the newer page again", async (list) => {
    const owner = await Owner.make(server)
    const key = await owner.createKey()
    if (list === "deliveries") await Promise.all(Array.from({ length: 4 }, () => owner.createEndpoint(receiverUrl())))
    const count = list === "deliveries" ? 4 : 53
    await Promise.all(Array.from({ length: count }, (_, n) => owner.submit(key, `page ${n}`)))
    const records = await until(
      async () =>
        (await owner.call("GET", `organizations/{org}/${list}?limit=100`))["data"] as ReadonlyArray<{
          readonly id: string
          readonly status: string
          readonly upo_available?: boolean
        }>,
      (all) =>
        list === "deliveries"
          ? all.length === 64 && all.every(({ status }) => status === "succeeded")
          : all.length === 53 && all.every(({ upo_available: isAvailable }) => isAvailable === true)
    )
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const shows = async (expected: ReadonlyArray<{ readonly id: string }>) => {
      await page.locator(`[data-row="${expected.at(-1)!.id}"]`).waitFor()
      const rows = await page.evaluate(`[...document.querySelectorAll("[data-row]")].map(({ dataset }) => dataset.row)`)
      assert.deepStrictEqual(
        rows,
        expected.map(({ id }) => id)
      )
    }
    const [newer, older] = [page.getByRole("button", { name: "Newer" }), page.getByRole("button", { name: "Older" })]
    await owner.open(page, `/${list}`)
    await shows(records.slice(0, 50))
    assert.isTrue(await newer.isDisabled())
    await older.click()
    await shows(records.slice(50))
    assert.isTrue(await older.isDisabled())
    await page.reload()
    await shows(records.slice(50))
    await newer.click()
    await shows(records.slice(0, 50))
    await page.goBack()
    await shows(records.slice(50))
    await end()
  })
})
