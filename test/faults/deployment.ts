/** A deployment of processes on one database: one serves the API, the others are workers that can be killed. */
import { randomBytes } from "node:crypto"
import { Pool } from "pg"
import { builtCommand } from "../e2e/support/build.ts"
import { ServerProcess } from "../support/serverProcess.ts"

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Polls until a condition holds. Throws at the deadline. */
export const until = async (what: string, check: () => Promise<boolean>, withinMs: number): Promise<void> => {
  const deadline = Date.now() + withinMs
  while (!(await check().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`Timed out waiting for ${what}`)
    await sleep(100)
  }
}

// Short, for a short run. A lease has to outlast the webhook timeout by five seconds.
export const timeoutMs = 700
export const leaseMs = 5800
export const waits = [100, 200, 400]
export const maxAttempts = waits.length + 1

// Longer than any outage that a test makes.
const submitWithinMs = 120_000

/** How many deliveries a worker has in flight. */
export const workerConcurrency = 40

// The bundle starts in a fraction of the time that the sources need.
const govoice = await builtCommand()

/** Environment variables that a process gets besides those of the deployment. */
export type Environment = Readonly<Record<string, string>>

interface Answer<A> {
  readonly status: number
  readonly body: A
}

export class Deployment {
  readonly databaseUrl: string
  readonly pool: Pool
  readonly processes: Array<ServerProcess> = []
  #api = ""
  #isClosed = false
  readonly #supervisions: Array<Promise<void>> = []
  readonly #environment: Readonly<Record<string, string>>

