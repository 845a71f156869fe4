/** The API reference as a browser gets it, without a browser. */
import { Api } from "@govoice/api"
import { OpenApi } from "effect/http-api"
import { HttpRouter } from "effect/http"
import { createHash } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Reference from "../../../src/http/handlers/Reference.ts"

const { dispose, handler } = HttpRouter.toWebHandler(Reference.layer, { disableLogger: true })

const get = (path: string, headers: Record<string, string> = {}) =>
  handler(new Request(`http://localhost${path}`, { headers }))

interface Media {
  readonly required?: boolean
  readonly schema?: unknown
  readonly examples?: { readonly default?: { readonly value: unknown } | undefined } | undefined
}

// The viewer reads `examples`; the document has `example`. Those of optional parameters are in no sample.
const toExample = (_: string, value: Media | null): unknown => {
  if (value?.required === false) return { ...value, schema: undefined, example: undefined, content: undefined }
  if (value?.schema === undefined) return value
  if (value.examples?.default === undefined) return value
  const { value: example } = value.examples.default
  return { ...value, examples: undefined, example }
}

describe("the API reference", () => {
  let html: string
  let policy: ReadonlyMap<string, ReadonlyArray<string>>
  let scripts: ReadonlyArray<string>
  let configuration: Record<string, unknown>

  beforeAll(async () => {
    const response = await get("/docs")
    html = await response.text()
    policy = new Map(
      (response.headers.get("content-security-policy") ?? "").split("; ").map((directive) => {
        const [name = "", ...sources] = directive.split(" ")
        return [name, sources]
      })
    )
    // As a browser reads it: a script ends with the first end tag.
    scripts = [...html.matchAll(/<script[^>]*>([^]*?)<\/script/gi)].map(([, script]) => script!)
    configuration = JSON.parse(
      /^Scalar\.createApiReference\("#reference", (.*)\)$/.exec(scripts[1] ?? "")?.[1] ?? "{}"
    ) as Record<string, unknown>
  })
  afterAll(dispose)

  it("is compressed, and has a validator for each coding", async () => {
    for (const path of ["/docs", "/openapi.json", "/favicon.svg"]) {
      const tags = new Set<string>()
      for (const coding of ["br", "gzip"]) {
        const { headers } = await get(path, { "accept-encoding": coding })
        assert.strictEqual(headers.get("content-encoding"), coding, path)
        assert.strictEqual(headers.get("vary"), "Accept-Encoding")
        const etag = headers.get("etag") ?? ""
        tags.add(etag)
        assert.strictEqual((await get(path, { "accept-encoding": coding, "if-none-match": etag })).status, 304)
      }
      assert.strictEqual(tags.size, 2)
    }
    const compressed = await (await get("/docs", { "accept-encoding": "br" })).arrayBuffer()
    assert.isBelow(compressed.byteLength, 1024 * 1024)
  })

  it("runs the two scripts of the page and no other", () => {
    assert.lengthOf(scripts, 2)
    const hashes = scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`)
    assert.deepStrictEqual(policy.get("script-src"), hashes)
    assert.notMatch(html.replaceAll(/<script>[^]*?<\/script>/g, ""), /<script|\son\w+=|javascript:/i)
  })

  it("can reach no other host", () => {
    assert.deepStrictEqual(policy.get("default-src"), ["'none'"])
    for (const [directive, sources] of policy) {
      if (directive === "script-src") continue
      for (const source of sources) {
        assert.include(["'none'", "'self'", "'unsafe-inline'", "data:"], source, directive)
      }
    }
    assert.deepStrictEqual(policy.get("connect-src"), ["'self'"])
    for (const directive of ["base-uri", "form-action", "frame-ancestors"]) {
      assert.deepStrictEqual(policy.get(directive), ["'none'"], directive)
    }
  })

  it("names no other host outside the viewer and the document", () => {
    const markup = html.replaceAll(/<script>[^]*?<\/script>/g, "")
    assert.include(markup, 'href="/favicon.svg"')
    assert.notInclude(markup, "//")
    const { content: _, ...settings } = configuration
    assert.notMatch(JSON.stringify(settings), /\/\//)
  })

  it("switches off what the viewer would load from its vendor, send to it, or offer for it", () => {
    assert.deepInclude(configuration, {
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: "never",
      agent: { disabled: true },
      mcp: { disabled: true }
    })
    assert.notProperty(configuration, "proxyUrl")
  })

  it("shows the document of /openapi.json, with the documented submission as the body to try", async () => {
    const document = JSON.parse(JSON.stringify(OpenApi.fromApi(Api))) as OpenApi.OpenAPISpec
    assert.deepStrictEqual(await (await get("/openapi.json")).json(), document)
    const shown = configuration["content"] as OpenApi.OpenAPISpec
    const converted = (one: OpenApi.OpenAPISpec) =>
      JSON.parse(JSON.stringify(JSON.parse(JSON.stringify(one), toExample))) as unknown
    assert.deepStrictEqual(converted(shown), converted(document))
    const bodyOf = (one: OpenApi.OpenAPISpec) =>
      one.paths["/v1/invoices"]?.post?.requestBody?.content["application/json"] as unknown as {
        readonly example: { readonly invoice_xml: string }
        readonly examples: { readonly default: { readonly value: unknown } }
      }
    assert.include(bodyOf(document).example.invoice_xml, "<Faktura")
    assert.deepStrictEqual(bodyOf(shown).examples.default.value, bodyOf(document).example)
  })
})
