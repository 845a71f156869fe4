/**
 * The three recipes of the README, as they stand there.
 */
import { execFile, spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, assert, beforeEach, it } from "vitest"
import { fa3 } from "./support/invoices.ts"
import { start } from "./support/simulator.ts"

const run = promisify(execFile)
const here = import.meta.dirname
const readme = readFileSync(join(here, "../README.md"), "utf8")

const has = (...tools: ReadonlyArray<string>): boolean =>
  tools.every((tool) => spawnSync(tool, ["--version"]).error === undefined)

/** The first block of a language under a heading. */
const blockOf = (heading: string, language: string): string => {
  const section = readme.split(`## ${heading}`)[1] ?? ""
  const [, code] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(section) ?? []
  if (code === undefined) throw new Error(`The README has no ${language} under "${heading}"`)
  return code
}

const replaced = (code: string, from: string, to: string): string => {
  assert.include(code, from)
  return code.replaceAll(from, to)
}

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recipe-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

it.skipIf(!has("curl", "openssl"))(
  "the recipe for any language logs in, sends a document and fetches its receipt",
  async () => {
    const simulator = await start()
    writeFileSync(join(folder, "invoice.xml"), fa3())
    const { stdout } = await run("sh", ["-euc", blockOf("Any language", "sh")], {
      cwd: folder,
      env: { ...process.env, URL: simulator.url, TOKEN: simulator.token, NIP: simulator.nip }
    })
    assert.include(stdout, simulator.ledger.accepted()[0]!.ksefNumber)
  },
  60_000
)

it.skipIf(!has("curl", "openssl"))(
  "the recipe for any language says why a document of another seller has no receipt",
  async () => {
    const simulator = await start()
    writeFileSync(join(folder, "invoice.xml"), fa3({ seller: "5260250274" }))
    const failed = (await run("sh", ["-euc", blockOf("Any language", "sh")], {
      cwd: folder,
      env: { ...process.env, URL: simulator.url, TOKEN: simulator.token, NIP: simulator.nip }
    }).catch((error: unknown) => error)) as { readonly code: number; readonly stdout: string; readonly stderr: string }
    assert.deepInclude(failed, { code: 22 })
    assert.include(failed.stdout, "exceptionDescription")
    assert.match(failed.stderr, /^curl: \(22\) .* 400$/m)
  },
  60_000
)

it("the recipe for Node has a send whose response is cut, and reads the ledger", async () => {
  // Inside of the package, so that it finds itself by its name.
  const file = join(here, `.recipe-${process.pid}.ts`)
  const client = `
    const { Client } = await import("./support/Client.ts")
    const { fa3 } = await import("./support/invoices.ts")
    const client = await Client.login(simulator)
    const session = await client.open()
    const document = fa3({ seller: simulator.nip })
    const answer = await client.send(session, document).catch(() => "cut" as const)
    console.log(answer === "cut" ? "the answer was cut" : answer.status)
    await simulator.idle()`
  const marker = "// Run your client here, against simulator.url with simulator.token and simulator.nip."
  try {
    writeFileSync(file, replaced(blockOf("Node", "ts"), marker, client))
    const { stdout } = await run(process.execPath, ["--conditions=source", file])
    assert.match(stdout, /^the answer was cut\nFV\/1 \d{10}-\d{8}-[0-9A-F]{12}-[0-9A-F]{2}\n$/)
  } finally {
    rmSync(file, { force: true })
  }
})

it.skipIf(!has("curl"))(
  "the recipe for CI has the process ready before the tests, and stopped after them",
  async () => {
    const port = await freePort()
    mkdirSync(join(folder, "bin"))
    // The package is not installed here: what `npx` would run is the command of the sources.
    const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" --conditions=source "${join(here, "../src/cli.ts")}" "$@"\n`
    writeFileSync(join(folder, "bin/npx"), npx)
    chmodSync(join(folder, "bin/npx"), 0o755)
    const { stdout } = await run("bash", ["-euc", `${replaced(blockOf("CI", "sh"), "4010", String(port))}\nwait`], {
      cwd: folder,
      env: { ...process.env, PATH: `${join(folder, "bin")}:${process.env["PATH"]}` }
    })
    for (const answer of ['{"status":"AVAILABLE"}', '{"ids":[1]}', '"overLimit":0']) assert.include(stdout, answer)
    const line = JSON.parse(readFileSync(join(folder, "simulator.json"), "utf8")) as { readonly nip: string }
    assert.strictEqual(line.nip, "5265877635")
    const isGone = await fetch(`http://127.0.0.1:${port}/`).then(
      () => false,
      () => true
    )
    assert.isTrue(isGone)
  },
  60_000
)
