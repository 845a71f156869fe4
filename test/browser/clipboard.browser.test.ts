/** The clipboards of pages in one browser. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch } from "./support/chromium.ts"

describe.skipIf(isMissing)("a page of a browser test", () => {
  let browser: Browser
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html").end(`<!doctype html><link rel="icon" href="data:,">`)
  })
  let origin: string

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    server.closeAllConnections()
    server.close()
  })

  it("reads from the clipboard what it wrote, not what a page of another context wrote", async () => {
    const write = async (text: string) => {
      const { context, end } = await watch(browser, origin, {
        context: { permissions: ["clipboard-read", "clipboard-write"] }
      })
      const page = await context.newPage()
      await page.goto(origin)
      await page.evaluate(`navigator.clipboard.writeText("${text}")`)
      return { end, read: () => page.evaluate("navigator.clipboard.readText()") }
    }
    const [one, other] = [await write("one"), await write("other")]
    assert.deepStrictEqual([await one.read(), await other.read()], ["one", "other"])
    await one.end()
    await other.end()
  })
})
