/**
 * Runs each fault scenario on each installed runtime, with the built package. Prints the runtimes that are not installed.
 */
import { buildSync } from "esbuild"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { build, dist, root } from "./support/built.ts"
import { type FaultServer, startFaultServer } from "./support/faultServer.ts"
import { scenarios } from "./support/scenarios.ts"

interface Runtime {
  readonly name: string
  readonly path: string
  readonly how: string
  readonly installed: () => boolean
}

type Report = Readonly<Record<string, ReadonlyArray<string>>>

const list = pathToFileURL(join(root, "../../test/runtimes/runtimes.mjs")).href
const { runtimes } = (await import(list)) as { readonly runtimes: ReadonlyArray<Runtime> }

const scratch = mkdtempSync(join(tmpdir(), "govoice-client-"))
const program = join(scratch, "program.mjs")

const bundle = (contents: string): string =>
  buildSync({
    stdin: {
      contents: `
        import * as library from ${JSON.stringify(join(dist, "index.js"))}
        import { runScenarios } from ${JSON.stringify(join(import.meta.dirname, "support/scenarios.ts"))}
        ${contents}`,
      resolveDir: root
    },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    target: "es2022"
  }).outputFiles[0]!.text

let server: FaultServer
beforeAll(async () => {
  build()
  writeFileSync(program, bundle("console.log(JSON.stringify(await runScenarios(library, process.argv[2])))"))
  server = await startFaultServer()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})

const inProcess = (path: string, args: ReadonlyArray<string>) =>
  new Promise<Report>((resolve, reject) => {
    const child = spawn(path, [...args, program, server.origin], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 120_000
    })
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

interface Miniflare {
  dispatchFetch(url: string): Promise<{ json(): Promise<unknown> }>
  dispose(): Promise<void>
}

const inWorker = async (path: string): Promise<Report> => {
  const { Miniflare } = (await import(pathToFileURL(join(path, "dist/src/index.js")).href)) as {
    readonly Miniflare: new (options: object) => Miniflare
  }
  const contents = bundle(
    "export default { fetch: async () => Response.json(await runScenarios(library, globalThis.origin0)) }"
  ).replace("globalThis.origin0", JSON.stringify(server.origin))
  const miniflare = new Miniflare({
    host: "127.0.0.1",
    compatibilityDate: "2026-07-01",
    modules: [{ type: "ESModule", path: "main.js", contents }]
  })
  try {
    return (await (await miniflare.dispatchFetch("http://127.0.0.1/")).json()) as Report
  } finally {
    await miniflare.dispose()
  }
}

// Browsers open at most six connections to a host, and some scenarios hold one.
const inBrowser = async (path: string): Promise<Report> => {
  let resolve!: (report: string) => void
  const reported = new Promise<string>((done) => (resolve = done))
  await using pages = await startFaultServer(
    bundle(`
      const report = await runScenarios(library, location.origin, 3).catch((error) => ({ "the page": [String(error)] }))
      await fetch("/report", { method: "POST", body: JSON.stringify(report) })`),
    resolve
  )
  const profile = mkdtempSync(join(scratch, "chromium-"))
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
  const browser = spawn(path, [...args, `--user-data-dir=${profile}`, `${pages.origin}/`], { stdio: "ignore" })
  const ended = new Promise((done) => browser.once("exit", done))
  try {
    const failed = ended.then((code) => Promise.reject(new Error(`Chromium ended with ${String(code)}`)))
    return JSON.parse(await Promise.race([reported, failed])) as Report
  } finally {
    browser.kill("SIGKILL")
    await ended
  }
}

const report = ({ name, path }: Runtime): Promise<Report> => {
  if (name === "workerd") return inWorker(path)
  if (name === "Chromium") return inBrowser(path)
  return inProcess(path, name === "Deno" ? ["run", "--no-config", "-A"] : [])
}

describe.each(runtimes)("$name", (runtime) => {
  if (!runtime.installed()) {
    console.warn(`${runtime.name} is not installed and was skipped. To install it: ${runtime.how}`)
  }

  it.skipIf(!runtime.installed())("handles every fault", async () => {
    const outcomes = await report(runtime)
    assert.deepStrictEqual(
      Object.entries(outcomes).filter(([, faults]) => faults.length > 0),
      []
    )
    assert.sameMembers(
      Object.keys(outcomes),
      scenarios.map(({ name }) => name)
    )
  })
})
