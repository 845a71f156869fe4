/**
 * The script of the README that needs curl and openssl alone, as it stands there.
 */
import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, it } from "vitest"
import { fa3 } from "./support/invoices.ts"
import { start } from "./support/simulator.ts"

const hasTools = ["curl", "openssl"].every((tool) => spawnSync(tool, ["--version"]).error === undefined)

it.skipIf(!hasTools)(
  "the script for any language logs in, sends a document and fetches its receipt",
  async () => {
    const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8")
    const [, script = ""] = /## Any language[^]*?```sh\n([^]*?)```/.exec(readme) ?? []
    const simulator = await start()
    const folder = mkdtempSync(join(tmpdir(), "recipe-"))
    writeFileSync(join(folder, "invoice.xml"), fa3())
    const { stdout } = await promisify(execFile)("bash", ["-euc", script], {
      cwd: folder,
      env: { ...process.env, URL: simulator.url, TOKEN: simulator.token, NIP: simulator.nip }
    })
    rmSync(folder, { recursive: true })
    assert.include(stdout, simulator.ledger.accepted()[0]!.ksefNumber)
  },
  60_000
)
