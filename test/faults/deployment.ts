/** A deployment of real processes on one database: one that serves the API, and workers that can be killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { Pool } from "pg"

const root = join(import.meta.dirname, "../..")

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Asks again and again until the answer is yes. Throws when it never is. */
export const until = async (what: string, check: () => Promise<boolean>, withinMs: number): Promise<void> => {
  const deadline = Date.now() + withinMs
  while (!(await check().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`Waited in vain: ${what}`)
    await sleep(100)
  }
}

// Short, so that a run is; a lease has to outlast the deadline by five seconds.
export const timeoutMs = 700
export const leaseMs = 5800
const waits = [100, 200, 400]
export const maxAttempts = waits.length + 1

/** How many deliveries a worker has in flight. */
export const workerConcurrency = 40

export class Process {
  readonly child: ChildProcess
  readonly output: Array<string> = []
  readonly exited: Promise<number | null>

  constructor(environment: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, ["--conditions=source", join(root, "apps/server/src/main.ts")], {
      cwd: root,
      env: { PATH: process.env["PATH"], ...environment },
      stdio: ["ignore", "pipe", "pipe"]
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => this.output.push(text))
    }
    this.exited = new Promise((resolve) => this.child.once("exit", (code) => resolve(code)))
  }

  /** The text that was printed so far. */
  get text(): string {
    return this.output.join("")
  }

  async started(): Promise<this> {
    await until("the start of a process", async () => this.text.includes("Govoice "), 20_000).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}\n${this.text}`)
      }
    )
    return this
  }

  kill(): Promise<number | null> {
    this.child.kill("SIGKILL")
    return this.exited
  }

  stop(): Promise<number | null> {
    this.child.kill("SIGTERM")
    return this.exited
  }
}

interface Answer<A> {
  readonly status: number
  readonly body: A
}

export class Deployment {
  readonly databaseUrl: string
  readonly pool: Pool
  readonly processes: Array<Process> = []
  #api = ""
  readonly #environment: Readonly<Record<string, string>>

  constructor(databaseUrl: string) {
    this.databaseUrl = databaseUrl
    this.pool = new Pool({ connectionString: databaseUrl, max: 3 }).on("error", () => {})
    this.#environment = {
      DATABASE_URL: databaseUrl,
      PORT: "0",
      GOVOICE_JWT_SECRET: randomBytes(48).toString("base64url"),
      GOVOICE_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`,
      GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
      GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
      GOVOICE_SANDBOX_STEP_MS: "60",
      GOVOICE_WEBHOOK_TIMEOUT_MS: String(timeoutMs),
      GOVOICE_LEASE_MS: String(leaseMs),
      GOVOICE_RETRY_SCHEDULE_MS: waits.join(","),
      GOVOICE_WORKER_CONCURRENCY: String(workerConcurrency),
      GOVOICE_RATE_LIMIT_PER_SECOND: "100000",
      GOVOICE_RATE_LIMIT_BURST: "100000",
      GOVOICE_LOG_LEVEL: "Warn"
    }
  }

  async startApi(): Promise<void> {
    const api = new Process({ ...this.#environment, GOVOICE_ROLE: "api" })
    this.processes.push(api)
    await api.started()
    this.#api = /http:\/\/[\d.:]+/.exec(api.text)![0]
  }

  async startWorker(): Promise<Process> {
    const worker = new Process({ ...this.#environment, GOVOICE_ROLE: "worker" })
    this.processes.push(worker)
    return worker.started()
  }

  async call<A>(
    method: string,
    path: string,
    options: { readonly token?: string; readonly body?: unknown; readonly headers?: Record<string, string> } = {}
  ): Promise<Answer<A>> {
    const response = await fetch(`${this.#api}${path}`, {
      method,
      headers: {
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) })
    })
    const text = await response.text()
    return { status: response.status, body: (text === "" ? undefined : JSON.parse(text)) as A }
  }

  /** An organization with a test key and endpoints of these URLs, which hear of everything. */
  async organization(urls: ReadonlyArray<string>): Promise<{
    readonly id: string
    readonly key: string
    readonly endpoints: ReadonlyArray<{ readonly id: string; readonly url: string; readonly secret: string }>
  }> {
    const credentials = { email: `${randomBytes(6).toString("hex")}@example.com`, password: "correct horse battery" }
    await this.call("POST", "/v1/control-plane/accounts", { body: credentials })
    const login = await this.call<{ access_token: string }>("POST", "/v1/control-plane/auth/login", {
      body: credentials
    })
    const token = login.body.access_token
    const post = async <A>(path: string, body: unknown): Promise<A> => {
      const answer = await this.call<A>("POST", `/v1/control-plane/${path}`, { token, body })
      if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    }
    const { id } = await post<{ id: string }>("organizations", { name: "Company" })
    const { secret: key } = await post<{ secret: string }>(`organizations/${id}/api-keys`, { mode: "test" })
    const endpoints: Array<{ id: string; url: string; secret: string }> = []
    for (const url of urls) {
      endpoints.push(await post(`organizations/${id}/webhook-endpoints`, { url, event_types: ["*"] }))
    }
    return { id, key, endpoints }
  }

  /** Submits until it is accepted, as a client does that retries with the same idempotency key. */
  async submit(key: string, scenario: string): Promise<string> {
    const idempotencyKey = randomBytes(12).toString("hex")
    for (let attempt = 0; attempt < 150; attempt++) {
      try {
        const { body, status } = await this.call<{ id: string }>("POST", "/v1/invoices", {
          token: key,
          body: { invoice_xml: "<Faktura/>" },
          headers: { "idempotency-key": idempotencyKey, "gov-sandbox-scenario": scenario }
        })
        if (status === 201) return body.id
        if (status < 500) throw new Error(`A submission was refused: ${status} ${JSON.stringify(body)}`)
      } catch (error) {
        if (error instanceof Error && error.message.startsWith("A submission was refused")) throw error
      }
      await sleep(100)
    }
    throw new Error("A submission was never accepted")
  }

  async count(condition: string): Promise<number> {
    const { rows } = await this.pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${condition}`)
    return rows[0]!.n
  }

  /** Waits until nothing is left to do, or throws and says what. */
  async finished(withinMs: number): Promise<void> {
    const left = () =>
      this.count(
        "(SELECT id FROM deliveries WHERE due_at IS NOT NULL UNION ALL SELECT id FROM invoices WHERE due_at IS NOT NULL) AS left_over"
      )
    await until("the end of all work", async () => (await left()) === 0, withinMs).catch(async (error: unknown) => {
      const { rows } = await this.pool.query(
        "SELECT status, ready, count(*), min(due_at) FROM deliveries WHERE due_at IS NOT NULL GROUP BY 1, 2"
      )
      throw new Error(`${String(error)} ${JSON.stringify(rows)} ${this.processes.map((one) => one.text).join("\n")}`)
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.kill()))
    await this.pool.end()
  }
}