  constructor(databaseUrl: string, environment: Environment = {}) {
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
      GOVOICE_RATE_LIMIT_BYTES_PER_SECOND: "1000000000",
      GOVOICE_RATE_LIMIT_BURST: "100000",
      GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "10000",
      GOVOICE_LOG_LEVEL: "Warn",
      ...environment
    }
  }

  /** A deployment with the same secrets on another database. */
  on(databaseUrl: string): Deployment {
    return new Deployment(databaseUrl, { ...this.#environment, DATABASE_URL: databaseUrl })
  }

  /** Starts a process that serves the API. Calls go to the one that was started last. */
  async startApi(settings: Environment = {}): Promise<ServerProcess> {
    const api = this.#launch("serve", { GOVOICE_ROLE: "api", ...settings })
    this.#api = await api.started()
    return api
  }

  /** Has calls go to this address: that of a proxy in front of the API. */
  callAt(url: string): void {
    this.#api = url
  }

  async startWorker(settings: Environment = {}): Promise<ServerProcess> {
    const worker = this.#launch("serve", { GOVOICE_ROLE: "worker", ...settings })
    await worker.started()
    return worker
  }

  /** Starts a worker, and a replacement when it exits. Returns the exit codes and a function that stops it. */
  supervise(settings: Environment = {}): {
    readonly exits: ReadonlyArray<number | null>
    readonly stop: () => Promise<void>
  } {
    const exits: Array<number | null> = []
    let isStopping = false
    let worker: ServerProcess | undefined
    const run = async (): Promise<void> => {
      worker = this.#launch("serve", { GOVOICE_ROLE: "worker", ...settings })
      worker.mayCrash = true
      const code = await worker.exited
      if (isStopping || this.#isClosed) return
      exits.push(code)
      await run()
    }
    if (this.#isClosed) throw new Error("The deployment is closed")
    const running = run()
    this.#supervisions.push(running)
    return {
      exits,
      stop: async () => {
        isStopping = true
        await worker?.stop()
        await running
      }
    }
  }

  /** Runs a command of `govoice` and returns its standard output. Throws when it fails. */
  async run(command: string, settings: Environment = {}): Promise<string> {
    const ran = this.#launch(command, settings)
    if ((await ran.exited) !== 0) throw new Error(`govoice ${command} failed:\n${ran.text}`)
    return ran.stdout
  }

  /** The environment variables of a command, with these in place of its own. */
  settings(settings: Environment = {}): Environment {
    return { ...this.#environment, ...settings }
  }

  #launch(command: string, settings: Environment): ServerProcess {
    if (this.#isClosed) throw new Error("The deployment is closed")
    const launched = new ServerProcess([govoice, ...command.split(" ")], this.settings(settings))
    this.processes.push(launched)
    return launched
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

  /** An organization with a test key and endpoints of these URLs, which subscribe to all events or to these. */
  async organization(
    urls: ReadonlyArray<string>,
    eventTypes: ReadonlyArray<string> = ["*"]
  ): Promise<{
    readonly id: string
    readonly key: string
    /** An access token of its account. */
    readonly token: string
    readonly endpoints: ReadonlyArray<{ readonly id: string; readonly url: string; readonly secret: string }>
  }> {
    const { id, post, token } = await this.#signUp()
    const { secret: key } = await post<{ secret: string }>(`organizations/${id}/api-keys`, { mode: "test" })
    const endpoints: Array<{ id: string; url: string; secret: string }> = []
    for (const url of urls) {
      endpoints.push(await post(`organizations/${id}/webhook-endpoints`, { url, event_types: eventTypes }))
    }
    return { id, key, token, endpoints }
  }

  /** An organization with a live key and a credential of KSeF, as the API takes it. */
  async liveOrganization({
    context,
    offline,
    ...credential
  }: {
    /** A NIP, or an internal identifier. */
    readonly context: string
    /** The certificate with which it issues invoices offline. */
    readonly offline?: { readonly certificate: string; readonly private_key: string }
  } & (
    | { readonly token: string }
    | { readonly type: "certificate"; readonly certificate: string; readonly private_key: string }
  )): Promise<{
    readonly id: string
    readonly key: string
  }> {
    const { id, post, token } = await this.#signUp()
    const path = `/v1/control-plane/organizations/${id}/gateway-credential`
    const put = await this.call("PUT", path, {
      token,
      body: { ...credential, context: { type: context.includes("-") ? "InternalId" : "Nip", value: context } }
    })
    if (put.status !== 204) throw new Error(`The credential was refused: ${put.status} ${JSON.stringify(put.body)}`)
    if (offline !== undefined) {
      const path = `/v1/control-plane/organizations/${id}/offline-certificate`
      const stored = await this.call("PUT", path, { token, body: offline })
      if (stored.status !== 204) throw new Error(`The certificate was refused: ${JSON.stringify(stored.body)}`)
    }
    const { secret: key } = await post<{ secret: string }>(`organizations/${id}/api-keys`, { mode: "live" })
    return { id, key }
  }

  async #signUp() {
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
    return { id, post, token }
  }

  /** Submits with one idempotency key until the response is a 201, as a retrying client does. */
  async submit(key: string, scenario: string, invoiceXml = "<Faktura/>", members: object = {}): Promise<string> {
    const idempotencyKey = randomBytes(12).toString("hex")
    for (const deadline = Date.now() + submitWithinMs; Date.now() < deadline;) {
      try {
        const { body, status } = await this.call<{ id: string }>("POST", "/v1/invoices", {
          token: key,
          body: { invoice_xml: invoiceXml, ...members },
          headers: { "idempotency-key": idempotencyKey, "gov-sandbox-scenario": scenario }
        })
        if (status === 201) return body.id
        if (status < 500) throw new Error(`A submission was refused: ${status} ${JSON.stringify(body)}`)
      } catch (error) {
        if (error instanceof Error && error.message.startsWith("A submission was refused")) throw error
      }
      await sleep(100)
    }
    throw new Error(`The submission was not accepted within ${submitWithinMs} ms`)
  }

  async count(condition: string): Promise<number> {
    const { rows } = await this.pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${condition}`)
    return rows[0]!.n
  }

  /** Waits until all work is complete. Throws with the remaining work at the deadline. */
  async finished(withinMs: number): Promise<void> {
    const left = () =>
      this.count(
        "(SELECT id FROM deliveries WHERE due_at IS NOT NULL UNION ALL SELECT id FROM invoices WHERE due_at IS NOT NULL) AS left_over"
      )
    await until("the completion of all work", async () => (await left()) === 0, withinMs).catch(
      async (error: unknown) => {
        const { rows } = await this.pool.query(
          "SELECT status, is_due, count(*), min(due_at) FROM deliveries WHERE due_at IS NOT NULL GROUP BY 1, 2"
        )
        throw new Error(`${String(error)} ${JSON.stringify(rows)} ${this.processes.map((one) => one.text).join("\n")}`)
      }
    )
  }

  /** Kills all processes, also those that are supervised. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.processes.map((one) => one.kill()))
    await Promise.all(this.#supervisions)
    await this.pool.end()
  }
}
