/**
 * Runs what the command shows: the examples of its help, the first key of the banner, and the commands that its messages and the
 * error pages name.
 */
import { execFile, spawn, spawnSync } from "node:child_process"
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { promisify, stripVTControlCharacters } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Simulator, startSimulator } from "../../packages/ksef-simulator/src/index.ts"
import { makePair } from "../../packages/ksef/test/support/certificates.ts"
import { freePort } from "../support/freePort.ts"
import { builtCommand } from "./support/build.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"

const root = join(import.meta.dirname, "../..")

/**
 * Run by the test of `govoice ksef`: it needs an invoice to which KSeF gave a status that is not documented. And by the test of the
 * doctor: the Postgres of the tests has `fsync` off, which is a fault in production. And by the test of cells, which have several.
 */
const ranElsewhere = /^govoice (?:ksef settle |doctor --production$)|govoice cells /

/** The help of every command, by its names, such as `account create`. */
const helpsOf = async (command: string): Promise<Readonly<Record<string, string>>> => {
  const helps: Record<string, string> = {}
  const all: Array<ReadonlyArray<string>> = [[]]
  for (const names of all) {
    const { stdout } = await promisify(execFile)(process.execPath, [command, ...names, "--help"], { env: {} })
    helps[names.join(" ")] = stdout
    const subcommands = /^SUBCOMMANDS\n(?: .*\n)+/m.exec(stdout)?.[0] ?? ""
    for (const [, name] of subcommands.matchAll(/^ {2}([\w-]+)/gm)) all.push([...names, name!])
  }
  return helps
}

const canPaste = ["bash", "curl"].every((command) => spawnSync(command, ["--version"]).error === undefined)
if (!canPaste) console.warn("SKIPPED: the examples of the command need bash and curl, which this machine lacks")

