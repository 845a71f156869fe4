/**
 * Tests of the published package: bundle sizes, load time, and types without other type packages. The suite compiles the types
 * with those of Node; in the long tests (`COMPILERS=all`) they are compiled in every way.
 */
import { buildSync } from "esbuild"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { build, dist, root } from "./support/built.ts"

beforeAll(build)

const isEveryCompiler = process.env["COMPILERS"] === "all"

const scratch = mkdtempSync(join(tmpdir(), "govoice-client-"))
afterAll(() => rmSync(scratch, { recursive: true }))

const bundle = (contents: string): string =>
  buildSync({
    stdin: { contents, resolveDir: dist },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    logLevel: "error"
  }).outputFiles[0]!.text

const gzipped = (contents: string) => gzipSync(bundle(contents), { level: 9 }).length

const oneGet = `
  import { createConnection, getInvoice } from "./index.js"
  export const show = (options, id) => getInvoice(createConnection(options), id)`

describe("A bundle, minified by esbuild and compressed by gzip -9,", () => {
  it("has at most 3 KB for one GET", () => {
    assert.isAtMost(gzipped(oneGet), 3 * 1024)
  })

  it("has at most 4,900 bytes for createClient and the guards", () => {
    assert.isAtMost(gzipped('export { createClient, isApiError, isGovoiceError } from "./index.js"'), 4900)
  })

  // A tenth of it is `internal/schemas.ts`.
  it("has at most 6.5 KB for all exports", () => {
    assert.isAtMost(gzipped('export * from "./index.js"'), 6.5 * 1024)
  })

  it("has at most 16,350 bytes for /effect, including effect", () => {
    const contents = 'export * from "./effect.js"\nexport { runPromise } from "effect/Effect"'
    assert.isAtMost(gzipped(contents), 16_350)
  })

  // Names the import at fault, which a size alone does not.
  it("for one GET contains neither the control plane nor the wait for a status", () => {
    const text = bundle(oneGet)
    for (const part of ["control-plane", "webhook", "secret", "randomUUID", "onProgress", "/upo", "content-type"]) {
      assert.notInclude(text, part)
    }
  })

  it("of the root entry contains no Node imports and no effect", () => {
    const text = bundle('export * from "./index.js"')
    assert.notMatch(text, /\b(?:import|require)\s*[("']/)
    assert.notMatch(text, /\b(?:effect|process|Buffer)\b/)
  })
})

describe("The built package", () => {
  it("exports the same names with import and with require", async () => {
    const imported = (await import(join(dist, "index.js"))) as object
    const required = createRequire(import.meta.url)(join(dist, "index.cjs")) as object
    assert.deepStrictEqual(Object.keys(required).sort(), Object.keys(imported).sort())
  })

  it("imports modules of effect, never the root of effect", () => {
    assert.notMatch(readFileSync(join(dist, "effect.js"), "utf8"), /from ["']effect["']/)
  })
})

// -----------------------------------------------------------------------------
// Types
// -----------------------------------------------------------------------------

const program = (from: string) => `
import { createClient, createControlPlane, isApiError, type Invoice, type InvoiceStatus } from ${JSON.stringify(from)}
const client = createClient({ apiKey: "sk_test_1", baseUrl: "https://example.com" })
export const status = async (id: string): Promise<InvoiceStatus | null> => {
  try {
    const invoice: Invoice = await client.invoices.get(id)
    const number: string | null = invoice.officialNumber
    if (invoice.status === "accepted" && number !== null) return invoice.status
    return "a status that is younger"
  } catch (error) {
    if (isApiError(error, "invoice_not_found")) {
      const code: "invoice_not_found" = error.code
      return code === "invoice_not_found" ? null : "never"
    }
    throw error
  }
}
export const list = async () => {
  const controlPlane = createControlPlane({ baseUrl: "https://example.com" })
  for await (const { status } of controlPlane.deliveries.list("we_1", { status: "failed" })) return status
  return undefined
}
// @ts-expect-error a scenario that there is not
client.invoices.submit({ invoiceXml: "", sandboxScenario: "slow" })
// @ts-expect-error a document is needed
client.invoices.submit({})
`
const withPlatform = (from: string) => `
import { createClient as create, submitInvoice } from ${JSON.stringify(from)}
const given = create({ apiKey: "sk_test_1", baseUrl: "https://example.com", fetch })
export const again = create({
  apiKey: "sk_test_1",
  baseUrl: "https://example.com",
  fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, "x-trace": "1" } })
})
export const mocked = create({ apiKey: "a", baseUrl: "https://example.com", fetch: async () => new Response("{}") })
submitInvoice(given, { invoiceXml: "" }, { signal: AbortSignal.timeout(1000) })
export const stream = async () => new Response((await given.invoices.downloadUpo("inv_1")).stream())
`
const withEffect = `
import { createClient, type ApiError } from "@govoice/client/effect"
import * as Effect from "effect/Effect"
const client = createClient({ apiKey: "sk_test_1", baseUrl: "https://example.com" })
export const program: Effect.Effect<string | null, ApiError> = client.invoices.get("inv_1", { timeoutMs: 1 }).pipe(
  Effect.map(({ officialNumber }) => officialNumber),
  Effect.catchTags({
    ConnectionError: () => Effect.succeed(null),
    TimeoutError: () => Effect.succeed(null),
    AbortedError: () => Effect.succeed(null),
    DecodeError: () => Effect.succeed(null),
    UpoUnavailableError: () => Effect.succeed(null)
  })
)
// @ts-expect-error interruption is the signal
client.invoices.get("inv_1", { signal: undefined })
`

const typescript = createRequire(join(root, "package.json")).resolve("typescript/package.json")
const tsc = join(dirname(typescript), "bin/tsc")

describe("The types, with skipLibCheck: false", () => {
  const compile = (name: string, source: string, options: Record<string, unknown>) => {
    const folder = join(scratch, name)
    mkdirSync(join(folder, "node_modules/@govoice"), { recursive: true })
    symlinkSync(root, join(folder, "node_modules/@govoice/client"))
    symlinkSync(join(root, "node_modules/effect"), join(folder, "node_modules/effect"))
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
    writeFileSync(join(folder, "program.ts"), source)
    const compilerOptions = {
      target: "ES2022",
      module: "NodeNext",
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: false,
      types: [],
      ...options
    }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }))
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" })
    assert.strictEqual(`${stdout}${status}`, "0")
  }
  const timeout = { timeout: 180_000 }
  const withNode = { types: ["node"], typeRoots: [join(root, "../../node_modules/@types")] }

  it.runIf(isEveryCompiler)("compile without the types of the DOM and Node", timeout, () => {
    compile("bare", program("@govoice/client"), { lib: ["ES2022"] })
  })

  it.runIf(isEveryCompiler)("compile with the types of the DOM", timeout, () => {
    compile("dom", program("@govoice/client") + withPlatform("@govoice/client"), { lib: ["ES2022", "DOM"] })
  })

  it("compile with the types of Node", timeout, () => {
    compile("node", program("@govoice/client") + withPlatform("@govoice/client"), { lib: ["ES2022"], ...withNode })
  })

  it.runIf(isEveryCompiler)("are found by CommonJS and bundler resolution", timeout, () => {
    compile("commonjs", program("@govoice/client"), { lib: ["ES2022"], module: "Node16" })
    compile("bundler", program("@govoice/client"), { lib: ["ES2022"], module: "ESNext", moduleResolution: "Bundler" })
  })

  it("have all errors in the error channel of /effect", timeout, () => {
    compile("effect", withEffect, { lib: ["ES2023", "DOM", "DOM.Iterable", "ESNext.Disposable"], skipLibCheck: true })
  })
})
