/** Runs the commands of the guides about printing and finding invoices as they are shown. */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Call, makeCall, readAgreement, signUp, submit } from "./support/client.ts"
import { type Server, startServer } from "./support/server.ts"

const root = resolve(import.meta.dirname, "../..")
const invoice_xml = readFileSync(join(root, "examples/invoices/fa3-vat23.xml"), "utf8")

const commandsOf = (guide: string): string => {
  const page = readFileSync(join(root, "docs/guides", guide), "utf8")
  return Array.from(page.matchAll(/^```sh\n([^]*?)^```$/gm), ([, code]) => code!).join("\n")
}

describe("The commands of the guide to", () => {
  let server: Server
  let call: Call
  let folder: string
  beforeAll(async () => {
    server = await startServer({ GOVOICE_DATA_DIR: "memory" })
    call = makeCall(() => server.url, await readAgreement(server.url))
    folder = mkdtempSync(join(tmpdir(), "govoice-guides-"))
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  // Submits the invoice of the examples, and runs the commands with its identifier.
  const run = async (guide: string) => {
    const { testKey } = await signUp(call)
    const { id } = (await submit(call, testKey, { body: { invoice_xml } })).json as { readonly id: string }
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", commandsOf(guide)], {
      cwd: folder,
      env: { PATH: process.env["PATH"], GOVOICE_URL: server.url, GOVOICE_API_KEY: testKey, id }
    })
    return { id, stdout }
  }

  it("printing save the code and the document", async () => {
    await run("printing.md")
    assert.strictEqual(readFileSync(join(folder, "code.png")).subarray(1, 4).toString(), "PNG")
    assert.strictEqual(readFileSync(join(folder, "document.xml"), "utf8"), invoice_xml)
  })

  it("finding find the invoice", async () => {
    const { id, stdout } = await run("finding-invoices.md")
    assert.strictEqual(stdout.trim(), id)
  })
})
