/** PgBouncer in front of a Postgres, in transaction mode. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "./freePort.ts"
import { patienceMs } from "./patienceMs.ts"

/** Whether the program is on this machine. */
export const isInstalled = spawnSync("pgbouncer", ["--version"]).status === 0

/** The name of a suite that needs the program; it says so where the suite is skipped. */
export const named = (name: string): string =>
  isInstalled ? name : `${name} (skipped: pgbouncer is not installed; run apt-get install pgbouncer)`

// It does not run as root.
const asUser = process.getuid?.() === 0 ? ["--user", "nobody"] : []

const configurationOf = (
  postgres: URL,
  port: number,
  users: string,
  ignored: ReadonlyArray<string>
): string => `[databases]
* = host=${postgres.hostname} port=${postgres.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 12
max_client_conn = 500
server_lifetime = 2
server_login_retry = 1
ignore_startup_parameters = ${ignored.join()}
`

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => (socket.destroy(), resolve(true)))
    socket.once("error", () => resolve(false))
  })

/** Starts PgBouncer for every database of the server of a URL. Its sessions with Postgres last two seconds at most. */
export const startPgBouncer = async (
  postgresUrl: string,
  {
    ignored = []
  }: { /** Parameters of sessions that it accepts and drops. */ readonly ignored?: ReadonlyArray<string> } = {}
) => {
  const postgres = new URL(postgresUrl)
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), "govoice-pgbouncer-"))
  const configuration = join(folder, "pgbouncer.ini")
  const users = join(folder, "users.txt")
  writeFileSync(users, `"${postgres.username}" "${postgres.password}"\n`)
  writeFileSync(configuration, configurationOf(postgres, port, users, ignored))
  chmodSync(folder, 0o755)

  let child: ChildProcess | undefined
  let output = ""
  const start = async (): Promise<void> => {
    const started = spawn("pgbouncer", [...asUser, configuration], { stdio: ["ignore", "pipe", "pipe"] })
    child = started
    for (const stream of [started.stdout, started.stderr]) stream.on("data", (text: Buffer) => (output += String(text)))
    for (const deadline = Date.now() + patienceMs; !(await accepts(port));) {
      if (started.exitCode !== null || Date.now() > deadline) throw new Error(`PgBouncer did not start:\n${output}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const kill = async (): Promise<void> => {
    const killed = child
    child = undefined
    if (killed === undefined || killed.exitCode !== null) return
    const exited = new Promise((resolve) => killed.once("exit", resolve))
    killed.kill("SIGKILL")
    await exited
  }
  await start()

  return {
    /** The URL of a database of Postgres, by way of PgBouncer. */
    urlOf: (databaseUrl: string): string => {
      const url = new URL(databaseUrl)
      url.port = String(port)
      return url.href
    },
    start,
    kill,
    remove: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
