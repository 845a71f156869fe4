/** The load: submissions whose invoices are sent to receivers as events, the reads of an owner, and maintenance. */
import { randomUUID } from "node:crypto"
import { freePort } from "../../test/support/freePort.ts"
import { sample } from "../api/requests.ts"
import { environment } from "../engine/database.ts"
import { type Receiver, sleep, startServer, until, type Worker } from "../engine/processes.ts"
import { fill } from "./fill.ts"
import { startMaintenance } from "./maintenance.ts"
import { type Get, readAll, type Submitted } from "./reads.ts"

const organizations = 10
const writers = 3
const readers = 4
// A submitter waits so long, so that the databases get about as many submissions.
const pauseMs = 50
// Pauses of the readers and of the maintenance leave half of the processors idle: a percentile says then what a statement takes,
// not how long it waited behind the counts.
const readPauseMs = 20
const maintenancePauseMs = 500
const account = { email: "bench@example.com", password: "correct horse battery" }
const dayMs = 86_400_000

/** A process that is API and worker, and its owner. */
export interface Server {
  readonly run: (seconds: number) => Promise<void>
  readonly stop: () => Promise<void>
}

const send = (url: string, method: string, path: string, token?: string, body?: object, key: string = randomUUID()) =>
  fetch(`${url}/v1/${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      "idempotency-key": key,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(path === "invoices" && key.startsWith("0") ? { "gov-sandbox-scenario": "rejected" } : {})
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

const request = async <A>(...[url, method, path, token, body, key]: Parameters<typeof send>): Promise<A> => {
  const answer = await send(url, method, path, token, body, key)
  // Counts have a limit of their own; the other limits are out of reach.
  if (answer.status === 429 && /overview|delivery-stats/.test(path)) return undefined as A
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return (text.startsWith("{") ? JSON.parse(text) : undefined) as A
}

interface Named {
  readonly id: string
}

/** Signs an owner up with ten organizations, each with an endpoint. Nobody listens to that of the last one. */
export const signUp = async (databaseUrl: string, receiver: Receiver): Promise<void> => {
  const { process, url } = await start(databaseUrl)
  await request(url, "POST", "control-plane/accounts", undefined, account)
  const token = await login(url)
  for (let n = 0; n < organizations; n++) {
    const { id } = await request<Named>(url, "POST", "control-plane/organizations", token, { name: `Company ${n}` })
    await request(url, "POST", `control-plane/organizations/${id}/webhook-endpoints`, token, {
      url: n === organizations - 1 ? `http://127.0.0.1:${await freePort()}` : receiver.url,
      event_types: ["*"]
    })
  }
  await process.stop()
}

const login = async (url: string): Promise<string> =>
  (await request<{ access_token: string }>(url, "POST", "control-plane/auth/login", undefined, account)).access_token

const start = async (databaseUrl: string): Promise<{ readonly process: Worker; readonly url: string }> => {
  const port = await freePort()
  const process = startServer({
    ...environment,
    DATABASE_URL: databaseUrl,
    GOVOICE_ROLE: "all",
    GOVOICE_CONSOLE: "off",
    GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1000000",
    GOVOICE_SANDBOX_STEP_MS: "50",
    GOVOICE_RETRY_SCHEDULE_MS: "1000,1000",
    PORT: String(port)
  })
  const url = `http://127.0.0.1:${port}`
  const isUp = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true
  await until("the server", isUp, 60_000)
  return { process, url }
}

/** Starts the server of a database, which somebody signed up at. `fillUrl` is its URL for a superuser. */
export const startLoaded = async (databaseUrl: string, fillUrl: string): Promise<Server> => {
  const { process, url } = await start(databaseUrl)
  const maintenance = startMaintenance(databaseUrl)
  let token = await login(url)
  const { data } = await request<{ data: ReadonlyArray<Named> }>(url, "GET", "control-plane/organizations", token)
  const owned = await Promise.all(
    data.map(async ({ id }) => {
      const of = `control-plane/organizations/${id}`
      const key = await request<{ secret: string }>(url, "POST", `${of}/api-keys`, token, { mode: "test" })
      const endpoints = await request<{ data: ReadonlyArray<Named> }>(url, "GET", `${of}/webhook-endpoints`, token)
      return { id, of, key: key.secret, endpoint: endpoints.data[0]!.id }
    })
  )
  const submit = async (key: string, idempotencyKey: string): Promise<Submitted> => {
    const body = { invoice_xml: sample, metadata: { order: "4711" } }
    const { id } = await request<Named>(url, "POST", "invoices", key, body, idempotencyKey)
    return { invoice: id, idempotencyKey }
  }
  const write = async (writer: number, end: number): Promise<void> => {
    for (let n = writer; Date.now() < end; n += writers) {
      const { key } = owned[n % owned.length]!
      const { idempotencyKey, invoice } = await submit(key, randomUUID())
      await request(url, "GET", `invoices/${invoice}`, key)
      if (n % 4 === 0) await submit(key, idempotencyKey)
      await sleep(pauseMs)
    }
  }
  const recent = await Promise.all(owned.map(({ key }) => submit(key, `receipt-${randomUUID()}`)))
  const hasReceipt = async () => {
    const answers = await Promise.all(
      recent.map(({ invoice }, n) => send(url, "GET", `invoices/${invoice}/upo`, owned[n]!.key))
    )
    return answers.every(({ ok }) => ok)
  }
  await until("the receipts", hasReceipt, 60_000)

  const get: Get = async (path, by) => {
    await sleep(readPauseMs)
    return request(url, "GET", path, by ?? token)
  }
  const read = async (reader: number, end: number): Promise<void> => {
    for (let n = reader; Date.now() < end; n += readers) {
      const one = owned[n % owned.length]!
      await readAll(get, one, recent[n % owned.length]!)
      await request(url, "PATCH", `control-plane/webhook-endpoints/${one.endpoint}`, token, { description: `${n}` })
    }
  }
  const maintain = async (end: number): Promise<void> => {
    for (let n = 0; Date.now() < end; n++) {
      const { endpoint, id } = owned[n % owned.length]!
      // A hundred deliveries whose retention is over.
      const at = Date.now() - 100 * dayMs
      if (n % 5 === 0) await fill(fillUrl, 100, { from: at, until: at })
      await maintenance.run(id, endpoint)
      await sleep(maintenancePauseMs)
    }
  }
  return {
    run: async (seconds) => {
      // A token ends after 15 minutes, and the rounds of all databases may take longer.
      token = await login(url)
      const end = Date.now() + seconds * 1000
      await Promise.all([
        ...Array.from({ length: writers }, (_, writer) => write(writer, end)),
        ...Array.from({ length: readers }, (_, reader) => read(reader, end)),
        maintain(end)
      ])
    },
    stop: async () => {
      await maintenance.stop()
      await process.stop()
    }
  }
}
