/** Rules for every operation. */
import { assert, describe, it } from "vitest"
import { problemOf } from "../support/agreement.ts"
import { signUp, submit, xml } from "../support/client.ts"
import { operationsOf, optionsOf } from "../support/operations.ts"
import { type ApiSuite, codeOf } from "./suite.ts"

/** Registers the tests. */
export const testOperations = (api: ApiSuite): void => {
  const { accepted, call } = api

  describe("every operation", () => {
    it("accepts a valid request", async () => {
      const fresh = await signUp(call)
      const invoiceId = await accepted(fresh.testKey)
      for (const operation of operationsOf(fresh, invoiceId)) {
        if (operation.id === "apiKeys.revoke" || operation.id === "webhookEndpoints.delete") continue
        if (operation.needsRecord === true) continue
        const answer = await call(
          operation.method,
          operation.path,
          optionsOf(operation, { key: fresh.testKey, token: fresh.token })
        )
        assert.isBelow(answer.status, 300, `${operation.id} ${answer.text}`)
      }
    })

    const withBody = (): ReturnType<typeof operationsOf> =>
      operationsOf(api.tenant, "inv_x").filter(({ body }) => body !== undefined)

    const broken: ReadonlyArray<
      readonly [string, { raw?: string | Uint8Array; headers?: Record<string, string> }, string]
    > = [
      ["text that is not JSON", { raw: "{" }, "invalid_request_body"],
      ["nothing", { raw: "" }, "invalid_request_body"],
      ["a list", { raw: "[]" }, "invalid_request_body"],
      ["null", { raw: "null" }, "invalid_request_body"],
      ["text after the object", { raw: "{} {}" }, "invalid_request_body"],
      [
        "bytes that are not UTF-8",
        { raw: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d) },
        "invalid_request_body"
      ],
      ["UTF-16", { raw: Buffer.from("{}", "utf16le") }, "invalid_request_body"],
      ["brackets ten thousand deep", { raw: `{"a":${"[".repeat(10_000)}` }, "invalid_request_body"],
      ["another type", { raw: "{}", headers: { "content-type": "text/plain" } }, "unsupported_media_type"],
      [
        "a type that ends with +json",
        { raw: "{}", headers: { "content-type": "application/problem+json" } },
        "unsupported_media_type"
      ],
      [
        "another charset",
        { raw: "{}", headers: { "content-type": "application/json; charset=latin1" } },
        "unsupported_media_type"
      ],
      ["an empty type", { raw: "{}", headers: { "content-type": "" } }, "unsupported_media_type"],
      ["a compressed body", { raw: "{}", headers: { "content-encoding": "gzip" } }, "unsupported_media_type"],
      ["5 MiB", { raw: Buffer.alloc(5 * 1024 * 1024, " ") }, "request_too_large"]
    ]

    it.each(broken)("refuses %s", async (_, options, code) => {
      for (const operation of withBody()) {
        if (operation.isBodyOptional === true && options.raw === "") continue
        const { auth, headers } = optionsOf(operation, { key: api.tenant.testKey, token: api.tenant.token })
        const answer = await call(operation.method, operation.path, {
          auth,
          ...options,
          headers: { ...headers, ...options.headers }
        })
        assert.strictEqual(codeOf(answer), code, operation.id)
        if (operation.auth === "key") assert.isNotNull(answer.headers.get("ratelimit"))
      }
    })

    it("accepts the charset in any letter case, and a byte order mark", async () => {
      const answer = await submit(call, api.tenant.testKey, {
        raw: `\uFEFF${JSON.stringify({ invoice_xml: xml })}`,
        headers: { "content-type": 'Application/JSON; Charset="UTF-8"' }
      })
      assert.strictEqual(answer.status, 201)
    })

    it.each(["typo", "__proto__", "constructor", "toString", "", "a".repeat(3000), "\u0000"])(
      "refuses a member named %j",
      async (name) => {
        for (const operation of withBody()) {
          const { auth, headers } = optionsOf(operation, { key: api.tenant.testKey, token: api.tenant.token })
          const body = JSON.stringify(operation.body)
          const raw = `${body.slice(0, -1)}${body === "{}" ? "" : ","}${JSON.stringify(name)}:1}`
          const answer = await call(operation.method, operation.path, { auth, headers, raw })
          assert.strictEqual(codeOf(answer), "unknown_parameter", operation.id)
          assert.isAtMost((problemOf(answer).param ?? "").length, 65)
        }
      }
    )

    it("refuses members of the wrong type, and names them", async () => {
      for (const operation of withBody()) {
        for (const name of Object.keys(operation.body ?? {})) {
          const { auth, headers } = optionsOf(operation, { key: api.tenant.testKey, token: api.tenant.token })
          const body = { ...operation.body, [name]: { wrong: true } }
          const answer = await call(operation.method, operation.path, { auth, headers, body })
          const expected = name === "invoice_xml" ? "invalid_invoice_xml" : "invalid_parameter"
          assert.strictEqual(codeOf(answer), expected, `${operation.id} ${name}`)
          assert.strictEqual(problemOf(answer).param, name)
        }
      }
    })

    it("refuses brackets a million deep in the body of a submission", async () => {
      const answer = await submit(call, api.tenant.testKey, { raw: `{"a":${"[".repeat(1_000_000)}` })
      assert.strictEqual(codeOf(answer), "invalid_request_body")
    })

    it("refuses deeply nested values like any other wrong value", async () => {
      for (const operation of withBody()) {
        // As deep as the limit of the body permits: 16 KiB without a credential, 256 KiB in the rest of the control plane.
        const levels = operation.auth === "key" ? 100_000 : operation.auth === "token" ? 30_000 : 2_000
        const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`
        const nested = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`
        const { auth, headers } = optionsOf(operation, { key: api.tenant.testKey, token: api.tenant.token })
        const ask = (name: string, value: string) => {
          const { [name]: _, ...rest } = operation.body ?? {}
          const body = JSON.stringify(rest)
          const raw = `${body.slice(0, -1)}${body === "{}" ? "" : ","}${JSON.stringify(name)}:${value}}`
          return call(operation.method, operation.path, { auth, headers, raw })
        }
        for (const value of [deep, nested]) {
          assert.strictEqual(codeOf(await ask("typo", value)), "unknown_parameter", operation.id)
          for (const name of Object.keys(operation.body ?? {})) {
            const expected = name === "invoice_xml" ? "invalid_invoice_xml" : "invalid_parameter"
            assert.strictEqual(codeOf(await ask(name, value)), expected, `${operation.id} ${name}`)
          }
        }
      }
      for (const value of [
        `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
        `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`
      ]) {
        const raw = `{"invoice_xml":"<a/>","metadata":{"a":${value}}}`
        assert.strictEqual(codeOf(await submit(call, api.tenant.testKey, { raw })), "invalid_metadata")
      }
    })

    it("answers unknown methods with 405 and OPTIONS with 204, with the allowed methods", async () => {
      const paths = new Map<string, Set<string>>()
      for (const { method, path } of operationsOf(api.tenant, "inv_x")) {
        paths.set(path, (paths.get(path) ?? new Set()).add(method))
      }
      for (const [path, methods] of paths) {
        const allow = [...methods, ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].sort().join(", ")
        const options = await call("OPTIONS", path)
        assert.strictEqual(options.status, 204)
        assert.strictEqual(options.headers.get("allow"), allow)
        for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
          if (methods.has(method)) continue
          const answer = await call(method, path)
          assert.strictEqual(codeOf(answer), "method_not_allowed", `${method} ${path}`)
          assert.strictEqual(answer.headers.get("allow"), allow)
        }
      }
    })

    it("answers HEAD like GET, without a body", async () => {
      const fresh = await signUp(call)
      const invoiceId = await accepted(fresh.testKey)
      let walked = 0
      for (const operation of operationsOf(fresh, invoiceId)) {
        if (operation.method !== "GET" || operation.needsRecord === true) continue
        walked++
        const options = optionsOf(operation, { key: fresh.testKey, token: fresh.token })
        const full = await call("GET", operation.path, options)
        const bare = await call("HEAD", operation.path, options)
        assert.strictEqual(bare.status, 200, operation.id)
        assert.strictEqual(bare.text, "")
        for (const name of ["content-type", "etag", "content-disposition", "cache-control", "ratelimit-policy"]) {
          assert.strictEqual(bare.headers.get(name), full.headers.get(name), `${operation.id} ${name}`)
        }
        assert.strictEqual(bare.headers.get("content-length"), full.headers.get("content-length"), operation.id)
      }
      assert.strictEqual(walked, 26)
    })

    it.each(["a\u0000b", "a\ud800b", "\udc00"])("refuses the text %j, which cannot be stored", async (text) => {
      for (const operation of withBody()) {
        for (const [name, value] of Object.entries(operation.body ?? {})) {
          if (typeof value !== "string") continue
          const { auth, headers } = optionsOf(operation, { key: api.tenant.testKey, token: api.tenant.token })
          const body = { ...operation.body, [name]: value + text }
          const answer = await call(operation.method, operation.path, { auth, headers, body })
          const expected = name === "invoice_xml" ? "invalid_invoice_xml" : "invalid_parameter"
          assert.strictEqual(codeOf(answer), expected, `${operation.id} ${name}`)
          assert.strictEqual(problemOf(answer).param, name)
        }
      }
    })

    it("has responses that no cache stores", async () => {
      const answer = await call("GET", "/v1/me", { auth: api.tenant.testKey })
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    })
  })
}
