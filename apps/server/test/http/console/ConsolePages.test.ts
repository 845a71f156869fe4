/** The files of the console as a browser gets them, from a folder of the test. */
import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as ConsolePages from "../../../src/http/console/ConsolePages.ts"
import * as RequestLifecycle from "../../../src/http/middleware/RequestLifecycle.ts"
import type { SettingsShape } from "../../../src/settings/Settings.ts"
import { version } from "../../../src/version.ts"
import * as TestSettings from "../../support/TestSettings.ts"

const serve = (folder: string, settings: Partial<SettingsShape> = {}) => {
  const { dispose, handler } = HttpRouter.toWebHandler(
    ConsolePages.layer(folder).pipe(Layer.provide(RequestLifecycle.layer), Layer.provide(TestSettings.layer(settings))),
    { disableLogger: true }
  )
  const get = (path: string, headers: Record<string, string> = {}) =>
    handler(new Request(`http://127.0.0.1${path}`, { headers: { host: "127.0.0.1", ...headers } }))
  return { dispose, get }
}

// Word for word what the design of the console promises.
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

const assertHeaders = (response: Response, path: string): void => {
  for (const [name, value] of Object.entries(promised)) {
    assert.strictEqual(response.headers.get(name), value, `${path} ${name}`)
  }
}

const html = "<!doctype html><title>Govoice</title>"
const script = `console.log("${"long ".repeat(500)}")`

describe("the files of the console", () => {
  let folder: string
  let server: ReturnType<typeof serve>

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "govoice-console-"))
    mkdirSync(join(folder, "assets"))
    writeFileSync(join(folder, "index.html"), html)
    writeFileSync(join(folder, "index.html.gz"), gzipSync(html))
    writeFileSync(join(folder, "theme-abc123.js"), "theme()")
    writeFileSync(join(folder, "assets/index-abc123.js"), script)
    writeFileSync(join(folder, "assets/index-abc123.js.br"), brotliCompressSync(script))
    writeFileSync(join(folder, "assets/index-abc123.js.gz"), gzipSync(script))
    writeFileSync(join(folder, "assets/index-abc123.css"), "p{}")
    writeFileSync(join(folder, "notes.txt"), "of the build")
    server = serve(folder)
  })
  afterAll(async () => {
    await server.dispose()
    rmSync(folder, { recursive: true })
  })

  it.each([
    "/console",
    "/console/",
    "/console/login",
    "/console/o/org_x/endpoints/we_x/deliveries/wd_x?status=failed",
    "/console/notes.txt",
    "/console/index.html",
    "/console/assets",
    "/console/themes"
  ])("serve the page at %s, to be validated each time", async (path) => {
    const response = await server.get(path)
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("content-type"), "text/html; charset=utf-8")
    assert.strictEqual(response.headers.get("cache-control"), "no-cache")
    assert.strictEqual(await response.text(), html)
    assertHeaders(response, path)
    const validated = await server.get(path, { "if-none-match": response.headers.get("etag") ?? "" })
    assert.strictEqual(validated.status, 304)
    assertHeaders(validated, path)
  })

  it.each([
    ["/console/assets/index-abc123.js", "text/javascript; charset=utf-8", script],
    ["/console/assets/index-abc123.css", "text/css; charset=utf-8", "p{}"],
    ["/console/theme-abc123.js", "text/javascript; charset=utf-8", "theme()"]
  ])("serve %s for a year", async (path, contentType, text) => {
    const response = await server.get(path)
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("content-type"), contentType)
    assert.strictEqual(response.headers.get("cache-control"), "public, max-age=31536000, immutable")
    assert.strictEqual(await response.text(), text)
    assertHeaders(response, path)
  })

  it("are sent in the best coding that the build wrote", async () => {
    const codingOf = async (path: string, accepted: string) => {
      const { headers } = await server.get(path, { "accept-encoding": accepted })
      assert.strictEqual(headers.get("vary"), "Accept-Encoding")
      return headers.get("content-encoding")
    }
    assert.strictEqual(await codingOf("/console/assets/index-abc123.js", "gzip, br"), "br")
    assert.strictEqual(await codingOf("/console/assets/index-abc123.js", "gzip"), "gzip")
    assert.strictEqual(await codingOf("/console", "gzip, br"), "gzip")
    assert.isNull(await codingOf("/console/assets/index-abc123.css", "gzip, br"))
  })

  it.each([
    "/console/assets/missing.js",
    "/console/assets/index-abc123.js.br",
    "/console/assets/..%2findex.html",
    "/console/assets/../../package.json%00.js",
    "/console/theme-old.js"
  ])("answer not_found at %s, with the same headers", async (path) => {
    const response = await server.get(path.replace("/../../", "/%2e%2e%2f%2e%2e%2f"))
    assert.strictEqual(response.status, 404)
    assert.strictEqual(((await response.json()) as { error: { code: string } }).error.code, "not_found")
    assertHeaders(response, path)
  })

  it("tell the page the settings that it depends on, and no others", async () => {
    const response = await server.get("/console/config.json")
    assertHeaders(response, "/console/config.json")
    assert.deepStrictEqual(await response.json(), {
      version,
      signup: "open",
      password_reset: false,
      live_mode: false,
      api_enabled: true,
      event_retention_days: 90
    })
    const closed = serve(folder, { signupOpen: false, apiEnabled: false, liveMode: true, eventRetentionDays: 7 })
    assert.deepStrictEqual(await (await closed.get("/console/config.json")).json(), {
      version,
      signup: "closed",
      password_reset: false,
      live_mode: true,
      api_enabled: false,
      event_retention_days: 7
    })
    assert.strictEqual((await closed.get("/console")).status, 200, "the page says that the API is disabled")
    await closed.dispose()
  })

  it("name the command that builds them when they are missing", async () => {
    const missing = serve(join(folder, "nowhere"))
    const response = await missing.get("/console")
    assert.strictEqual(response.status, 503)
    assertHeaders(response, "/console")
    assert.include(await response.text(), "npx -y pnpm@12 --filter @govoice/console build")
    assert.strictEqual((await missing.get("/console/assets/x.js")).status, 404)
    await missing.dispose()
  })
})
