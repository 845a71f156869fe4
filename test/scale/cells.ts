/** Two cells on this machine: a cluster of Postgres and processes of the server for each, and nginx in front of them. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Deployment, type Environment, sleep, until } from "../faults/deployment.ts"
import { Cluster, installedPrograms } from "../support/cluster.ts"
import { freePort } from "../support/freePort.ts"
import type { ServerProcess } from "../support/serverProcess.ts"

const nginx = "/usr/sbin/nginx"

const missing = [
  ...(spawnSync(nginx, ["-v"]).error === undefined ? [] : ["nginx"]),
  ...(installedPrograms === undefined ? ["postgresql"] : [])
]

export const isInstalled = missing.length === 0

/** The name of a suite that needs the programs; it says so where the suite is skipped. */
export const named = (name: string): string =>
  isInstalled ? name : `${name} (skipped: ${missing.join(", ")} not installed; run apt-get install nginx postgresql)`

/** A cell: its cluster, its settings, and its processes. */
export class Cell {
  readonly name: string
  readonly cluster: Cluster
  readonly deployment: Deployment
  /** The port of its API. */
  readonly port: string

  constructor(name: string, cluster: Cluster, port: string, settings: Environment) {
    this.name = name
    this.cluster = cluster
    this.port = port
    this.deployment = new Deployment(cluster.url, { ...settings, GOVOICE_CELL: name, PORT: port })
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Starts a process that serves the API, and a worker. */
  async start(): Promise<ReadonlyArray<ServerProcess>> {
    return [await this.deployment.startApi(), await this.deployment.startWorker({ PORT: "0" })]
  }

  /** Kills its processes and its Postgres, as when its machines lose power. */
  async stop(): Promise<void> {
    await Promise.all(this.deployment.processes.map((one) => one.kill()))
    await this.cluster.end("SIGKILL")
  }

  async close(): Promise<void> {
    await this.deployment.close()
    await this.cluster.remove()
  }
}

/** The cells `a`, the control cell, and `b`. */
export interface Cells {
  readonly a: Cell
  readonly b: Cell
  readonly close: () => Promise<void>
}

/** The settings of Postgres that a cell needs. */
export const clusterSettings = { wal_level: "logical" }

/** Starts the clusters of two cells and their processes. `b` is added to `a`, and has half of the buckets. */
export const startCells = async (given: Environment = {}): Promise<Cells> => {
  const secrets = {
    GOVOICE_JWT_SECRET: randomBytes(48).toString("base64url"),
    GOVOICE_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`,
    GOVOICE_TRUSTED_PROXIES: "127.0.0.1",
    GOVOICE_CONNECTIONS_PER_ADDRESS: "10000",
    ...given
  }
  const cluster = () => Cluster.create(installedPrograms!, clusterSettings)
  const control = await cluster()
  const a = new Cell("a", control, String(await freePort()), secrets)
  const settings = { ...secrets, GOVOICE_CONTROL_DATABASE_URL: control.url }
  const b = new Cell("b", await cluster(), String(await freePort()), settings)
  const close = async () => void (await Promise.all([b.close(), a.close()]))
  try {
    await a.deployment.run(`cells init --url ${a.url}`)
    await b.deployment.run(`cells add --url ${b.url}`)
    await Promise.all([a.start(), b.start()])
    return { a, b, close }
  } catch (error) {
    await close()
    throw error
  }
}

const site = join(import.meta.dirname, "../../apps/server/deploy/cells/nginx.conf")

/** Replaces a part that the configuration has, so that a changed one does not pass by accident. */
const replace = (text: string, part: string | RegExp, by: string): string => {
  const replaced = text.replace(part, by)
  if (replaced === text) throw new Error(`The configuration has no ${String(part)}`)
  return replaced
}

/** nginx with the configuration of the reference, but for TLS, and with what `govoice cells proxy` prints. */
export class Proxy {
  readonly url: string
  readonly #folder = mkdtempSync(join(tmpdir(), "govoice-nginx-"))
  readonly #control: Cell
  #process: ChildProcess | undefined
  log = ""

  private constructor(control: Cell, port: string) {
    this.#control = control
    this.url = `http://127.0.0.1:${port}`
    let text = readFileSync(site, "utf8")
    text = replace(text, "/etc/nginx/govoice-cells.conf", join(this.#folder, "govoice-cells.conf"))
    text = replace(text, /listen 443 ssl;[^]*?ssl_certificate_key [^;]+/, `listen 127.0.0.1:${port}`)
    const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    for (const name of folders) mkdirSync(join(this.#folder, name))
    const paths = folders.map((name) => `${name}_temp_path ${join(this.#folder, name)};`).join("\n")
    // As root, nginx changes its workers to `nobody`, who may not write into the folder.
    const user = process.getuid?.() === 0 ? "user root;" : ""
    writeFileSync(
      join(this.#folder, "nginx.conf"),
      `daemon off; ${user} pid ${join(this.#folder, "pid")}; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${text}}\n`
    )
  }

  static async start(control: Cell): Promise<Proxy> {
    const proxy = new Proxy(control, String(await freePort()))
    await proxy.print()
    const started = spawn(nginx, ["-c", join(proxy.#folder, "nginx.conf"), "-p", proxy.#folder])
    started.stderr.on("data", (text: Buffer) => (proxy.log += String(text)))
    proxy.#process = started
    await until("nginx", async () => (await fetch(`${proxy.url}/readyz`)).status === 200, 20_000).catch(
      async (error: unknown) => {
        await proxy.close()
        throw new Error(`${String(error)} ${proxy.log}`)
      }
    )
    return proxy
  }

  /** Prints the cells and their buckets anew. */
  async print(): Promise<void> {
    writeFileSync(join(this.#folder, "govoice-cells.conf"), await this.#control.deployment.run("cells proxy"))
  }

  /** Prints the cells and their buckets anew, and has nginx read them. */
  async reload(): Promise<void> {
    await this.print()
    this.#process?.kill("SIGHUP")
    await sleep(500)
  }

  async close(): Promise<void> {
    const running = this.#process
    if (running !== undefined && running.exitCode === null && running.signalCode === null) {
      const exited = new Promise((resolve) => running.once("exit", resolve))
      running.kill("SIGTERM")
      await exited
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}
