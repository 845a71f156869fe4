/**
 * A deployment in live mode as processes: Postgres with default durability, the KSeF simulator, the API, and one worker. Each
 * server has its own role in Postgres, so that statements are counted by process.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { PolishTime } from "@govoice/ksef/format"
import { Pool } from "undici"
import { freePort } from "../../test/support/freePort.ts"
import { type Database, environment } from "../engine/database.ts"
import { startServer, until, type Worker } from "../engine/processes.ts"
import { fa3 } from "../../packages/ksef-simulator/test/support/invoices.ts"

const cli = join(import.meta.dirname, "../../packages/ksef-simulator/src/cli.ts")

/** A simulator in a process of its own. */
export interface Simulator {
  readonly url: string
  readonly nip: string
  readonly token: string
  /** How many documents it accepted, and how many calls were over a limit. */
  readonly ledger: () => Promise<{ readonly accepted: number; readonly overLimit: number }>
  readonly stop: () => Promise<void>
}

/** Starts a simulator that processes at once. */
export const startSimulator = async (limits: "production" | "off"): Promise<Simulator> => {
  const child: ChildProcess = spawn(
    process.execPath,
    ["--conditions=source", cli, "--limits", limits, "--processing", "0"],
    { stdio: ["ignore", "pipe", "inherit"] }
  )
  const kill = () => child.kill("SIGKILL")
  process.once("exit", kill)
  const [line] = (await once(child.stdout!, "data")) as [Buffer]
  const { nip, token, url } = JSON.parse(line.toString("utf8")) as Pick<Simulator, "nip" | "token" | "url">
  return {
    url,
    nip,
    token,
    ledger: async () => {
      const answer = await fetch(`${new URL(url).origin}/_simulator/ledger`)
      const { accepted, overLimit } = (await answer.json()) as {
        readonly accepted: ReadonlyArray<unknown>
        readonly overLimit: number
      }
      return { accepted: accepted.length, overLimit }
    },
    stop: async () => {
      process.off("exit", kill)
      child.kill("SIGTERM")
      await once(child, "exit")
    }
  }
}

/** The URL of a database for another role, which is created. */
const asRole = async ({ pool, url }: Database, role: string): Promise<string> => {
  await pool.query(
    `DO $$ BEGIN CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD '${role}'; EXCEPTION WHEN duplicate_object THEN END $$`
  )
  const own = new URL(url)
  own.username = own.password = role
  return own.href
}

const live = (simulator: Simulator) => ({ GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: simulator.url })

/** A process that serves the API. */
export interface Api {
  readonly url: string
  readonly process: Worker
}

/** Starts the API, in live mode where a simulator is given. */
export const startApi = async (database: Database, simulator: Simulator | undefined): Promise<Api> => {
  const port = await freePort()
  const process = startServer({
    ...environment,
    ...(simulator === undefined ? {} : live(simulator)),
    DATABASE_URL: await asRole(database, "api"),
    GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "100000",
    GOVOICE_ROLE: "api",
    PORT: String(port)
  })
  const url = `http://127.0.0.1:${port}`
  let answer = "no answer"
  const isUp = async () => {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)
    answer = response === undefined ? answer : await response.text()
    return response?.ok === true
  }
  await until("the API", isUp, 60_000).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${answer}`)
  })
  return { url, process }
}

/** Starts a worker in live mode. */
export const startWorker = async (database: Database, simulator: Simulator): Promise<Worker> =>
  startServer({
    ...environment,
    ...live(simulator),
    DATABASE_URL: await asRole(database, "worker"),
    GOVOICE_ROLE: "worker"
  })

/** The largest resident memory of a process so far, in MiB. */
export const peakMemory = ({ child }: Worker): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1]) / 1024

const call = async <A>(api: Api, method: string, path: string, body: object, token?: string): Promise<A> => {
  const answer = await fetch(`${api.url}/v1/control-plane/${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
    },
    body: JSON.stringify(body)
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (answer.status === 204 ? undefined : await answer.json()) as A
}

/** Signs up, and returns a key of a new organization, with the credential of the simulator where the key is live. */
export const makeKey = async (api: Api, simulator?: Simulator): Promise<string> => {
  const account = { email: `${randomUUID()}@example.com`, password: "correct horse battery" }
  await call(api, "POST", "accounts", account)
  const { access_token: token } = await call<{ access_token: string }>(api, "POST", "auth/login", account)
  const { id } = await call<{ id: string }>(api, "POST", "organizations", { name: "Benchmark" }, token)
  if (simulator !== undefined) {
    const credential = { token: simulator.token, context: { type: "Nip", value: simulator.nip } }
    await call(api, "PUT", `organizations/${id}/gateway-credential`, credential, token)
  }
  const mode = simulator === undefined ? "test" : "live"
  const key = await call<{ secret: string }>(api, "POST", `organizations/${id}/api-keys`, { mode }, token)
  return key.secret
}

/** Waits until the taxpayer was logged in and its lane is at rest: the next claim of it reads its limits. */
export const untilLoggedIn = ({ pool }: Database, { nip }: Simulator): Promise<void> =>
  until(
    "the first login",
    async () => {
      const { rowCount } = await pool.query(
        `SELECT 1 FROM organizations JOIN national_lanes ON context = credential_context
         WHERE context = $1 AND credential_state = 'accepted' AND NOT is_leased`,
        [nip]
      )
      return rowCount === 1
    },
    30_000
  )

/** Submits an invoice, and returns its identifier. */
export type Submit = (number: string) => Promise<string>

/** Makes the function that submits invoices of a seller, over a few connections. */
export const makeSubmit = (api: Api, key: string, seller: string): Submit => {
  const pool = new Pool(api.url, { connections: 20, pipelining: 1 })
  return async (number) => {
    const { body, statusCode } = await pool.request({
      method: "POST",
      path: "/v1/invoices",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": randomUUID()
      },
      body: JSON.stringify({ invoice_xml: fa3({ issueDate: PolishTime.day(Date.now()), number, seller }) })
    })
    const text = await body.text()
    if (statusCode !== 201) throw new Error(`${statusCode} ${text}`)
    return (JSON.parse(text) as { readonly id: string }).id
  }
}

/** Submits this many invoices, twenty at a time. */
export const submitMany = async (submit: Submit, prefix: string, count: number): Promise<void> => {
  let next = 0
  const run = async (): Promise<void> => {
    while (next < count) await submit(`${prefix}/${(next += 1)}`)
  }
  await Promise.all(Array.from({ length: 20 }, run))
}

/** Counts the statements of a role since the last reset: all, and those that read or write what lanes have. */
export const statementsOf = async ({ pool }: Database, role: "api" | "worker") => {
  const { rows } = await pool.query<{ query: string; calls: number }>(
    `SELECT query, calls::int FROM pg_stat_statements
     WHERE userid = $1::regrole AND query !~ '^(BEGIN|COMMIT|ROLLBACK|LISTEN|SET)' ORDER BY calls DESC`,
    [role]
  )
  const sum = (chosen: typeof rows) => chosen.reduce((total, { calls }) => total + calls, 0)
  return {
    all: sum(rows),
    lanes: sum(rows.filter(({ query }) => /national_|credential_context/.test(query))),
    rows
  }
}

export const resetStatements = async ({ pool }: Database): Promise<void> => {
  await pool.query("SELECT pg_stat_statements_reset()")
}
