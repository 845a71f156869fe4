/** A server whose log cannot be written serves on. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, existsSync, openSync } from "node:fs"
import { afterEach, assert, describe, it } from "vitest"
import { builtCommand } from "./support/build.ts"

const cleanUps: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

const start = async (stdout: "pipe" | number) => {
  const child = spawn(process.execPath, [await builtCommand(), "serve"], {
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      GOVOICE_DATA_DIR: "memory",
      GOVOICE_ACCESS_LOG: "all"
    },
    stdio: ["ignore", stdout, "pipe"]
  })
  const exited = once(child, "exit")
  cleanUps.push(() => (child.kill("SIGKILL"), exited))
  let stderr = ""
  for await (const text of child.stderr!.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    stderr += String(text)
    if (stderr.includes("  Data ")) break
  }
  child.stderr!.on("data", (text) => (stderr += String(text)))
  const url = /^ {2}API +(http\S+)\/v1$/m.exec(stderr)?.[1]
  assert.isDefined(url, `${child.exitCode} ${stderr}`)
  return { child, exited, url, stderr: () => stderr }
}

type Server = Awaited<ReturnType<typeof start>>

const assertServes = async ({ child, exited, stderr, url }: Server, reason: string) => {
  for (let n = 0; n < 20; n++) assert.strictEqual((await fetch(`${url}/readyz`)).status, 200)
  child.kill("SIGTERM")
  assert.deepStrictEqual(await exited, [0, null], stderr())
  const reports = stderr().match(/^The log cannot be written .*$/gm) ?? []
  assert.lengthOf(reports, 1, stderr())
  assert.include(reports[0], reason)
}

describe("a server", () => {
  it.skipIf(!existsSync("/dev/full"))("serves on when the disk of its log is full", async () => {
    const full = openSync("/dev/full", "w")
    cleanUps.push(() => Promise.resolve(closeSync(full)))
    await assertServes(await start(full), "ENOSPC")
  })

  it("serves on when the reader of its log has ended", async () => {
    const server = await start("pipe")
    server.child.stdout!.destroy()
    await assertServes(server, "EPIPE")
  })

  it("serves on when nobody reads what it writes", async () => {
    const server = await start("pipe")
    server.child.stdout!.destroy()
    server.child.stderr!.destroy()
    for (let n = 0; n < 20; n++) assert.strictEqual((await fetch(`${server.url}/readyz`)).status, 200)
    server.child.kill("SIGTERM")
    assert.deepStrictEqual(await server.exited, [0, null])
  })
})
