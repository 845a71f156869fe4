/** Two cells are made of one deployment by the commands of the guide on growing. */
import { execFile } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { builtCommand } from "../e2e/support/build.ts"
import { until } from "../faults/deployment.ts"
import { Cluster, installedPrograms, named } from "../support/cluster.ts"
import { freePort } from "../support/freePort.ts"
import { commandsOf } from "../support/guideCommands.ts"
import { ServerProcess } from "../support/serverProcess.ts"

const guide = "growing.md"

describe.skipIf(installedPrograms === undefined)(named("the guide on growing"), () => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-growing-"))
  const closers: Array<() => Promise<unknown>> = []
  let govoice: string

  beforeAll(async () => {
    govoice = await builtCommand()
    mkdirSync(join(folder, "bin"))
    symlinkSync(govoice, join(folder, "bin/govoice"))
  })
  afterAll(async () => {
    for (const close of closers.toReversed()) await close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** A machine of the guide: Postgres with the user and the database, and a folder for `govoice.env`. */
  const machine = async (name: string) => {
    const cluster = await Cluster.create(installedPrograms!)
    closers.push(() => cluster.remove())
    await cluster.query("CREATE ROLE govoice LOGIN")
    await cluster.query("CREATE DATABASE govoice OWNER govoice")
    const here = join(folder, name)
    mkdirSync(here)
    const database = cluster.url.replace("postgres@", "govoice@").replace(/postgres$/, "govoice")
    return { cluster, here, database, port: String(await freePort()), file: join(here, "govoice.env") }
  }
  type Machine = Awaited<ReturnType<typeof machine>>

  const environment = ({ file }: Machine) =>
    Object.fromEntries(
      readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)])
    )

  const serve = async (at: Machine) => {
    const served = new ServerProcess([govoice, "serve"], { ...environment(at), PORT: at.port })
    closers.push(() => served.kill())
    await served.started()
    return served
  }

  it("makes two cells of one deployment, and moves an organization with its key", async () => {
    const [a, b] = [await machine("a"), await machine("b")]
    /** Runs a block of the guide on a machine, with the ports of this one. */
    const run = async (block: string, { cluster, here }: Machine): Promise<string> => {
      // The shell has the settings from the block `control` or `cell` on.
      const commands = `set -a; . ./govoice.env; set +a\n${commandsOf(guide, block)}`
        .replaceAll("10.0.0.1:3000", `127.0.0.1:${a.port}`)
        .replaceAll("10.0.0.2:3000", `127.0.0.1:${b.port}`)
        .replace(/'postgres:.*10\.0\.0\.2:5432.*'/, `'${b.database}'`)
        .replace(/org_01kq\w+/, first)
        .replaceAll("sudo -u postgres psql", `psql --quiet '${cluster.url}'`)
      const path = [join(folder, "bin"), installedPrograms, dirname(process.execPath), process.env["PATH"]]
      const env = { PATH: path.join(delimiter), HOME: here }
      const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", commands], { cwd: here, env })
      return stdout
    }
    const { stdout: secrets } = await promisify(execFile)(process.execPath, [govoice, "keys", "generate"], { env: {} })
    writeFileSync(a.file, `${secrets}DATABASE_URL=${a.database}\n`)
    let server = await serve(a)

    const call = async (at: Machine, path: string, token?: string, body?: object) => {
      const response = await fetch(`http://127.0.0.1:${at.port}/v1/${path}`, {
        headers: {
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
        },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
      })
      return { status: response.status, body: (await response.json()) as Record<string, string> }
    }
    const owner = { email: "owner@example.com", password: "correct horse battery" }
    await call(a, "control-plane/accounts", undefined, owner)
    const logIn = async () => (await call(a, "control-plane/auth/login", undefined, owner)).body["access_token"]!
    let token = await logIn()
    const create = async () => (await call(a, "control-plane/organizations", token, { name: "Company" })).body["id"]!
    const first = await create()
    const keyOf = async (at: Machine, id: string) =>
      (await call(at, `control-plane/organizations/${id}/api-keys`, token, { mode: "test" })).body["secret"]!
    const key = await keyOf(a, first)

    await run("postgres", a)
    await server.stop()
    await a.cluster.end("SIGINT")
    await a.cluster.start()
    await run("control", a)
    server = await serve(a)

    copyFileSync(a.file, b.file)
    const settings = commandsOf(guide, "settings")
      .replace(/^DATABASE_URL=.*$/m, `DATABASE_URL=${b.database}`)
      .replace(/^GOVOICE_CONTROL_DATABASE_URL=.*$/m, `GOVOICE_CONTROL_DATABASE_URL=${a.database}`)
    writeFileSync(b.file, `${readFileSync(b.file, "utf8")}${settings}`)
    assert.match(await run("cell", b), /got 512 of 1024 buckets/)
    await serve(b)

    assert.strictEqual((await call(a, "me", key)).status, 200)
    token = await logIn()
    // Replication goes on without the rights of a superuser. A new organization is in either cell.
    for (let made = 0; ;) {
      const id = await create()
      const answer = await call(b, `control-plane/organizations/${id}`, token)
      if (answer.status === 200) {
        assert.strictEqual((await call(b, "me", await keyOf(b, id))).status, 200)
        break
      }
      assert.strictEqual(answer.status, 421, JSON.stringify(answer.body))
      assert.isBelow(made++, 30)
    }

    await run("proxy", a)
    assert.include(readFileSync(join(a.here, "govoice-cells.conf"), "utf8"), `server 127.0.0.1:${b.port};`)
    await until("the status", async () => (await run("status", a)).includes("slot of b: in use"), 20_000)
    assert.include(await run("status", b), "subscription: running")

    // The organization that was there before moves. A user without the right is told so before anything is copied.
    await b.cluster.query("ALTER SYSTEM SET wal_level = logical")
    await b.cluster.end("SIGINT")
    await b.cluster.start()
    const refused = await run("move", a).then(String, (error: { readonly stderr: string }) => error.stderr)
    assert.include(refused, "The user of GOVOICE_TARGET_DATABASE_URL may not create subscriptions.")
    await run("target", b)
    assert.include(await run("move", a), "Moved to cell b: 1 organization of 1 bucket.")
    await b.cluster.query("ALTER ROLE govoice NOSUPERUSER")
    await until("the key in its cell", async () => (await call(b, "me", key)).status === 200, 20_000)
    assert.strictEqual((await call(a, "me", key)).status, 421)
  })
})
