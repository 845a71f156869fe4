/**
 * The path, the install command and the test command of each runtime.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"

const here = import.meta.dirname
const packages = join(here, "node_modules")
const windows = process.platform === "win32"
export const npm = "node test/runtimes/install.mjs"
const main = join(here, "main.mjs")

const runtime = (name, path, how, command) => ({ name, path, how, installed: () => existsSync(path), command })

const node = (version, path, how = npm) =>
  runtime(`Node ${version}`, path, how, (urls, mode) => [path, [main, ...urls, mode]])
const nodeOf = (alias) => join(packages, alias, "bin", windows ? "node.exe" : "node")

const bun = join(packages, "bun", "bin", "bun.exe")
const deno = join(packages, "deno", windows ? "deno.exe" : "deno")
const miniflare = join(packages, "miniflare")
const chromium =
  process.env["CHROMIUM"] ??
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path)) ??
  "/usr/bin/chromium"

/**
 * `modes`: `sync` for a runtime with node:crypto, `async` for one without. Node, Bun and Deno run both, so that their Web Crypto
 * is tested too.
 */
export const runtimes = [
  { ...node("20", nodeOf("node20")), modes: ["sync", "async"] },
  { ...node("22", nodeOf("node22")), modes: ["sync", "async"] },
  { ...node("24", nodeOf("../../../node_modules/node"), "pnpm install"), modes: ["sync", "async"] },
  { ...runtime("Bun", bun, npm, (urls, mode) => [bun, [main, ...urls, mode]]), modes: ["sync", "async"] },
  {
    ...runtime("Deno", deno, npm, (urls, mode) => [deno, ["run", "--no-config", "-A", main, ...urls, mode]]),
    modes: ["sync", "async"]
  },
  {
    ...runtime("workerd", miniflare, npm, (urls, mode) => [
      process.execPath,
      [join(here, "workerd.mjs"), ...urls, mode]
    ]),
    modes: ["sync", "async"]
  },
  {
    ...runtime("Chromium", chromium, "apt-get install chromium, or CHROMIUM=<path>", (urls) => [
      process.execPath,
      [join(here, "chromium.mjs"), ...urls, chromium]
    ]),
    modes: ["async"]
  }
]
