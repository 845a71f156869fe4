/** Kills a server with an embedded database repeatedly under load, and checks that no accepted invoice is lost. */
import { randomBytes, randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert } from "vitest"
import { builtCommand } from "../e2e/support/build.ts"
import { ServerProcess } from "../support/serverProcess.ts"
import { sleep, until } from "./deployment.ts"
import { startReceiver } from "./receiver.ts"

// Events of an invoice of the default scenario.
const eventsPerInvoice = 4

const start = async (dataDir: string) => {
  const server = new ServerProcess([await builtCommand(), "serve"], {
    PORT: "0",
    GOVOICE_DATA_DIR: dataDir,
    GOVOICE_SANDBOX_STEP_MS: "60",
    GOVOICE_WEBHOOK_TIMEOUT_MS: "700",
    GOVOICE_LEASE_MS: "5800",
    GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
    GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
    GOVOICE_RETRY_SCHEDULE_MS: Array.from({ length: 100 }, () => 200).join(",")
  })
  return { server, url: await server.started() }
}

interface Body {
  readonly id: string
  readonly status: string
  readonly secret: string
  readonly access_token: string
}

const call = async (
  url: string,
  path: string,
  token?: string,
  body?: unknown,
  headers: Record<string, string> = {}
) => {
  const response = await fetch(`${url}/v1/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, body: (await response.json()) as Body }
}

const setUp = async (url: string, receiverUrl: string) => {
  const credentials = { email: `${randomBytes(6).toString("hex")}@example.com`, password: "correct horse battery" }
  await call(url, "control-plane/accounts", undefined, credentials)
  const token = (await call(url, "control-plane/auth/login", undefined, credentials)).body.access_token
  const { id } = (await call(url, "control-plane/organizations", token, { name: "Company" })).body
  const key = await call(url, `control-plane/organizations/${id}/api-keys`, token, { mode: "test" })
  const path = `control-plane/organizations/${id}/webhook-endpoints`
  const endpoint = await call(url, path, token, { url: receiverUrl, event_types: ["*"] })
  return { key: key.body.secret, endpointSecret: endpoint.body.secret }
}

/** Runs the loop with this number of kills. */
export const killLoop = async (kills: number): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-kills-"))
  const dataDir = join(folder, "data")
  const receiver = await startReceiver()
  let current = await start(dataDir)
  try {
    const { endpointSecret, key } = await setUp(current.url, receiver.url("/ok"))
    receiver.learn("/ok", endpointSecret)

    const accepted = new Set<string>()
    const stopping = new AbortController()
    // A client repeats a request with its idempotency key until it gets a response.
    const submit = async (): Promise<void> => {
      const headers = { "idempotency-key": randomUUID() }
      for (;;) {
        const answer = await call(current.url, "invoices", key, { invoice_xml: "<Faktura/>" }, headers).catch(
          () => undefined
        )
        if (answer?.status === 201) return void accepted.add(answer.body.id)
        if (answer !== undefined && answer.status < 500) throw new Error(`Refused: ${JSON.stringify(answer.body)}`)
        await sleep(50)
      }
    }
    const submitMany = async () => {
      while (!stopping.signal.aborted) {
        await submit()
        await sleep(30)
      }
    }
    const load = Promise.all([submitMany(), submitMany()])

    for (let kill = 0; kill < kills; kill++) {
      await sleep(Math.random() * 1500)
      await current.server.kill()
      current = await start(dataDir)
    }
    await sleep(500)
    stopping.abort()
    await load

    assert.isAbove(accepted.size, kills)
    for (const id of accepted) {
      await until(
        `invoice ${id} is accepted`,
        async () => (await call(current.url, `invoices/${id}`, key)).body.status === "accepted",
        120_000
      )
    }
    const received = () => new Set(receiver.receipts.map(({ eventId }) => eventId)).size
    await until("every webhook arrived", async () => received() >= accepted.size * eventsPerInvoice, 120_000)
    assert.strictEqual(received(), accepted.size * eventsPerInvoice)
    assert.deepStrictEqual(receiver.faults, [])
    assert.strictEqual(await current.server.stop(), 0)
  } finally {
    await current.server.kill()
    await receiver.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}
