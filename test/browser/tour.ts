/**
 * Walks through the console as a new owner does, from the sign-up to the first delivered webhook, and then through every
 * screen, in both themes and at both widths. Takes the screenshots of the guide in the light one.
 *
 * Fails if a screen violates a rule of accessibility or the policy of the page, logs an error, or scrolls sideways.
 *
 * `node test/browser/tour.ts [folder]` keeps all screenshots in the folder.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { chromium, type BrowserContext, type Page } from "playwright-core"
import { examine as findViolations } from "./support/axe.ts"
import { chromiumPath, chromiumRemedy } from "./support/chromiumPath.ts"
import { addressOf, type Records, screens } from "./support/screens.ts"

const root = join(import.meta.dirname, "../..")
const guideFolder = join(root, "docs/guides/images")
const allFolder = process.argv[2]

if (chromiumPath === undefined) throw new Error(chromiumRemedy)
const executablePath = chromiumPath

/** A receiver that answers with the status of its path. `/hang` does not answer. */
const receiver = createServer((request, response) => {
  request.resume().on("end", () => {
    const [, status] = /^\/(\d{3})/.exec(request.url ?? "") ?? []
    if (request.url?.startsWith("/hang")) return
    response
      .writeHead(status === undefined ? 204 : Number(status), status === "503" ? { "retry-after": "60" } : {})
      .end()
  })
})
receiver.listen(0, "127.0.0.1")
await once(receiver, "listening")
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

const startServer = async () => {
  const child = spawn(process.execPath, ["--conditions=source", join(root, "apps/server/start.ts")], {
    env: {
      ...process.env,
      PORT: "0",
      GOVOICE_DATA_DIR: "memory",
      GOVOICE_SANDBOX_STEP_MS: "200",
      GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
      GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
      GOVOICE_WEBHOOK_TIMEOUT_MS: "2000"
    },
    stdio: ["ignore", "ignore", "pipe"]
  })
  let output = ""
  for await (const chunk of child.stderr) {
    output += String(chunk)
    const url = /^ {2}API +(http\S+)\/v1$/m.exec(output)?.[1]
    if (url !== undefined) return { url, stop: () => child.kill("SIGTERM") }
  }
  throw new Error(`The server did not start:\n${output}`)
}

const faults: Array<string> = []

const report = (fault: string) => {
  if (!faults.includes(fault)) console.error(fault)
  faults.push(fault)
}

const watch = async (context: BrowserContext) => {
  await context.addInitScript({
    content: `addEventListener("securitypolicyviolation", (event) => console.error("policy: " + event.violatedDirective))`
  })
  context.on("console", (message) => {
    // The first refresh of a browser without a login is answered with 401.
    const isExpected = message.location().url.endsWith("/console/session/refresh") && message.text().includes("401")
    if (message.type() === "error" && !isExpected) report(`${message.text()} ${message.location().url}`)
  })
  context.on("weberror", (error) => report(error.error().message))
}

const examine = async (page: Page, name: string) => {
  for (const fault of await findViolations(page)) report(`${name}: ${fault}`)
}

const shoot = async (page: Page, folder: string | undefined, name: string) => {
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" })
}

// A login may be refreshed 30 times a minute, and each load refreshes it.
const loadEveryMs = 2100
let loadedAt = -Infinity

const load = async (page: Page, address: string) => {
  await page.waitForTimeout(Math.max(0, loadedAt + loadEveryMs - performance.now()))
  loadedAt = performance.now()
  await page.goto(address)
}

const password = "correct horse battery staple"

