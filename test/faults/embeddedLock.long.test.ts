/** A server that was suspended, and whose data directory another process took over meanwhile, changes nothing there. */
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { builtCommand } from "../e2e/support/build.ts"
import { makeCall, readAgreement, signUp } from "../e2e/support/client.ts"
import { ServerProcess } from "../support/serverProcess.ts"

const folder = mkdtempSync(join(tmpdir(), "govoice-lock-"))
const processes: Array<ServerProcess> = []

afterAll(async () => {
  for (const one of processes) await one.kill()
  rmSync(folder, { recursive: true, force: true })
})

const start = async (name: string) => {
  const dataDir = join(folder, name)
  const server = new ServerProcess([await builtCommand(), "serve"], { PORT: "0", GOVOICE_DATA_DIR: dataDir })
  processes.push(server)
  return { server, url: await server.started(), dataDir, lock: join(dataDir, "lock.json") }
}

const contents = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory, { recursive: true, encoding: "utf8" })
      .map((name) => join(directory, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")])
  )

const takeOver = (lock: string) => {
  const other = { host: "elsewhere", namespace: "", pid: 7, startTime: "", token: "0123456789abcdef" }
  writeFileSync(`${lock}.new`, JSON.stringify(other))
  renameSync(`${lock}.new`, lock)
}

describe("a suspended server on a data directory that was taken over", () => {
  it.each(["a request", "a stop"])("ends with a sentence and writes nothing, though %s waits for it", async (what) => {
    const { dataDir, lock, server, url } = await start(what.replace(" ", "-"))
    const call = makeCall(() => url, await readAgreement(url))
    await signUp(call)
    server.child.kill("SIGSTOP")
    takeOver(lock)
    const [before, own] = [contents(dataDir), readFileSync(lock, "utf8")]
    // Answered after the pause, if at all.
    const answer = fetch(`${url}/v1/control-plane/accounts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "late@example.com", password: "correct horse battery" })
    }).then(
      ({ status }) => status,
      () => "none"
    )
    if (what === "a stop") server.child.kill("SIGTERM")
    server.child.kill("SIGCONT")

    assert.strictEqual(await server.exited, 1, server.text)
    assert.strictEqual(await answer, "none")
    assert.match(server.stderr, /was taken over by process 7 on elsewhere.* This process is exiting\./)
    assert.deepStrictEqual(contents(dataDir), before)
    assert.strictEqual(readFileSync(lock, "utf8"), own)
  })

  it("ends when its lock was removed", async () => {
    const { lock, server } = await start("removed")
    rmSync(lock)
    assert.strictEqual(await server.exited, 1, server.text)
    assert.include(server.stderr, "was removed. This process is exiting.")
  })
})
