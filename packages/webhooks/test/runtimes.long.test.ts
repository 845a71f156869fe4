/**
 * Runs one suite on every installed runtime, on the built files. Prints the runtimes that are not installed.
 */
import { buildSync } from "esbuild"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { build, dist, root } from "./support/built.ts"

interface Runtime {
  readonly name: string
  readonly how: string
  readonly modes: ReadonlyArray<"sync" | "async">
  readonly installed: () => boolean
  readonly command: (urls: ReadonlyArray<string>, mode: string) => [path: string, args: ReadonlyArray<string>]
}

interface Report {
  readonly cases: number
  readonly failures: ReadonlyArray<string>
}

const list = pathToFileURL(join(root, "../../test/runtimes/runtimes.mjs")).href
const { runtimes } = (await import(list)) as { readonly runtimes: ReadonlyArray<Runtime> }
const urlOf = (folder: string) => `${pathToFileURL(folder).href}/`
const vectors = pathToFileURL(join(root, "src/vectors.json")).href

const bundled = mkdtempSync(join(tmpdir(), "govoice-webhooks-"))
afterAll(() => rmSync(bundled, { recursive: true }))

const report = (path: string, args: ReadonlyArray<string>) =>
  new Promise<Report>((resolve, reject) => {
    const child = spawn(path, args, { stdio: ["ignore", "pipe", "pipe"], timeout: 100_000 })
    let output = ""
    let complaints = ""
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()))
    child.on("error", reject)
    child.on("close", () => {
      const line = output.trim().split("\n").at(-1) ?? ""
      if (line.startsWith("{")) resolve(JSON.parse(line) as Report)
      else reject(new Error(`${path} gave no report: ${output}${complaints}`))
    })
  })

beforeAll(() => {
  build()
  // The output of a bundler for workers and browsers.
  buildSync({
    entryPoints: ["index", "web", "testing"].map((name) => join(dist, `${name}.js`)),
    outdir: bundled,
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    logLevel: "error"
  })
})

describe.each(runtimes)("$name", ({ name, how, modes, installed, command }) => {
  if (!installed()) console.warn(`${name} is not installed and was skipped. To install it: ${how}`)

  const suite = (folder: string) => async (mode: string) => {
    const { cases, failures } = await report(...command([urlOf(folder), vectors], mode))
    assert.deepStrictEqual(failures, [])
    assert.isAbove(cases, 140)
  }
  it.skipIf(!installed()).each(modes)(
    "passes the verification suite with the built files (%s)",
    { timeout: 120_000 },
    suite(dist)
  )
  it.skipIf(!installed()).each(modes)(
    "passes the verification suite with a bundle (%s)",
    { timeout: 120_000 },
    suite(bundled)
  )
})
