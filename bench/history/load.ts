/** The load: submissions whose invoices are sent to a receiver as events, and the reads of an owner, for some time. */
import { randomUUID } from "node:crypto"
import { freePort } from "../../test/support/freePort.ts"
import { sample } from "../api/requests.ts"
import { environment } from "../engine/database.ts"
import { type Receiver, startServer, until, type Worker } from "../engine/processes.ts"

const organizations = 10
const writers = 4
const account = { email: "bench@example.com", password: "correct horse battery" }

/** A process that is API and worker, and its owner. */
export interface Server {
  readonly process: Worker
  readonly run: (seconds: number) => Promise<void>
}

const request = async <A>(url: string, method: string, path: string, token?: string, body?: object): Promise<A> => {
  const answer = await fetch(`${url}/v1/${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  // The overview has a limit of its own; the other limits are out of reach.
  if (answer.status === 429 && path.endsWith("/overview")) return undefined as A
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as A
}

interface Named {
  readonly id: string
}

/** Signs an owner up with ten organizations, each with an endpoint. */
export const signUp = async (databaseUrl: string, receiver: Receiver): Promise<void> => {
  const { process, url } = await start(databaseUrl)
  await request(url, "POST", "control-plane/accounts", undefined, account)
  const token = await login(url)
  for (let n = 0; n < organizations; n++) {
    const { id } = await request<Named>(url, "POST", "control-plane/organizations", token, { name: `Company ${n}` })
    await request(url, "POST", `control-plane/organizations/${id}/webhook-endpoints`, token, {
      url: receiver.url,
      event_types: ["*"]
    })
  }
  await process.stop()
}

const login = async (url: string): Promise<string> =>
  (await request<{ access_token: string }>(url, "POST", "control-plane/auth/login", undefined, account)).access_token

const start = async (databaseUrl: string) => {
  const port = await freePort()
  const process = startServer({
    ...environment,
    DATABASE_URL: databaseUrl,
    GOVOICE_ROLE: "all",
    GOVOICE_CONSOLE: "off",
    GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1000000",
    GOVOICE_ACCOUNT_RATE_LIMIT_BURST: "1000000",
    GOVOICE_SANDBOX_STEP_MS: "50",
    PORT: String(port)
  })
  const url = `http://127.0.0.1:${port}`
  const isUp = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true
  await until("the server", isUp, 60_000)
  return { process, url }
}

/** Starts the server of a database, which somebody signed up at. */
export const startLoaded = async (databaseUrl: string): Promise<Server> => {
  const { process, url } = await start(databaseUrl)
  const token = await login(url)
  const { data } = await request<{ data: ReadonlyArray<Named> }>(url, "GET", "control-plane/organizations", token)
  const owned = await Promise.all(
    data.map(async ({ id }) => {
      const of = `control-plane/organizations/${id}`
      const key = await request<{ secret: string }>(url, "POST", `${of}/api-keys`, token, { mode: "test" })
      const endpoints = await request<{ data: ReadonlyArray<Named> }>(url, "GET", `${of}/webhook-endpoints`, token)
      return { of, key: key.secret, endpoint: endpoints.data[0]!.id }
    })
  )
  const write = async (writer: number, end: number): Promise<void> => {
    for (let n = writer; Date.now() < end; n += writers) {
      const { key } = owned[n % owned.length]!
      const { id } = await request<Named>(url, "POST", "invoices", key, { invoice_xml: sample })
      await request(url, "GET", `invoices/${id}`, key)
    }
  }
  const read = async (end: number): Promise<void> => {
    for (let n = 0; Date.now() < end; n++) {
      const { endpoint, of } = owned[n % owned.length]!
      for (const path of [
        `${of}/deliveries?limit=50`,
        `${of}/invoices?limit=50`,
        `${of}/overview`,
        `control-plane/webhook-endpoints/${endpoint}/deliveries?limit=50`,
        `control-plane/webhook-endpoints/${endpoint}/deliveries?limit=50&status=failed`
      ]) {
        await request(url, "GET", path, token)
      }
    }
  }
  return {
    process,
    run: async (seconds) => {
      const end = Date.now() + seconds * 1000
      await Promise.all([...Array.from({ length: writers }, (_, writer) => write(writer, end)), read(end)])
    }
  }
}
