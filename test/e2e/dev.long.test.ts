/** Runs `govoice dev` in an empty folder, and what it prints, as a newcomer does. */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ServerProcess } from "../support/serverProcess.ts"
import { builtCommand } from "./support/build.ts"

const withinMs = 60_000

describe("govoice dev", () => {
  let command: string
  let root: string
  beforeAll(async () => {
    command = await builtCommand()
    root = mkdtempSync(join(tmpdir(), "govoice-dev-"))
  })
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

  const folderOf = (name: string): string => {
    const folder = join(root, name)
    mkdirSync(folder)
    return folder
  }

  const launch = (cwd: string, settings: Readonly<Record<string, string>> = {}) =>
    new ServerProcess([command, "dev"], { PORT: "0", ...settings }, { cwd })

  const until = async (dev: ServerProcess, text: RegExp): Promise<void> => {
    const deadline = Date.now() + withinMs
    while (!text.test(dev.stdout)) {
      if (dev.child.exitCode !== null || Date.now() > deadline) throw new Error(`${text} is missing in:\n${dev.text}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  const start = async (cwd: string): Promise<ServerProcess> => {
    const dev = launch(cwd)
    await until(dev, /^Webhooks are verified/m)
    return dev
  }

  const linkIn = (dev: ServerProcess): string => /Log in +(\S+)/.exec(dev.stdout)![1]!

  const keyIn = (dev: ServerProcess): string => /sk_test_\w+/.exec(dev.stdout)![0]

  const follow = (url: string) => fetch(url, { redirect: "manual" })

  it("prints commands that submit invoices, and verifies their webhooks", async () => {
    const folder = folderOf("commands")
    const dev = await start(folder)
    const lines = dev.stdout.split("\n")
    assert.deepStrictEqual(
      lines.filter(({ length }) => length > 80),
      []
    )
    const commands = /^Try this.*\n([^]*)^Ctrl-C/m.exec(dev.stdout)![1]!
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", commands], { cwd: folder })
    assert.match(stdout, /"scenario":"accepted".*\n.*"scenario":"rejected".*\n.*"object":"list".*\n$/)
    await until(dev, /invoice\.rejected +inv_\w{26} {2}verified/)
    await until(dev, /invoice\.upo_available +inv_\w{26} {2}verified/)
    assert.strictEqual(await dev.stop(), 0)
    assert.deepStrictEqual(readdirSync(folder), [".govoice"])
    assert.strictEqual(statSync(join(folder, ".govoice/dev.json")).mode & 0o777, 0o600)
    assert.strictEqual(dev.stderr, "")
  })

  it("logs one browser in, by a link of this machine", async () => {
    const dev = await start(folderOf("login"))
    const link = linkIn(dev)
    const { host, hostname, pathname, port } = new URL(link)
    assert.strictEqual(hostname, "127.0.0.1")
    const strange = await new Promise((resolve) =>
      get({ host: hostname, port, path: pathname, headers: { host: `rebound.example:${port}` } }, ({ statusCode }) =>
        resolve(statusCode)
      )
    )
    assert.strictEqual(strange, 421)
    assert.strictEqual((await follow(`http://${host}/login/${"A".repeat(22)}`)).status, 404)

    const first = await follow(link)
    assert.strictEqual(first.status, 303)
    assert.match(first.headers.get("location")!, /^http:\/\/127\.0\.0\.1:\d+\/console\/o\/org_\w{26}$/)
    const cookie = first.headers.get("set-cookie")!.split(";")[0]!
    const { origin } = new URL(first.headers.get("location")!)
    const session = await fetch(`${origin}/console/session/refresh`, {
      method: "POST",
      headers: { cookie, origin, "content-type": "application/json" },
      body: "{}"
    })
    assert.strictEqual(session.status, 200)

    const second = await follow(link)
    assert.strictEqual(second.headers.get("set-cookie"), null)
    assert.strictEqual(second.headers.get("location"), `${origin}/console`)
    await dev.stop()
  })

  it("continues with its folder, and replaces what is no longer valid", async () => {
    const folder = folderOf("again")
    const path = join(folder, ".govoice/dev.json")
    const read = () => JSON.parse(readFileSync(path, "utf8")) as Record<string, string>
    const first = await start(folder)
    const made = read()
    assert.strictEqual(keyIn(first), made["apiKey"])
    await first.stop()
    const second = await start(folder)
    assert.deepStrictEqual(read(), made)
    await second.stop()

    writeFileSync(path, JSON.stringify({ ...made, apiKey: `${made["apiKey"]}0`, endpoint: "we_0" }))
    const third = await start(folder)
    const replaced = read()
    assert.strictEqual(replaced["organization"], made["organization"])
    assert.notStrictEqual(replaced["apiKey"], `${made["apiKey"]}0`)
    assert.match(replaced["endpoint"]!, /^we_\w{26}$/)
    await third.stop()
  })

  it("exits with a remedy when the password is lost", async () => {
    const folder = folderOf("lost")
    await (await start(folder)).stop()
    rmSync(join(folder, ".govoice/dev.json"))
    const dev = launch(folder)
    assert.strictEqual(await dev.exited, 1)
    assert.match(dev.stderr, /^The password of dev@example\.com is not the one in .*govoice account reset-password/)
    assert.notMatch(dev.stderr, /^\s+at /m)
  })

  it("refuses a database that is not in a folder", async () => {
    for (const settings of [
      { GOVOICE_DATA_DIR: "memory" },
      {
        DATABASE_URL: "postgres://127.0.0.1:1/none",
        GOVOICE_JWT_SECRET: "x".repeat(32),
        GOVOICE_ENCRYPTION_KEYS: `k1:${"A".repeat(43)}=`
      }
    ]) {
      const dev = launch(root, settings)
      assert.strictEqual(await dev.exited, 1)
      assert.match(dev.stderr, /^'govoice dev' keeps everything in its own folder\. Remove (?:GOV|DATA)/)
    }
  })
})
