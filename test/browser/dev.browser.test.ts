/** The link that `govoice dev` prints, in a browser. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { builtCommand } from "../e2e/support/build.ts"
import { ServerProcess } from "../support/serverProcess.ts"
import { isMissing, launch } from "./support/chromium.ts"

describe.skipIf(isMissing)("the link of govoice dev", () => {
  let browser: Browser
  let folder: string
  let dev: ServerProcess

  beforeAll(async () => {
    browser = await launch()
    folder = mkdtempSync(join(tmpdir(), "govoice-dev-"))
    dev = new ServerProcess([await builtCommand(), "dev"], { PORT: "0" }, { cwd: folder })
    while (!dev.stdout.includes("Webhooks are verified")) {
      assert.isNull(dev.child.exitCode, dev.text)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })
  afterAll(async () => {
    await browser?.close()
    await dev?.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  })

  it("opens the overview of the organization, logged in, and leaves no token in the address", async () => {
    const context = await browser.newContext()
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    await page.goto(/Log in +(\S+)/.exec(dev.stdout)![1]!)
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    assert.match(page.url(), /\/console\/o\/org_\w{26}$/)
    await page.reload()
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await context.close()
  })
})
