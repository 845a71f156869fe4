/** A copy of the embedded data directory is made, restored and started with the commands of the guide. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { commandsOf } from "../support/guideCommands.ts"
import { makeCall, readAgreement, signUp, submit, type Tenant } from "./support/client.ts"
import { type Server, startServer } from "./support/server.ts"

describe("a copy of the embedded database", () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "govoice-copy-"))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

  const run = (name: string) =>
    execFileSync("sh", ["-euc", commandsOf("operating.md", name)], {
      cwd: folder,
      env: { PATH: process.env["PATH"], GOVOICE_DATA_DIR: "data" }
    })

  const start = () => startServer({ GOVOICE_DATA_DIR: join(folder, "data") })

  const callTo = async (server: Server) => makeCall(() => server.url, await readAgreement(server.url))

  const idOf = async (server: Server, owner: Tenant): Promise<string> =>
    ((await submit(await callTo(server), owner.testKey)).json as { readonly id: string }).id

  it("has the state of its moment: invoices, keys and secrets, and goes on from there", async () => {
    const server = await start()
    const owner = await signUp(await callTo(server))
    const kept = await idOf(server, owner)
    assert.strictEqual(await server.stop(), 0)
    run("copy-embedded")
    // A copy would go into the folder of the one before, and restoring would return to that.
    assert.throws(() => run("copy-embedded"))

    const later = await start()
    const lost = await idOf(later, owner)
    assert.strictEqual(await later.stop(), 0)
    run("restore-embedded")

    const restored = await start()
    try {
      const call = await callTo(restored)
      const read = (id: string) => call("GET", `/v1/invoices/${id}`, { auth: owner.testKey })
      assert.strictEqual((await read(kept)).status, 200)
      assert.strictEqual((await read(lost)).status, 404)
      // The secrets are those of the copy: an access token that was signed before is valid.
      const endpoint = `/v1/control-plane/webhook-endpoints/${owner.endpointId}`
      const rotated = await call("POST", `${endpoint}/rotate-secret`, {
        auth: owner.token,
        body: { activates_in_seconds: 60 }
      })
      assert.strictEqual(rotated.status, 200, rotated.text)
      const next = await idOf(restored, owner)
      assert.strictEqual((await read(next)).status, 200)
    } finally {
      assert.strictEqual(await restored.stop(), 0)
    }
  })
})
