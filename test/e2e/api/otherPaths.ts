/** Paths outside the API. */
import { globSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { catalog } from "../support/agreement.ts"
import { type ApiSuite, codeOf, record } from "./suite.ts"

const folder = join(import.meta.dirname, "../../../docs/guides")

/** Registers the tests. */
export const testOtherPaths = (api: ApiSuite): void => {
  const { call } = api

  describe("paths outside the API", () => {
    it("have the banner, liveness, readiness and the reference", async () => {
      const root = await call("GET", "/")
      assert.deepInclude(record(root), { docs: "/docs", openapi: "/openapi.json" })
      assert.deepStrictEqual(record(await call("GET", "/healthz")), { status: "ok" })
      assert.deepStrictEqual(record(await call("GET", "/readyz")), { status: "ready", checks: { database: "ok" } })
      assert.match((await call("GET", "/docs")).headers.get("content-type") ?? "", /^text\/html/)
    })

    it("serve a page about each error code", async () => {
      for (const code of Object.keys(catalog)) {
        const page = await call("GET", `/docs/errors/${code}`)
        assert.strictEqual(page.status, 200, code)
        assert.strictEqual(page.headers.get("content-type"), "text/plain; charset=utf-8")
        assert.match(page.text, new RegExp(`^# \`${code}\`\n[^]*\n## What to do\n`))
      }
      const html = await call("GET", "/docs/errors/invalid_invoice_xml", {
        headers: { accept: "text/html,*/*;q=0.8" }
      })
      assert.strictEqual(html.headers.get("content-type"), "text/html; charset=utf-8")
      assert.strictEqual(html.headers.get("vary"), "Accept")
      assert.match(html.text, /<h1 id="invalid_invoice_xml"><code>invalid_invoice_xml<\/code><\/h1>/)
      assert.include(html.text, '<a href="/docs/guides/checking-invoices">Checking invoices</a>')
      const list = await fetch(`${api.server.url}/docs/errors`, { redirect: "manual" })
      assert.strictEqual(list.headers.get("location"), "/docs/guides/errors")
      assert.strictEqual(codeOf(await call("GET", "/docs/errors/")), "not_found")
      for (const path of ["/docs/errors/nope", "/docs/errors/toString", "/docs/nope"]) {
        assert.strictEqual(codeOf(await call("GET", path)), "not_found", path)
        const page = await fetch(`${api.server.url}${path}`, { headers: { accept: "text/html" } })
        assert.strictEqual(page.status, 404)
        assert.include(await page.text(), "Page not found</h1>", path)
      }
    })

    it("serve the guides, to which the reference leads", async () => {
      assert.include((await call("GET", "/docs")).text, '<a href="/docs/guides">Guides</a>')
      const contents = await call("GET", "/docs/guides")
      const guides = Array.from(contents.text.matchAll(/<a href="(\/docs\/guides\/[^"]+)">/g), ([, path]) => path!)
      assert.sameMembers(
        guides,
        globSync("*.md", { cwd: folder }).map((file) => `/docs/guides/${file.replace(".md", "")}`)
      )
      for (const path of guides) {
        const page = await call("GET", path)
        assert.strictEqual(page.status, 200, path)
        assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
        for (const [, link] of page.text.matchAll(/ href="(\/docs\/[^"#]+)/g))
          assert.strictEqual((await call("GET", link!)).status, 200, `${path}: ${link}`)
      }
      const [, font = ""] = /url\("(\/docs\/typeface\/[^"]+)"\)/.exec(contents.text) ?? []
      const typeface = await call("GET", font)
      assert.strictEqual(typeface.status, 200)
      assert.strictEqual(typeface.headers.get("content-type"), "font/woff2")
      for (const path of [
        "/docs/typeface/nope",
        "/docs/typeface/..%2fpackage.json",
        "/docs/guides/nope",
        `/docs/guides/${"a".repeat(300)}`,
        "/docs/guides/..%2ferrors%2fREADME",
        "/docs/guides/"
      ])
        assert.strictEqual(codeOf(await call("GET", path)), "not_found", path)
    })

    it.each([
      "/nope",
      "/v1",
      "/v1/",
      "/v1/nope",
      "/v2/me",
      "/v1/me/",
      "//v1/me",
      "/v1//me",
      "/V1/me",
      "/v1/me;a=b",
      "/v1/events",
      "/v1/control-plane",
      "/metrics",
      "/v1/..%2fhealthz"
    ])("answer not_found at %s", async (path) => {
      for (const method of ["GET", "POST", "OPTIONS"]) {
        assert.strictEqual(codeOf(await call(method, path)), "not_found", method)
      }
    })

    it.each(["/v1/invoices/%", "/v1/invoices/%zz", "/%c3%28", "/%"])("answer malformed_request at %s", async (path) => {
      assert.strictEqual(codeOf(await call("GET", path)), "malformed_request")
    })
  })
}
