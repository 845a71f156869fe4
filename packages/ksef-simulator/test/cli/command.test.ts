/**
 * The command, as a process of its own.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { Client } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"

const cli = join(import.meta.dirname, "../../src/cli.ts")

interface Line {
  readonly url: string
  readonly token: string
  readonly certificate: string
  readonly privateKey: string
  readonly nip: string
  readonly beacon: string
  readonly page: string
  readonly seed: string
}

interface Process {
  readonly child: ChildProcess
  readonly line: Line
  readonly output: () => string
}

let folder = ""
let children: Array<ChildProcess> = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ksef-cli-"))
})
afterEach(async () => {
  const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
  children = []
  await Promise.all(running.map((child) => (child.kill("SIGKILL"), once(child, "exit"))))
  rmSync(folder, { recursive: true, force: true })
})

const spawned = (args: ReadonlyArray<string>): ChildProcess => {
  const child = spawn(process.execPath, ["--conditions=source", cli, ...args], { stdio: ["ignore", "pipe", "pipe"] })
  children.push(child)
  return child
}

const textOf = (stream: ChildProcess["stdout"]): (() => string) => {
  let text = ""
  stream?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
  return () => text
}

const ended = async (args: ReadonlyArray<string>) => {
  const child = spawned(args)
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)]
  await once(child, "close")
  return { code: child.exitCode, stdout: stdout(), stderr: stderr() }
}

const serving = async (...args: ReadonlyArray<string>): Promise<Process> => {
  const child = spawned(args)
  const [output, errors] = [textOf(child.stdout), textOf(child.stderr)]
  while (!output().includes("\n")) {
    if (child.exitCode !== null) throw new Error(`The command ended: ${errors()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { child, output, line: JSON.parse(output()) as Line }
}

const stop = async ({ child }: Process, signal: NodeJS.Signals): Promise<void> => {
  child.kill(signal)
  await once(child, "exit")
}

describe("govoice-ksef-simulator", () => {
  it("prints one line of JSON, with all that a client needs, and ends with SIGTERM", async () => {
    const process = await serving("--processing", "0")
    const { line } = process
    assert.match(line.url, /^http:\/\/127\.0\.0\.1:\d+\/v2$/)
    assert.include(line.token, `|nip-${line.nip}|`)
    assert.match(readFileSync(line.certificate, "utf8"), /^-----BEGIN CERTIFICATE-----/)
    assert.match(readFileSync(line.privateKey, "utf8"), /^-----BEGIN PRIVATE KEY-----/)
    assert.strictEqual(statSync(line.privateKey).mode & 0o777, 0o600)
    assert.strictEqual((await fetch(`${line.beacon}/status`)).status, 200)
    assert.strictEqual((await fetch(line.page)).status, 200)
    const client = await Client.login(line)
    const session = await client.open()
    assert.strictEqual((await client.submit(session, fa3({ seller: line.nip }))).status.code, 200)
    await stop(process, "SIGTERM")
    assert.strictEqual(process.child.exitCode, 0)
    assert.strictEqual(process.output().trimEnd().split("\n").length, 1)
    assert.isFalse(existsSync(dirname(line.certificate)))
  })

  it("takes every option", async () => {
    const certificates = join(folder, "certificates")
    const given = {
      port: "0",
      host: "127.0.0.1",
      nip: "5265877635",
      token: "secret",
      seed: "seed",
      certificate: certificates,
      speed: "60",
      environment: "prod",
      limits: "off",
      processing: "0",
      "upo-name": "environment",
      state: join(folder, "state")
    }
    const { line } = await serving(
      ...Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]),
      "--fault",
      '{"do":"5xx","on":"getRateLimits"}',
      "--fault",
      '{"do":"html","on":"getRateLimits"}'
    )
    assert.deepInclude(line, { nip: "5265877635", token: "secret", seed: "seed" })
    assert.strictEqual(line.certificate, join(certificates, "certificate.pem"))
    const client = await Client.login(line)
    const statuses: Array<number> = []
    for (let call = 0; call < 40; call++) statuses.push((await client.call("GET", "/rate-limits")).status)
    assert.deepStrictEqual([...new Set(statuses)], [503, 502, 200])
    const page = await (await fetch(line.page)).text()
    assert.match(page, /<dt>Environment<\/dt>\s*<dd>prod<\/dd>/)
    assert.match(page, /<dt>Speed<\/dt>\s*<dd>60<\/dd>/)
    assert.isTrue(existsSync(join(folder, "state")))
  })

  it("names every option with --help, and the version with --version", async () => {
    const { code, stdout } = await ended(["--help"])
    const source = readFileSync(join(import.meta.dirname, "../../src/command.ts"), "utf8")
    const options = /const options = \{([^]*?)\} as const/.exec(source)![1]!
    const names = Array.from(options.matchAll(/^ {2}"?([\w-]+)"?: /gm), ([, name]) => name!)
    assert.isAbove(names.length, 12)
    for (const name of names) assert.include(stdout, `--${name} `)
    assert.strictEqual(code, 0)
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
      readonly version: string
    }
    assert.strictEqual((await ended(["--version"])).stdout, `${version}\n`)
  })

  it.each([
    [["--nothing"], "Unknown option '--nothing'"],
    [["file"], "Unexpected argument 'file'"],
    [["--port", "x"], 'Expected --port to be a number, got "x".'],
    [["--port", "70000"], "Expected port to be a number from 0 to 65535, got 70000."],
    [["--nip", "1"], 'Expected nip to be ten digits with the right checksum, as 5265877635, got "1".'],
    [["--token", "a|nip-5260250274|b", "--nip", "5265877635"], "Expected nip to be the NIP that the token names"],
    [["--speed", "0"], "Expected speed to be a number from 0.001 to 1000000, got 0."],
    [["--environment", "live"], 'Expected environment to be "test", "demo" or "prod", got "live".'],
    [["--limits", "on"], 'Expected limits to be "production" or "off", got "on".'],
    [["--upo-name", "x"], 'Expected upoName to be "schema" or "environment", got "x".'],
    [["--fault", "{"], "Expected --fault to be JSON, as "],
    [["--fault", '{"do":"x"}'], 'Expected "do" to be one of 429, ']
  ])("refuses %j with exit code 2, and says what was expected", async (args, message) => {
    const { code, stderr, stdout } = await ended(args)
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.include(stderr, message)
    assert.include(stderr, "Run govoice-ksef-simulator --help for the options.")
  })

  it("exits with 1 if the port is taken or the state file is invalid, and says so", async () => {
    const { line } = await serving()
    const taken = await ended(["--port", new URL(line.url).port])
    assert.deepStrictEqual([taken.code, taken.stdout], [1, ""])
    assert.match(taken.stderr, /^Port \d+ is in use\. --port 0 picks a free one\.\n$/)
    writeFileSync(join(folder, "other"), "something else\n")
    const other = await ended(["--state", join(folder, "other")])
    assert.deepStrictEqual([other.code, other.stdout], [1, ""])
    assert.include(other.stderr, "Expected a state file of the KSeF simulator")
    assert.strictEqual(readFileSync(join(folder, "other"), "utf8"), "something else\n")
  })

  it("keeps documents, tokens and keys over a kill with --state, and locks the file for one process", async () => {
    const args = ["--processing", "0", "--state", join(folder, "state"), "--certificate", join(folder, "keys")]
    const first = await serving(...args)
    const client = await Client.login(first.line)
    const session = await client.open()
    const invoice = await client.submit(session, fa3({ seller: first.line.nip }))
    const second = await ended(args)
    assert.strictEqual(second.code, 1)
    assert.include(second.stderr, "is in use by process")
    await stop(first, "SIGKILL")
    const { line } = await serving(...args, "--port", new URL(first.line.url).port)
    assert.deepStrictEqual(line, { ...first.line, url: line.url })
    const ledger = (await (await fetch(new URL("/_simulator/ledger", line.url))).json()) as {
      readonly accepted: ReadonlyArray<{ readonly ksefNumber: string }>
    }
    assert.deepStrictEqual(
      ledger.accepted.map(({ ksefNumber }) => ksefNumber),
      [invoice.ksefNumber!]
    )
    const again = await client.submit(session, fa3({ seller: line.nip }))
    assert.strictEqual(again.status.code, 440)
  })
})
