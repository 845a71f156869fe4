/** An embedded Postgres that cannot write its log ends, as any Postgres does, and the process with it. */
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, it } from "vitest"
import { builtCommand } from "../e2e/support/build.ts"
import { makeCall, readAgreement, signUp } from "../e2e/support/client.ts"
import { ServerProcess } from "../support/serverProcess.ts"

const folder = mkdtempSync(join(tmpdir(), "govoice-log-"))
const full = join(folder, "full")
const processes: Array<ServerProcess> = []

const start = async () => {
  const server = new ServerProcess([await builtCommand(), "serve"], {
    PORT: "0",
    GOVOICE_DATA_DIR: join(folder, "data"),
    GOVOICE_LOG_LEVEL: "Warn",
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "preload/fullLog.ts")}`,
    FULL_LOG: full
  })
  processes.push(server)
  return { server, url: await server.started() }
}

afterEach(async () => {
  for (const one of processes) await one.kill()
  rmSync(folder, { recursive: true, force: true })
})

it("ends with a sentence when its log has no room, and loses nothing", async () => {
  const { server, url } = await start()
  const { testKey } = await signUp(makeCall(() => url, await readAgreement(url)))
  const authorization = `Bearer ${testKey}`
  const ids: Array<string> = []
  const submit = async () => {
    const answer = await fetch(`${url}/v1/invoices`, {
      method: "POST",
      headers: {
        authorization,
        "content-type": "application/json",
        "idempotency-key": randomBytes(12).toString("hex")
      },
      body: JSON.stringify({ invoice_xml: `<Faktura>${randomBytes(60_000).toString("base64")}</Faktura>` }),
      signal: AbortSignal.timeout(20_000)
    })
    if (answer.status === 201) ids.push(((await answer.json()) as { id: string }).id)
  }
  await submit()
  writeFileSync(full, "")
  for (let n = 0; n < 100 && server.child.exitCode === null; n++) {
    const failed = await submit().catch((error: unknown) => error)
    if (failed !== undefined) break
  }
  assert.strictEqual(await server.exited, 1)
  assert.include(server.stderr, "The embedded Postgres has ended")

  rmSync(full)
  const again = await start()
  for (const id of ids) {
    const found = await fetch(`${again.url}/v1/invoices/${id}`, { headers: { authorization } })
    assert.strictEqual(found.status, 200)
  }
})
