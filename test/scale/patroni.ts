/**
 * A cluster of Patroni on this machine, with the configuration of the reference: etcd and three members. Each member is reached,
 * and reaches etcd, over proxies that can lose packets.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client, type QueryResult } from "pg"
import { sleep, until } from "../faults/deployment.ts"
import { startSwallower, type Swallower } from "../faults/swallower.ts"
import { installedPrograms, owner } from "../support/cluster.ts"
import { freePort } from "../support/freePort.ts"
import { patienceMs } from "../support/patienceMs.ts"

const configuration = join(import.meta.dirname, "../../apps/server/deploy/patroni/patroni.yml")

const missing = [
  ...["etcd", "patroni"].filter((program) => spawnSync(program, ["--version"]).error !== undefined),
  ...(installedPrograms === undefined ? ["postgresql"] : [])
]

export const isInstalled = missing.length === 0

/** The name of a suite that needs the programs; it says so where the suite is skipped. */
export const named = (name: string): string =>
  isInstalled
    ? name
    : `${name} (skipped: ${missing.join(", ")} not installed; run apt-get install etcd-server patroni postgresql)`

const password = "secret"

const spawnAsOwner = (
  program: string,
  args: ReadonlyArray<string>,
  folder: string,
  environment: Readonly<Record<string, string>> = {}
): ChildProcess =>
  spawn(program, args, {
    ...owner(),
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, LC_ALL: "C", ...environment },
    stdio: ["ignore", "pipe", "pipe"]
  })

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGKILL")
  await exited
}

interface Addresses {
  /** Of Postgres itself, which the test asks for its role. */
  readonly port: number
  readonly restPort: number
  /** Before Postgres, for clients and the other members. */
  readonly postgres: Swallower
  /** Before etcd, for this member. */
  readonly etcd: Swallower
}

/** A machine of the cluster. */
export class Member {
  readonly name: string
  readonly addresses: Addresses
  readonly #folder: string
  #patroni: ChildProcess | undefined
  log = ""

  constructor(name: string, folder: string, addresses: Addresses) {
    this.name = name
    this.addresses = addresses
    this.#folder = folder
    mkdirSync(folder)
    const { gid, uid } = owner()
    if (uid !== undefined) chownSync(folder, uid, gid)
  }

