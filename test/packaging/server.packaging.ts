/**
 * Installs the server from its tarball into an empty project and starts it in an empty folder without settings, like
 * `npx @govoice/server`.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { isNewNode, makeProject, node, type Project } from "./support/project.ts"

interface Started {
  readonly url: string
  readonly process: ChildProcess
  /** Its output so far. */
  readonly output: () => string
}

const withinMs = 60_000

describe.skipIf(isNewNode)("@govoice/server on an unsupported Node", () => {
  it("exits with a message that names the required version", () => {
    const project = makeProject({ packages: ["@govoice/server"] })
    try {
      const command = join(project.folder, "node_modules/@govoice/server/dist/cli.js")
      const { status, stderr } = spawnSync(node, [command, "serve"], { encoding: "utf8" })
      assert.strictEqual(status, 1)
      assert.match(stderr, /^Node [\d.]+ is too old: >=[\d.]+ is required\. Install a newer Node\.\n$/)
    } finally {
      project.remove()
    }
  })
})

describe.skipIf(!isNewNode)("@govoice/server", () => {
  let project: Project
  let folder: string
  const running = new Set<ChildProcess>()

  beforeAll(() => {
    project = makeProject({ packages: ["@govoice/server"] })
    folder = join(project.folder, "empty")
    mkdirSync(folder)
  })
  afterAll(() => {
    for (const child of running) child.kill("SIGKILL")
    project?.remove()
  })

  const installed = () => join(project.folder, "node_modules/@govoice/server")
  const command = () => join(installed(), "dist/cli.js")
  const env = (more: Readonly<Record<string, string>> = {}) => ({ PATH: process.env["PATH"], PORT: "0", ...more })

  const govoice = (args: ReadonlyArray<string>, { input = "", ...more }: Readonly<Record<string, string>> = {}) => {
    const { status, stderr, stdout } = spawnSync(node, [command(), ...args], {
      cwd: folder,
      encoding: "utf8",
      env: env(more),
      input,
      timeout: withinMs
    })
    return { status, stderr, stdout }
  }

  const start = async (more: Readonly<Record<string, string>> = {}): Promise<Started> => {
    const child = spawn(node, [command(), "serve"], { cwd: folder, env: env(more), stdio: ["ignore", "pipe", "pipe"] })
    running.add(child)
    let output = ""
    const url = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`It did not start:\n${output}`)), withinMs)
      const listen = (chunk: Buffer) => {
        output += chunk.toString()
        const found = /API\s+(http:\S+)\/v1/.exec(output)?.[1]
        if (found === undefined) return
        clearTimeout(timer)
        resolve(found)
      }
      child.stdout.on("data", listen)
      child.stderr.on("data", listen)
      child.once("exit", (code) => {
        clearTimeout(timer)
        reject(new Error(`It ended with ${code}:\n${output}`))
      })
    })
    return { url, process: child, output: () => output }
  }

  const stop = async ({ process }: Started): Promise<number | null> => {
    const ended = once(process, "exit")
    process.kill("SIGTERM")
    const [code] = (await ended) as [number | null]
    running.delete(process)
    return code
  }

  it("bundles its driver, and contains the notices of bundled packages", () => {
    const manifest = JSON.parse(readFileSync(join(installed(), "package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>
    }
    assert.notInclude(Object.keys(manifest.dependencies).join(), "effect")
    const notices = readFileSync(join(installed(), "dist/THIRD-PARTY-NOTICES.md"), "utf8")
    for (const name of ["effect", "@effect/sql-pg", "react", "scheduler", "wouter"])
      assert.include(notices, `## ${name} `)
    assert.notInclude(readdirSync(join(project.folder, "node_modules/.pnpm")).join(), "effect")
  })

  it("contains the built console", () => {
    const files = readdirSync(join(installed(), "dist/console"))
    assert.includeMembers(files, ["assets", "index.html", "index.html.br", "index.html.gz"])
  })

  it("contains the compressed reference", () => {
    const files = readdirSync(join(installed(), "dist/reference"))
    for (const name of ["docs.html", "openapi.json"])
      assert.includeMembers(files, [`${name}.br`, `${name}.gz`, `${name}.headers`])
  })

  it("contains the guides and the pages of the errors", () => {
    assert.includeMembers(readdirSync(join(installed(), "dist/guides")), ["console.md", "live-mode.md", "webhooks.md"])
    assert.include(readdirSync(join(installed(), "dist/errors")), "invalid_parameter.md")
  })

  it("contains the alert rules and the dashboard", () => {
    const files = readdirSync(join(installed(), "observability"))
    assert.includeMembers(files, ["alerts.yaml", "dashboard.json", "prometheus.yml"])
    assert.include(readdirSync(join(installed(), "deploy")), "govoice.service")
  })

  // As the pages say before the first release. A path without `file:` is a command to npx.
  it("runs from its tarball with npx", () => {
    const { tarball } = inject("packed").find(({ name }) => name === "@govoice/server")!
    const { status, stderr, stdout } = spawnSync("npx", ["-y", `file:${tarball}`, "--version"], {
      cwd: folder,
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stderr)
    assert.match(stdout, /\d+\.\d+\.\d+/)
  })

  it("runs `dev` in an empty folder, with what a first invoice needs", async () => {
    const empty = join(project.folder, "dev")
    mkdirSync(empty)
    const child = spawn(node, [command(), "dev"], { cwd: empty, env: env(), stdio: ["ignore", "pipe", "pipe"] })
    running.add(child)
    let output = ""
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
    for await (const chunk of child.stdout) {
      output += String(chunk)
      if (output.includes("Webhooks are verified")) break
    }
    const link = /Log in +(\S+)/.exec(output)![1]!
    assert.include((await fetch(link, { redirect: "manual" })).headers.get("set-cookie"), "__Host-govoice=")
    assert.deepStrictEqual(readdirSync(empty), [".govoice"])
    child.kill("SIGTERM")
    const [code] = (await once(child, "exit")) as [number | null]
    assert.strictEqual(code, 0, output)
    running.delete(child)
  })

  it("prints its commands with --help", () => {
    const [bin] = readdirSync(join(project.folder, "node_modules/.bin")).filter((name) => name === "govoice")
    assert.strictEqual(bin, "govoice")
    const help = govoice(["--help"])
    assert.strictEqual(help.status, 0)
    for (const name of ["dev", "serve", "migrate", "doctor", "account", "keys", "prune", "settings"])
      assert.include(help.stdout, name)
  })

  it("starts in an empty folder, becomes ready, and stops on SIGTERM", async () => {
    const server = await start()
    const health = await fetch(`${server.url}/healthz`)
    assert.deepStrictEqual([health.status, await health.json()], [200, { status: "ok" }])
    assert.strictEqual((await fetch(`${server.url}/readyz`)).status, 200)
    assert.include(await (await fetch(`${server.url}/docs`)).text(), "Govoice")
    assert.strictEqual(await stop(server), 0)
    assert.notInclude(server.output(), "Prepared database unusable")
    assert.isTrue(existsSync(join(folder, ".govoice/secrets.json")))
  })

  it("creates an account and a key while the server is stopped; the key works after the next start", async () => {
    const args = ["account", "create", "owner@example.com", "--organization", "Example"]
    const made = govoice(args, { input: "correct horse battery\n" })
    assert.strictEqual(made.status, 0, made.stderr)
    const key = /sk_test_\w+/.exec(made.stdout)?.[0]

    const server = await start({ GOVOICE_SIGNUP: "closed" })
    const me = await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })
    assert.strictEqual(me.status, 200)
    assert.include(JSON.stringify(await me.json()), '"name":"Example"')

    const meanwhile = govoice(["migrate"])
    assert.strictEqual(meanwhile.status, 1)
    assert.include(meanwhile.stderr, `is in use by process ${server.process.pid}`)
    assert.include(govoice(["doctor"]).stdout, `in use by process ${server.process.pid}`)
    const second = govoice(["serve"])
    assert.strictEqual(second.status, 1)
    assert.include(second.stderr + second.stdout, "in use by")
    assert.strictEqual(await stop(server), 0)
  })

  it("passes its doctor", () => {
    const { status, stdout } = govoice(["doctor"])
    assert.strictEqual(status, 0)
    for (const line of ["ok    schema     current", "ok    keys", "ok    clock", "ok    guard"])
      assert.include(stdout, line)
  })

  it("exits with 2 on a usage error and with 1 on a failure", () => {
    assert.strictEqual(govoice(["sevre"]).status, 2)
    assert.strictEqual(govoice(["account", "create"]).status, 2)
    const refused = govoice(["migrate"], { DATABASE_URL: "postgres://nobody:hunter2@127.0.0.1:1/none" })
    assert.strictEqual(refused.status, 1)
    assert.include(refused.stderr, "GOVOICE_JWT_SECRET is required with DATABASE_URL.")
    assert.notInclude(refused.stderr, "hunter2")
  })

  it("generates secrets that its settings accept", () => {
    const printed = govoice(["keys", "generate"]).stdout.trim().split("\n")
    const secrets = Object.fromEntries(
      printed.map((line) => /^(\w+)=(.+)$/.exec(line)!.slice(1, 3) as [string, string])
    )
    const { status, stdout } = govoice(["doctor"], { ...secrets, GOVOICE_DATA_DIR: "memory" })
    assert.strictEqual(status, 0, stdout)
  })

  it("re-encrypts with a new key, after which the old key is not needed", () => {
    const [first, second] = [...govoice(["keys", "rotate"]).stdout.matchAll(/"(k.*)"$/gm)].map(([, value]) => ({
      GOVOICE_ENCRYPTION_KEYS: value!
    }))
    assert.include(govoice(["doctor"], first).stdout, "ok    keys")
    const both = second!
    const rotated = govoice(["keys", "rotate-encryption"], both)
    assert.strictEqual(rotated.status, 0, rotated.stderr)
    assert.match(rotated.stdout, /^Re-encrypted \d+ values with key k2\.$/m)
    assert.include(govoice(["doctor"], both).stdout, "ok    keys")
  })

  it("prunes nothing from a new database", () => {
    const { status, stdout } = govoice(["prune"])
    assert.deepStrictEqual([status, stdout.match(/ \d+$/gm)?.length], [0, 6])
  })

  it("has shell completions", () => {
    const script = govoice(["--completions", "bash"]).stdout
    assert.strictEqual(execFileSync("bash", ["-n"], { input: script, encoding: "utf8" }), "")
    assert.include(script, "doctor")
  })
})