/** Signs up, makes a key, an endpoint and an invoice, and waits for the webhook. Returns the organization and the key. */
const firstWebhook = async (page: Page) => {
  const step = async (name: string) => {
    await page.waitForTimeout(300)
    await examine(page, `journey ${name}`)
    await shoot(page, allFolder, `journey-${name}`)
  }
  const main = page.getByRole("main")
  await page.getByRole("link", { name: "Sign up" }).click()
  await page.getByLabel("Email").fill("owner@example.com")
  await page.getByLabel("Password").fill(password)
  await step("sign-up")
  await page.getByRole("button", { name: "Create the account" }).click()
  await page.getByLabel("Name").fill("Sprzedawca Testowy")
  await step("organization")
  await page.getByRole("button", { name: "Create the organization" }).click()
  await main.getByRole("heading", { name: "Create a test key" }).waitFor()
  await step("checklist")
  await main.getByRole("link", { name: "New API key" }).click()
  await page.getByLabel("Name").fill("Shop")
  await step("key")
  await main.getByRole("button", { name: "Create the key" }).click()
  const apiKey = await page.locator("[data-secret]").innerText()
  await step("key-secret")
  await page.getByLabel("I have stored it").check()
  await page.getByRole("button", { name: "Done" }).click()
  await page.getByRole("link", { name: "Overview", exact: true }).click()
  await main.getByRole("link", { name: "New endpoint" }).first().click()
  await page.getByRole("textbox", { name: "URL" }).fill(`${receiverUrl}/hooks/govoice`)
  await step("endpoint")
  await main.getByRole("button", { name: "Create the endpoint" }).click()
  await page.locator("[data-secret]").waitFor()
  await step("endpoint-secret")
  await page.getByLabel("I have stored it").check()
  await page.getByRole("button", { name: "Done" }).click()
  await page.getByRole("link", { name: "Overview", exact: true }).click()
  await main.getByRole("button", { name: "Submit a sandbox invoice" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Submit a sandbox invoice" }).click()
  await page.getByText("Submitted.").waitFor()
  await step("submitted")
  await page.getByRole("button", { name: "Close" }).click()
  await page.getByText("Your first webhook was delivered").first().waitFor()
  await step("complete")
  return { org: /org_\w+/.exec(page.url())![0], apiKey }
}

/** Adds endpoints in trouble and invoices of every scenario. */
const addTrouble = async (page: Page, url: string, org: string, apiKey: string) => {
  for (const path of ["404", "503", "302", "hang"]) {
    await load(page, `${url}/console/o/${org}/endpoints/new`)
    await page.getByRole("textbox", { name: "URL" }).fill(`${receiverUrl}/${path}/hooks`)
    await page.getByRole("main").getByRole("button", { name: "Create the endpoint" }).click()
    await page.getByLabel("I have stored it").check()
    await page.getByRole("button", { name: "Done" }).click()
    await page.getByRole("navigation", { name: "Parts of the endpoint" }).waitFor()
  }
  const scenarios = ["accepted", "rejected", "temporary_failure", "accepted", "delayed", "accepted"]
  for (const [index, scenario] of scenarios.entries())
    await fetch(`${url}/v1/invoices`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        "idempotency-key": `tour-${index}`,
        "gov-sandbox-scenario": scenario
      },
      body: JSON.stringify({ invoice_xml: "<a/>", metadata: { order: String(4711 + index), shop: "Warszawa" } })
    })
  // The server keeps the counts of a picture for half a minute.
  await page.waitForTimeout(35_000)
}

const idFrom = async (page: Page, address: string, pattern: RegExp): Promise<RegExpExecArray> => {
  await load(page, address)
  const link = page.locator("[data-row] a").first()
  await link.waitFor()
  return pattern.exec((await link.getAttribute("href"))!)!
}

const run = async () => {
  const server = await startServer()
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    await watch(context)
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    await page.goto(`${server.url}/console`)
    await page.getByRole("heading", { name: "Log in" }).waitFor()
    await examine(page, "log in")
    await shoot(page, allFolder, "log-in")
    const { apiKey, org } = await firstWebhook(page)
    await addTrouble(page, server.url, org, apiKey)

    const base = `${server.url}/console/o/${org}`
    const failed = await idFrom(page, `${base}/deliveries?status=failed`, /endpoints\/(we_\w+)\/deliveries\/(wd_\w+)/)
    const [endpoint] = await idFrom(page, `${base}/endpoints`, /we_\w+/)
    const [invoice] = await idFrom(page, `${base}/invoices?status=accepted`, /inv_\w+/)
    const records: Records = {
      org,
      endpoint: endpoint!,
      failed: { endpoint: failed[1]!, delivery: failed[2]! },
      invoice: invoice!
    }
    const filtered = "/deliveries?type=invoice.accepted&from=2020-01-01T00:00Z&to=2020-01-02T00:00Z"
    const shown = [...screens, { name: "empty", path: () => filtered, inGuide: false }]
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of colorScheme === "light" ? [1280, 360, 320] : [1280, 360]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 800 })
        for (const { inGuide, name, path } of shown) {
          await load(page, addressOf(server.url, records, { path }))
          await page.getByRole("heading", { level: 1 }).waitFor()
          await page.waitForLoadState("networkidle")
          await page.waitForTimeout(250)
          await examine(page, `${name} ${colorScheme} ${width}`)
          if (width !== 320) await shoot(page, allFolder, `${name}-${colorScheme}-${width}`)
          if (width === 1280 && colorScheme === "light" && inGuide) await shoot(page, guideFolder, `console-${name}`)
        }
      }
    }
  } finally {
    await browser.close()
    receiver.closeAllConnections()
    receiver.close()
    server.stop()
  }
}

await run()
console.log(faults.length === 0 ? "No faults." : `${new Set(faults).size} faults.`)
process.exitCode = faults.length === 0 ? 0 : 1
