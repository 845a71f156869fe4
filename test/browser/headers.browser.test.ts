/** The headers of everything that a browser loads of the console. */
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Server } from "../e2e/support/server.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { deploy, openAccount, signUp } from "./support/deployment.ts"

const promised = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()"
}

describe.skipIf(isMissing)("the console in a browser", () => {
  let browser: Browser
  let server: Server

  beforeAll(async () => {
    server = await deploy()
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  it("is served with the promised headers, word for word, and its scripts are compressed", async () => {
    const { context, end } = await watch(browser, server.url)
    const seen = new Map<string, Readonly<Record<string, string>>>()
    const reading: Array<Promise<void>> = []
    context.on("response", (response) => {
      const { pathname } = new URL(response.url())
      if (!pathname.startsWith("/console")) return
      reading.push(response.allHeaders().then((headers) => void seen.set(pathname, headers)))
    })
    await openAccount(context, server, await signUp(server))
    await Promise.all(reading)
    assert.includeMembers([...seen.keys()], ["/console/account", "/console/config.json", "/console/session"])
    assert.isAbove([...seen.keys()].filter((path) => path.startsWith("/console/assets/")).length, 1)
    for (const [path, headers] of seen) {
      for (const [name, value] of Object.entries(promised)) assert.strictEqual(headers[name], value, `${path} ${name}`)
      if (path.endsWith(".js") || path.endsWith(".css")) {
        assert.strictEqual(headers["cache-control"], "public, max-age=31536000, immutable", path)
      }
    }
    const script = [...seen].find(([path]) => path.startsWith("/console/assets/console") && path.endsWith(".js"))
    assert.include(["br", "gzip"], script?.[1]["content-encoding"])
    await end()
  })

  it("loads the overview with fifteen requests at most beside those for data", async () => {
    const { context, end } = await watch(browser, server.url)
    const page = await openAccount(context, server, await signUp(server))
    const paths: Array<string> = []
    page.on("request", (request) => paths.push(new URL(request.url()).pathname))
    await page.goto(`${server.url}/console`)
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await page.waitForLoadState("networkidle")
    const icon = await page.evaluate<string>("new URL(document.querySelector('link[rel=icon]').href).pathname")
    const first = [...new Set([...paths, icon])].filter((path) => path.startsWith("/console"))
    assert.includeMembers(first, ["/console/config.json", "/console/session/refresh"])
    assert.isAtMost(first.length, 15, first.join(" "))
    await end()
  })

  it("runs under a Content-Security-Policy that the browser enforces", async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${server.url}/console`)
    // Evaluated by the debugger, which the policy does not bind.
    const violated = await page.evaluate<ReadonlyArray<string>>(`new Promise((resolve) => {
      const directives = []
      addEventListener("securitypolicyviolation", (event) => directives.push(event.effectiveDirective))
      new Image().src = "https://example.com/pixel.png"
      const style = document.createElement("style")
      style.textContent = "p { color: red }"
      document.head.append(style)
      try {
        document.body.innerHTML = "<p>markup</p>"
      } catch {
        directives.push("blocked markup")
      }
      fetch("https://example.com/").catch(() => {})
      const startedAt = performance.now()
      setInterval(() => {
        if (new Set(directives).size >= 4 || performance.now() - startedAt > 30000) resolve(directives)
      }, 50)
    })`)
    assert.includeMembers([...violated], ["img-src", "style-src-elem", "blocked markup", "connect-src"])
    await context.close()
  })
})
