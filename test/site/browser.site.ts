/** The built site in a browser: search, copied blocks, wide tables, and the API reference. */
import type { Browser, Page } from "playwright-core"
import { pathToFileURL } from "node:url"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isMissing, launch, watch } from "../browser/support/chromium.ts"
import { blocksOf } from "../e2e/support/quickStart.ts"
import { folder, serve, sources } from "./support/site.ts"

describe.skipIf(isMissing)("the documentation site in a browser", () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof serve>>
  beforeAll(async () => {
    site = await serve()
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
  })

  // The viewer of the reference asks whether it may evaluate code, and goes on without.
  const expected = /^policy violated: script-src eval/

  const visit = async (path: string, width = 1280, use: (page: Page) => Promise<void>) => {
    const { context, end } = await watch(browser, site.url, { expected, context: { viewport: { width, height: 800 } } })
    const page = await context.newPage()
    await page.goto(`${site.url}/${path}`)
    // The page hides itself until its navigation is read; a block hidden so is copied without its line ends.
    await page.locator("body").waitFor({ state: "visible" })
    await use(page)
    await end()
  }

  it.each(["idempotency", "webhook", "retry", "secret", "backup", "verify", "deadline", "dispatcher", "settings"])(
    "the search for %s has guides above symbols",
    (query) =>
      visit("index.html", 1280, async (page) => {
        await page.locator("#tsd-search-trigger").click()
        await page.locator("#tsd-search-input").fill(query)
        const links = page.locator("#tsd-search-results a")
        await links.first().waitFor()
        const found = await page.evaluate<ReadonlyArray<string>>(
          `[...document.querySelectorAll("#tsd-search-results a")].map((link) => link.getAttribute("href"))`
        )
        const kinds = found.map((href) => {
          if (/\/(?:Guides|Start)\./.test(href)) return "guide"
          return href.includes("documents/") ? "page" : "symbol"
        })
        assert.strictEqual(kinds[0], "guide", found.join("\n"))
        const firstSymbol = kinds.indexOf("symbol")
        if (firstSymbol !== -1) assert.notInclude(kinds.slice(firstSymbol), "guide", found.join("\n"))
      })
  )

  it.each(["createVerifier", "judgeUrl", "waitForUpo"])("the search for %s has the symbol", (query) =>
    visit("index.html", 1280, async (page) => {
      await page.locator("#tsd-search-trigger").click()
      await page.locator("#tsd-search-input").fill(query)
      await page.locator(`#tsd-search-results a[href*=".${query}.html"]`).first().waitFor()
    })
  )

  it.each(sources)("%s copies the blocks of %s", (path, source) =>
    visit(path, 1280, async (page) => {
      const copied = await page.evaluate<ReadonlyArray<string>>(`(() => {
        const texts = []
        Object.defineProperty(navigator, "clipboard", { value: { writeText: (text) => texts.push(text) } })
        for (const button of document.querySelectorAll("pre > button")) button.click()
        return texts
      })()`)
      assert.deepStrictEqual(
        [...copied],
        blocksOf(source).map(({ text }) => text.trim())
      )
    })
  )

  // The color of an element at its right edge, in its first row below the head, as red, green and blue.
  const rightEdge = async (page: Page, selector: string): Promise<ReadonlyArray<number>> => {
    const picture = (await page.locator(selector).first().screenshot()).toString("base64")
    return page.evaluate<ReadonlyArray<number>>(`new Promise((resolve, reject) => {
      const image = new Image()
      image.onerror = reject
      image.onload = () => {
        const canvas = document.createElement("canvas")
        canvas.width = image.width
        canvas.height = image.height
        const context = canvas.getContext("2d")
        context.drawImage(image, 0, 0)
        resolve([...context.getImageData(image.width - 2, Math.min(60, image.height - 1), 1, 1).data].slice(0, 3))
      }
      image.src = "data:image/png;base64,${picture}"
    })`)
  }

  it("shows that a wide table scrolls, and scrolls it by keyboard, on a narrow screen", () =>
    visit("documents/Guides.Settings.html", 360, async (page) => {
      const sizes = await page.evaluate<Readonly<Record<string, number>>>(`(() => {
        const box = document.querySelector(".wide")
        return { page: document.documentElement.scrollWidth, inner: box.scrollWidth, outer: box.clientWidth }
      })()`)
      assert.isAtMost(sizes["page"]!, 360)
      assert.isAbove(sizes["inner"]!, sizes["outer"]! + 50)

      const before = await rightEdge(page, ".wide")
      const box = page.locator(".wide").first()
      await box.focus()
      await page.keyboard.press("ArrowRight")
      await page.waitForFunction(`document.querySelector(".wide").scrollLeft > 0`)
      await page.evaluate("document.activeElement.blur()")
      await page.waitForFunction(`(() => {
        const box = document.querySelector(".wide")
        box.scrollTo({ left: box.scrollWidth, behavior: "instant" })
        return box.scrollLeft + box.clientWidth >= box.scrollWidth - 1
      })()`)
      const after = await rightEdge(page, ".wide")
      assert.notDeepEqual(before, after, "the shadow at the right edge ends with the table")
    }))

  it.each([360, 1280])(
    "shows the doors and the code of the first page, and names of settings whole, at %d px",
    (width) =>
      visit("index.html", width, async (page) => {
        assert.strictEqual(await page.locator(".doors a").count(), 4)
        const hidden = `[...document.querySelectorAll("pre")].filter((pre) => pre.scrollWidth > pre.clientWidth).length`
        if (width > 1000) assert.strictEqual(await page.evaluate(hidden), 0, "no line of code is cut")
        await page.evaluate("document.fonts.ready")
        assert.isTrue(await page.evaluate(`document.fonts.check('1em "Hanken Grotesk"', "Faktura")`))
        await page.goto(`${site.url}/documents/Guides.Settings.html`)
        await page.locator("body").waitFor({ state: "visible" })
        // A name breaks after an underscore at most, and only on a narrow screen.
        const broken = `[...document.querySelectorAll("td:first-child code")].filter((code) => code.getClientRects().length > 1).length`
        if (width > 1000) assert.strictEqual(await page.evaluate(broken), 0)
        await page.goto(`${site.url}/documents/Errors.All_codes.html`)
        await page.locator("body").waitFor({ state: "visible" })
        assert.strictEqual(await page.evaluate(broken), 0, "no code of an error is broken")
      })
  )

  it("leads a Polish reader to a page in Polish", () =>
    visit("index.html", 1280, async (page) => {
      await page.getByRole("link", { name: "Poradnik dla integratorów po polsku" }).click()
      await page.getByRole("heading", { level: 1, name: "Dla integratorów" }).waitFor()
      assert.strictEqual(await page.locator("html").getAttribute("lang"), "pl")
    }))

  it.each([360, 1280])("no page of a role is wider than a screen of %d px", async (width) => {
    for (const role of ["integrators", "receivers", "operators", "embedders"]) {
      await visit(`documents/Start.For_${role}.html`, width, async (page) => {
        assert.isAtMost(await page.evaluate<number>("document.documentElement.scrollWidth"), width, role)
      })
    }
  })

  it("leads from a guide to the API reference, which calls no other host", () =>
    visit("documents/Guides.Errors.html", 1280, async (page) => {
      await page.getByRole("link", { name: "API reference" }).first().click()
      await page.getByRole("heading", { level: 1, name: "Govoice API" }).waitFor()
      await page.waitForLoadState("networkidle")
      assert.strictEqual(await page.title(), "Govoice API")
      await page.getByRole("link", { name: "Documentation" }).click()
      await page.getByRole("heading", { level: 1, name: "Invoices into KSeF" }).waitFor()
    }))

  it("opens from a file system too", async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const foreign: Array<string> = []
    page.on("request", (request) => {
      if (!/^(?:file|data|blob):/.test(request.url())) foreign.push(request.url())
    })
    await page.goto(pathToFileURL(join(folder, "reference.html")).href)
    await page.getByRole("heading", { level: 1, name: "Govoice API" }).waitFor()
    await page.goto(pathToFileURL(join(folder, "documents/Start.html")).href)
    const icon = await page.evaluate<number>(`new Promise((resolve) => {
      const image = new Image()
      image.onload = () => resolve(image.width)
      image.onerror = () => resolve(0)
      image.src = document.querySelector("link[rel=icon]").href
    })`)
    assert.isAbove(icon, 0, "the icon is a picture")
    assert.deepStrictEqual(foreign, [])
    await context.close()
  })
})
