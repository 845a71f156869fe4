/**
 * Bundlers bundle the packages from both module systems, and the bundles work.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeProject, type Project } from "../packaging/support/project.ts"
import { load, works } from "./support/program.ts"
import { type Service, startService } from "./support/service.ts"

const bundlers: Readonly<Record<string, (entry: string) => ReadonlyArray<string>>> = {
  esbuild: (entry) => [
    "node_modules/esbuild/bin/esbuild",
    entry,
    "--bundle",
    "--platform=browser",
    "--format=iife",
    "--log-level=error",
    "--outfile=dist/bundle.cjs"
  ],
  rollup: (entry) => [
    "node_modules/rollup/dist/bin/rollup",
    "--silent",
    "--failAfterWarnings",
    "-p",
    'node-resolve={"browser":true}',
    "-p",
    "commonjs",
    "-i",
    entry,
    "-f",
    "iife",
    "-n",
    "bundle",
    "-o",
    "dist/bundle.cjs"
  ],
  Vite: (entry) => ["vite.mjs", entry],
  webpack: (entry) => ["webpack.cjs", entry]
}

const scripts = {
  "vite.mjs": `
import { build } from "vite"
const lib = { entry: process.argv[2], formats: ["iife"], name: "bundle", fileName: () => "bundle.cjs" }
await build({ logLevel: "error", build: { lib } })`,
  "webpack.cjs": `
const { resolve } = require("node:path")
const output = { path: resolve("dist"), filename: "bundle.cjs" }
require("webpack")({ mode: "production", target: "web", entry: "./" + process.argv[2], output }, (error, stats) => {
  if (error) throw error
  if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString())
})`
}

describe("Bundles", () => {
  let service: Service
  let project: Project
  beforeAll(async () => {
    service = await startService()
    project = makeProject({
      packages: ["@govoice/client", "@govoice/webhooks"],
      others: {
        "@rollup/plugin-commonjs": "29.0.3",
        "@rollup/plugin-node-resolve": "16.0.3",
        esbuild: "0.28.2",
        rollup: "4.68.8",
        vite: "8.3.8",
        webpack: "5.112.2"
      }
    })
    const end = "\nuse(webhooks, client).then(console.log)\n"
    project.write("main.mjs", load("esm", service.url) + end)
    project.write("main.cjs", load("cjs", service.url) + end)
    for (const [name, text] of Object.entries(scripts)) project.write(name, text)
  })
  afterAll(() => {
    service?.close()
    project?.remove()
  })

  it.each(Object.keys(bundlers).flatMap((name) => ["main.mjs", "main.cjs"].map((entry) => [name, entry] as const)))(
    "by %s of %s work, and import nothing from Node",
    async (name, entry) => {
      await project.execute(process.execPath, bundlers[name]!(entry))
      assert.notMatch(
        readFileSync(join(project.folder, "dist/bundle.cjs"), "utf8"),
        /require\(\s*["'`](?:node:|crypto)/
      )
      assert.strictEqual(await project.execute(process.execPath, ["dist/bundle.cjs"]), `${works}\n`)
    }
  )
})
