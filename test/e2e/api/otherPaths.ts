/** Paths outside the API. */
import { assert, describe, it } from "vitest"
import { catalog } from "../support/agreement.ts"
import { type ApiSuite, codeOf, record } from "./suite.ts"

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
      for (const path of ["/docs/errors/nope", "/docs/errors/toString", "/docs/errors/", "/docs/errors"]) {
        assert.strictEqual(codeOf(await call("GET", path)), "not_found", path)
      }
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