describe.skipIf(!canPaste)("what the command shows", () => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-examples-"))
  let helps: Readonly<Record<string, string>>
  let simulator: Simulator
  let database: TestDatabase
  beforeAll(async () => {
    const command = await builtCommand()
    helps = await helpsOf(command)
    database = await openMigrated()
    simulator = await startSimulator({ processingMs: 0, nip: "5265877635" })
    mkdirSync(join(folder, "bin"))
    mkdirSync(join(folder, "out"))
    symlinkSync(command, join(folder, "bin/govoice"))
    for (const file of ["invoice.xml", "out/1.xml", "out/2.xml"])
      copyFileSync(join(root, "examples/invoices/fa3-vat23.xml"), join(folder, file))
    writeFileSync(join(folder, "password.txt"), "correct horse battery\n")
    writeFileSync(join(folder, "token.txt"), `${simulator.token}\n`)
    writeFileSync(join(folder, "auth.crt"), simulator.certificate.certificate)
    writeFileSync(join(folder, "auth.key"), simulator.certificate.privateKey)
    const offline = makePair({ key: "P-256", keyUsage: ["nonRepudiation"] })
    writeFileSync(join(folder, "offline.crt"), offline.certificate)
    writeFileSync(join(folder, "offline.key"), offline.privateKey)
  })
  afterAll(async () => {
    await simulator?.close()
    await database?.drop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  })

  const options = (settings: Readonly<Record<string, string>> = {}) => ({
    cwd: folder,
    env: {
      PATH: [join(folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter),
      HOME: folder,
      GOVOICE_KSEF_URL: simulator.url,
      ...settings
    }
  })

  /** Runs it on Postgres, with a password as the answer to what it asks, and returns its output. */
  const run = async (script: string): Promise<string> => {
    const answered = `{ ${script}\n} < password.txt`
    const { stderr, stdout } = await promisify(execFile)(
      "bash",
      ["-euo", "pipefail", "-c", answered],
      options(database.settings)
    )
    return stdout + stderr
  }

  /** Runs it on the embedded database until the server listens, then what `use` does, and stops it. */
  const serve = async (script: string, port: number, use = async (_output: string) => {}): Promise<void> => {
    const child = spawn("bash", ["-c", script], { ...options({ PORT: `${port}` }), detached: true })
    let output = ""
    child.stdout.on("data", (text: Buffer) => (output += text.toString()))
    child.stderr.on("data", (text: Buffer) => (output += text.toString()))
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
    try {
      while (!/"Server started"|^Webhooks are verified/m.test(output)) {
        assert.isNull(child.exitCode, output)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      assert.include(output, `http://127.0.0.1:${port}/v1`)
      await use(output)
    } finally {
      process.kill(-child.pid!, "SIGTERM")
      await ended
    }
  }

  const examples = () =>
    Object.values(helps).flatMap((help) =>
      Array.from(stripVTControlCharacters(help).matchAll(/^EXAMPLES\n([^]*)/gm), ([, section]) => section!).flatMap(
        (section) =>
          Array.from(section.replaceAll(/ \\\n +/g, " ").matchAll(/^ {2}(?!#)(\S.*)$/gm), ([, command]) => command!)
      )
    )

  it("are examples that succeed, each as it is shown", async () => {
    const all = [...new Set(examples())].filter((example) => !ranElsewhere.test(example))
    assert.isAbove(all.length, 12)
    // Those of the server need what `keys generate` writes, and those about an organization one that exists.
    const ofServers = all.filter((example) => /\b(?:serve|dev(?: --no-open)?)$/.test(example))
    const needsOrganization = (example: string) => example.includes("org_")
    let organization: string | undefined
    let emails = 0
    for (const example of all.filter((one) => !ofServers.includes(one) && !needsOrganization(one))) {
      // An account is created once; the one whose password is replaced exists by then.
      const own = example.includes("account create")
        ? example.replace("owner@", ++emails === 1 ? "owner@" : `owner${emails}@`)
        : // No name of example.com resolves.
          example.replace("hooks.example.com", "1.1.1.1")
      const output = await run(own)
      organization ??= /\borg_\w{26}/.exec(output)?.[0]
    }
    for (const example of all.filter(needsOrganization)) {
      await run(example.replace(/\borg_(?:…|\w{26})/, organization!))
    }
    // Those of `dev` come last: they seal a secret with the generated key, and one of `serve` has keys of its own.
    const isDev = (example: string) => example.includes("govoice dev")
    for (const example of [...ofServers.filter((one) => !isDev(one)), ...ofServers.filter(isDev)]) {
      const port = await freePort()
      await serve(example.replace(/PORT=\d+/, `PORT=${port}`), port)
    }
  })

  it("fits into 80 columns", () => {
    const lines = Object.values(helps).flatMap((help) => stripVTControlCharacters(help).split("\n"))
    assert.deepStrictEqual(
      lines.filter(({ length }) => length > 80),
      []
    )
  })

  it("is a mistake alone for a flag that does not exist, on standard error", async () => {
    const failed: { readonly stdout?: string; readonly stderr?: string } = await promisify(execFile)(
      "bash",
      ["-c", "govoice serve --nope"],
      options()
    ).catch((error: object) => error)
    assert.strictEqual(failed.stdout, "")
    assert.strictEqual(
      failed.stderr?.trim(),
      [
        "ERROR\n  Unrecognized flag: --nope in command govoice serve",
        "  Run 'govoice serve --help' for commands and flags.",
        "  Settings are environment variables, as in `PORT=8080 govoice serve`. govoice settings lists them."
      ].join("\n\n")
    )
  })

  it("are commands of the banner that make a first key", async () => {
    const port = await freePort()
    await serve("GOVOICE_DATA_DIR=memory govoice serve", port, async (output) => {
      const commands = /^A first API key.*\n\n((?: {2}.*\n)+)/m.exec(output)![1]!
      assert.match(await run(commands), /"secret":"sk_test_\w{41}"/)
      for (const line of output.split("\n")) if (!line.startsWith("{")) assert.isAtMost(line.length, 80)
    })
  })

  it("are names of commands and flags that exist", () => {
    const pages = globSync(["docs/errors/*.md", "apps/server/src/**/*.{ts,json}"], { cwd: root })
    const named = pages.flatMap((page) =>
      Array.from(
        readFileSync(join(root, page), "utf8").matchAll(/['`]govoice ((?:[a-z][a-z-]* ?)*)([^'`\n]*)['`]/g),
        ([text, names, rest]) => ({ page, text, names: names!.trim(), rest: rest! })
      )
    )
    assert.isAbove(named.length, 10)
    const wrong = named.filter(
      ({ names, rest }) =>
        !Object.hasOwn(helps, names) ||
        Array.from(rest.matchAll(/--[a-z-]+/g), ([flag]) => flag).some((flag) => !helps[names]!.includes(flag))
    )
    assert.deepStrictEqual(wrong, [])
  })
})