  start(): void {
    const { etcd, port, postgres, restPort } = this.addresses
    const started = spawnAsOwner("patroni", [configuration], this.#folder, {
      PATRONI_NAME: this.name,
      PATRONI_ETCD_HOSTS: `127.0.0.1:${etcd.port}`,
      // Not the address that etcd advertises.
      PATRONI_ETCD_USE_PROXIES: "true",
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${restPort}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${restPort}`,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${postgres.port}`,
      PATRONI_POSTGRESQL_DATA_DIR: join(this.#folder, "data"),
      PATRONI_POSTGRESQL_BIN_DIR: installedPrograms!,
      PATRONI_POSTGRESQL_PGPASS: join(this.#folder, "pgpass"),
      PATRONI_SUPERUSER_USERNAME: "postgres",
      PATRONI_SUPERUSER_PASSWORD: password,
      PATRONI_REPLICATION_USERNAME: "replicator",
      PATRONI_REPLICATION_PASSWORD: password,
      PATRONI_REWIND_USERNAME: "rewinder",
      PATRONI_REWIND_PASSWORD: password
    })
    for (const stream of [started.stdout, started.stderr]) {
      stream?.on("data", (text: Buffer) => (this.log = (this.log + String(text)).slice(-20_000)))
    }
    this.#patroni = started
  }

  /** The processes of Postgres, the postmaster first. */
  #processes(): ReadonlyArray<number> {
    try {
      const postmaster = readFileSync(join(this.#folder, "data/postmaster.pid"), "utf8").split("\n", 1)[0]!
      const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").trim()
      return [postmaster, ...(children === "" ? [] : children.split(" "))].map(Number)
    } catch {
      return []
    }
  }

  /** Sends a signal to the postmaster and its children. */
  signal(signal: NodeJS.Signals): void {
    for (const pid of this.#processes()) {
      try {
        process.kill(pid, signal)
      } catch {
        // It ended with the postmaster.
      }
    }
  }

  /** Kills all processes of the machine. */
  async kill(): Promise<void> {
    const running = this.#patroni
    this.#patroni = undefined
    if (running !== undefined) await ended(running)
    this.signal("SIGKILL")
  }

  async query(text: string, database = "postgres"): Promise<QueryResult<Record<string, unknown>>> {
    const client = new Client({
      connectionString: `postgres://postgres:${password}@127.0.0.1:${this.addresses.port}/${database}`,
      connectionTimeoutMillis: 1000,
      query_timeout: 2000
    })
    client.on("error", () => {})
    try {
      await client.connect()
      return await client.query(text)
    } finally {
      await Promise.race([client.end().catch(() => {}), sleep(500)])
    }
  }

  async isPrimary(): Promise<boolean> {
    const asked = await this.query("SELECT pg_is_in_recovery() AS is").catch(() => undefined)
    return asked?.rows[0]?.["is"] === false
  }
}

export class PatroniCluster {
  readonly members: ReadonlyArray<Member>
  readonly #etcd: ChildProcess
  readonly #folder: string

  private constructor(folder: string, etcd: ChildProcess, members: ReadonlyArray<Member>) {
    this.#folder = folder
    this.#etcd = etcd
    this.members = members
  }

  /** Starts it, and creates a database of the name `govoice` in it, and its user. */
  static async start(): Promise<PatroniCluster> {
    const folder = mkdtempSync(join(tmpdir(), "govoice-patroni-"))
    const { gid, uid } = owner()
    if (uid !== undefined) chownSync(folder, uid, gid)
    const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`)
    const etcd = spawnAsOwner(
      "etcd",
      [
        "--enable-v2",
        `--data-dir=${join(folder, "etcd")}`,
        `--listen-client-urls=${client}`,
        `--advertise-client-urls=${client}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=default=${peer}`
      ],
      folder
    )
    for (const stream of [etcd.stdout, etcd.stderr]) stream?.resume()
    const members: Array<Member> = []
    for (const name of ["pg1", "pg2", "pg3"]) {
      const port = await freePort()
      members.push(
        new Member(name, join(folder, name), {
          port,
          restPort: await freePort(),
          postgres: await startSwallower(port),
          etcd: await startSwallower(Number(new URL(client!).port))
        })
      )
    }
    const cluster = new PatroniCluster(folder, etcd, members)
    process.once("exit", () => members.forEach((member) => member.signal("SIGKILL")))
    for (const member of members) member.start()
    await cluster.healthy()
    const primary = await cluster.primary()
    await primary.query(`CREATE ROLE govoice LOGIN PASSWORD '${password}'`)
    await primary.query("CREATE DATABASE govoice OWNER govoice")
    // A replica that has not replayed it refuses connections to it, and a client ends there, as libpq does.
    await until("the database on each member", () => cluster.#has("govoice"), 10_000)
    return cluster
  }

  /** The URL of all members, for clients. */
  get url(): string {
    const hosts = this.members.map(({ addresses }) => `127.0.0.1:${addresses.postgres.port}`).join(",")
    return `postgres://govoice:${password}@${hosts}/govoice?target_session_attrs=read-write`
  }

  /** The URL of one member. */
  urlOf({ addresses }: Member): string {
    return `postgres://govoice:${password}@127.0.0.1:${addresses.port}/govoice`
  }

  /** Waits for a primary that is another than this one. */
  async primary(other?: Member): Promise<Member> {
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(50)) {
      const candidates = this.members.filter((member) => member !== other)
      const found = await Promise.all(candidates.map((member) => member.isPrimary()))
      const index = found.indexOf(true)
      if (index >= 0) return candidates[index]!
    }
    throw new Error(`There is no new primary:\n${this.members.map(({ log, name }) => `${name}: ${log}`).join("\n")}`)
  }

  /** Waits until one member is the primary and both others stream, one of them synchronously. */
  async healthy(): Promise<void> {
    const check = async () => {
      const primaries = await Promise.all(this.members.map((member) => member.isPrimary()))
      if (primaries.filter(Boolean).length !== 1) return false
      const { rows } = await this.members[primaries.indexOf(true)]!.query(
        "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming' AND application_name LIKE 'pg_'"
      )
      return rows.length === 2 && rows.some((row) => row["sync_state"] === "sync")
    }
    await until("three members", check, 120_000).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.members.map(({ log, name }) => `${name}: ${log}`).join("\n")}`)
    })
  }

  async #has(database: string): Promise<boolean> {
    const asked = this.members.map((member) =>
      member.query(`SELECT FROM pg_database WHERE datname = '${database}'`).then(({ rows }) => rows.length === 1)
    )
    return (await Promise.all(asked)).every(Boolean)
  }

  /** Asks Patroni to make a replica the primary. */
  async switchOver(from: Member): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${from.addresses.restPort}/switchover`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ leader: from.name })
    })
    if (response.status !== 200) throw new Error(`The switchover failed: ${await response.text()}`)
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()))
    await ended(this.#etcd)
    for (const { addresses } of this.members) await Promise.all([addresses.postgres.close(), addresses.etcd.close()])
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}
