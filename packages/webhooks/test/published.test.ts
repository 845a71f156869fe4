/**
 * Tests of the published package: bundle sizes, load time, packaging, and types without other type packages. The suite compiles
 * the types as a project without DOM and Node does; in the long tests (`COMPILERS=all`) they are compiled in every way.
 */
import { buildSync } from "esbuild"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { build, dist, root } from "./support/built.ts"

beforeAll(build)

const isEveryCompiler = process.env["COMPILERS"] === "all"

const scratch = mkdtempSync(join(tmpdir(), "govoice-webhooks-"))
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

const verifier = 'export { createVerifier } from "./index.js"'

describe("A bundle, minified by esbuild and compressed by gzip -9,", () => {
  it("has at most 1.9 KB for the verifier", () => {
    assert.isAtMost(gzipped(verifier), 1.9 * 1024)
  })

  it("has at most 2,200 bytes for the root entry with all signers", () => {
    assert.isAtMost(gzipped('export * from "./index.js"'), 2200)
  })

  it.each(["express", "fastify", "node", "web"])("has at most 975 bytes more for /%s than for the verifier", (name) => {
    assert.isAtMost(gzipped(`export * from "./${name}.js"`) - gzipped(verifier), 975)
  })

  it("has at most 11,250 bytes for /effect, including effect", () => {
    assert.isAtMost(gzipped('export * from "./effect.js"'), 11_250)
  })

  // Names the import at fault, which a size alone does not.
  it("has no Node imports, and contains effect for /effect only", () => {
    for (const name of ["index", "testing", "express", "fastify", "node", "web"]) {
      const text = bundle(`export * from "./${name}.js"`)
      assert.notMatch(text, /\b(?:import|require)\s*[("']/, name)
      assert.notInclude(text, "effect", name)
    }
  })
})

describe("The built package", () => {
  it("exports the same names with import and with require", async () => {
    for (const name of ["index", "testing", "express", "fastify", "node", "web"]) {
      const imported = (await import(join(dist, `${name}.js`))) as object
      const required = createRequire(import.meta.url)(join(dist, `${name}.cjs`)) as object
      assert.sameMembers(Object.keys(required), Object.keys(imported), name)
    }
  })

  it("has one error class in all entries", async () => {
    const root = (await import(join(dist, "index.js"))) as object
    const effect = (await import(join(dist, "effect.js"))) as object
    assert.strictEqual(Reflect.get(root, "WebhookVerificationError"), Reflect.get(effect, "WebhookVerificationError"))
  })
})

describe("The package", () => {
  const tools = (name: string) => fileURLToPath(new URL(`../../../node_modules/${name}`, import.meta.url))
  let tarball = ""

  beforeAll(() => {
    // Does what `pnpm pack` does with publishConfig: writes the published manifest and the files that it names.
    const stage = join(scratch, "package")
    mkdirSync(join(stage, "src"), { recursive: true })
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      publishConfig: { exports: object }
      devDependencies?: object
    }
    const { publishConfig, devDependencies: _, ...rest } = manifest
    writeFileSync(join(stage, "package.json"), JSON.stringify({ ...rest, exports: publishConfig.exports }))
    execFileSync("cp", ["-r", dist, join(root, "README.md"), stage])
    execFileSync("cp", [join(root, "src/vectors.json"), join(stage, "src")])
    tarball = join(scratch, "package.tgz")
    execFileSync("tar", ["-czf", tarball, "-C", scratch, "package"])
  })

  it("has the same exports in the workspace and published, except for `source`", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      exports: Record<string, string | { source?: string }>
      publishConfig: { exports: object }
    }
    const published = Object.entries(manifest.exports).map(([path, target]) => {
      if (typeof target === "string") return [path, target]
      const { source: _, ...rest } = target
      return [path, rest]
    })
    assert.deepStrictEqual(Object.fromEntries(published), manifest.publishConfig.exports)
  })

  it("passes publint --strict", () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [tools("publint/src/cli.js"), "--strict", tarball], {
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stdout + stderr)
  })

  it.runIf(isEveryCompiler)("passes the checks of @arethetypeswrong/cli", () => {
    const attw = tools("@arethetypeswrong/cli/dist/index.js")
    for (const options of [
      ["--exclude-entrypoints", "effect"],
      ["--entrypoints", "effect", "--profile", "esm-only"]
    ]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [attw, tarball, ...options], { encoding: "utf8" })
      assert.strictEqual(status, 0, stdout + stderr)
    }
  })

  const compilers: ReadonlyArray<readonly [name: string, options: object]> = [
    ["no DOM, no Node, NodeNext", { module: "NodeNext", lib: ["ES2022"] }],
    ["no DOM, no Node, a bundler", { module: "ESNext", moduleResolution: "Bundler", lib: ["ES2022"] }],
    ["the DOM", { module: "NodeNext", lib: ["ES2022", "DOM", "DOM.Iterable"] }],
    ["node10, CommonJS", { module: "CommonJS", moduleResolution: "node10", ignoreDeprecations: "6.0", lib: ["ES2022"] }]
  ]
  const compiled = isEveryCompiler ? compilers : compilers.slice(0, 1)

  it.each(compiled)(
    "has types that compile with skipLibCheck: false and types: [] (%s)",
    { timeout: 180_000 },
    (name, options) => {
      const project = join(scratch, name.replaceAll(/\W+/g, "-"))
      mkdirSync(join(project, "node_modules/@govoice"), { recursive: true })
      symlinkSync(join(scratch, "package"), join(project, "node_modules/@govoice/webhooks"))
      writeFileSync(join(project, "package.json"), "{}")
      writeFileSync(
        join(project, "tsconfig.json"),
        JSON.stringify({
          compilerOptions: {
            target: "ES2022",
            strict: true,
            exactOptionalPropertyTypes: true,
            skipLibCheck: false,
            types: [],
            noEmit: true,
            preserveSymlinks: true,
            ...options
          }
        })
      )
      writeFileSync(
        join(project, "main.ts"),
        `import { createVerifier, sign, WebhookVerificationError, type WebhookEvent } from "@govoice/webhooks"
import { createHandler as express } from "@govoice/webhooks/express"
import { createHandler as fastify } from "@govoice/webhooks/fastify"
import { createHandler as node } from "@govoice/webhooks/node"
import { signedWebhook } from "@govoice/webhooks/testing"
import { createHandler as web } from "@govoice/webhooks/web"
const secret = "whsec_x"
export const verified = createVerifier({ secret }).verify("{}", { "gov-event-id": "evt_1" })
export const handlers = [
  express({ secret }, ({ event }) => event.type),
  fastify({ secret }, ({ event }) => event.type),
  node({ secret }, ({ event }) => event.type),
  web({ secret }, ({ event }) => event.type)
]
export const number: string = signedWebhook({ secret, type: "invoice.accepted" }).event.data.invoice.official_number
export const describe = (event: WebhookEvent): string => {
  switch (event.type) {
    case "invoice.accepted": return event.data.invoice.official_number
    case "invoice.rejected": return event.data.invoice.rejection.message
    case "invoice.failed": return event.data.invoice.failure.code
    case "invoice.received":
    case "invoice.submitted":
    case "invoice.upo_available": return event.data.invoice.status
    default: {
      const type: string = event.type
      return type + String(event.data["anything"])
    }
  }
}
export { sign, WebhookVerificationError }
`
      )
      const { status, stdout } = spawnSync(process.execPath, [tools("typescript/bin/tsc"), "-p", project], {
        encoding: "utf8"
      })
      assert.strictEqual(status, 0, stdout)
    }
  )
})
