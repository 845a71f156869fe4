/** A server with the console, and an owner whose endpoint has many deliveries. No worker runs. */
import { randomUUID } from "node:crypto"
import { Pool } from "undici"
import { buildConsole } from "../../apps/server/buildConsole.ts"
import * as IdGenerator from "../../apps/server/src/crypto/IdGenerator.ts"
import { freePort } from "../../test/support/freePort.ts"
import { type Database, environment } from "../engine/database.ts"
import { startServer, until } from "../engine/processes.ts"

const windowMs = 7 * 24 * 3_600_000
const maxEndpoints = 20
const account = { email: `${randomUUID()}@example.com`, password: "correct horse battery" }

/** An owner at a server. */
export interface Deployment {
  readonly url: string
  readonly organization: string
  /** The endpoint with many deliveries. */
  readonly endpoint: string
  /** Reads from the control plane, and returns the body and its time in milliseconds. */
  readonly read: (path: string) => Promise<{ readonly body: unknown; readonly milliseconds: number }>
  /** The body that the console sends to log in. */
  readonly login: string
  readonly stop: () => Promise<void>
}

/**
 * Starts the server, signs an owner up, and stores deliveries of the last seven days: `count` of one endpoint, of which one has
 * failed, and a twentieth of that of each other endpoint.
 */
export const deploy = async (database: Database, count: number): Promise<Deployment> => {
  await buildConsole()
  const port = await freePort()
  const server = startServer({
    ...environment,
    DATABASE_URL: database.url,
    GOVOICE_ROLE: "api",
    GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1000000",
    PORT: String(port)
  })
  const url = `http://127.0.0.1:${port}`
  const isUp = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true
  await until("the server", isUp, 60_000)

  const post = async (path: string, body: object, token?: string): Promise<Record<string, string>> => {
    const answer = await fetch(`${url}/v1/control-plane/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body)
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Record<string, string>
  }
  await post("accounts", account)
  const { access_token: token } = await post("auth/login", account)
  const organization = (await post("organizations", { name: "Benchmark" }, token))["id"]!
  await post(`organizations/${organization}/api-keys`, { mode: "test" }, token)
  const addEndpoint = async (host: string) =>
    (
      await post(
        `organizations/${organization}/webhook-endpoints`,
        { url: `https://${host}/hooks`, event_types: ["*"] },
        token
      )
    )["id"]!
  for (let other = 1; other < maxEndpoints; other++) {
    const id = await addEndpoint(`receiver-${other}.example.com`)
    await store(database, { organization, endpoint: id, count: Math.floor(count / maxEndpoints), hasFailed: false })
  }
  const endpoint = await addEndpoint("shop.example.com")
  await store(database, { organization, endpoint, count, hasFailed: true })
  await database.pool.query("VACUUM ANALYZE deliveries")

  const connection = new Pool(url, { connections: 1, pipelining: 1 })
  return {
    url,
    organization,
    endpoint,
    read: async (path: string) => {
      const sent = performance.now()
      const { body, statusCode } = await connection.request({
        method: "GET",
        path: `/v1/control-plane/${path}`,
        headers: { authorization: `Bearer ${token}` }
      })
      const text = await body.text()
      const milliseconds = performance.now() - sent
      if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text}`)
      return { body: JSON.parse(text) as unknown, milliseconds }
    },
    login: JSON.stringify({ ...account, remember: true }),
    stop: async () => {
      await connection.close()
      await server.stop()
    }
  }
}

// One in twenty is of another type.
const store = async (
  { pool }: Database,
  {
    count,
    endpoint,
    hasFailed,
    organization
  }: {
    readonly organization: string
    readonly endpoint: string
    readonly count: number
    readonly hasFailed: boolean
  }
): Promise<void> => {
  const now = Date.now()
  const failed = hasFailed ? Math.floor(count / 2) : 0
  const connection = await pool.connect()
  try {
    // Foreign keys are not looked up: the events do not exist.
    await connection.query("SET session_replication_role = replica")
    for (let stored = 0; stored < count; stored += 10_000) {
      const size = Math.min(10_000, count - stored)
      const times = Array.from({ length: size }, (_, n) => Math.floor(now - windowMs * (1 - (stored + n) / count)))
      await connection.query(
        `INSERT INTO deliveries
           (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, attempt_count, is_due, status,
            last_attempted_at, last_http_status, delivered_at, failure_status, last_error_summary)
         SELECT id, $1, $2, replace(id, 'wd_', 'evt_'),
                CASE WHEN n % 20 = 0 THEN 'invoice.rejected' ELSE 'invoice.accepted' END,
                at, at, 1, false, CASE WHEN has_failed THEN 'failed' ELSE 'succeeded' END, at,
                CASE WHEN has_failed THEN 404 ELSE 204 END, CASE WHEN NOT has_failed THEN at END,
                CASE WHEN has_failed THEN 'failed' END,
                CASE WHEN has_failed THEN 'The endpoint returned HTTP 404.' END
         FROM (
           SELECT id, n + $5 AS n, n + $5 = $6 AS has_failed, to_timestamp(milliseconds / 1000) AS at
           FROM unnest($3::text[], $4::float8[]) WITH ORDINALITY AS one (id, milliseconds, n)
         ) AS delivery`,
        [organization, endpoint, times.map((time) => IdGenerator.at("wd", time)), times, stored, failed]
      )
    }
  } finally {
    await connection.query("SET session_replication_role = DEFAULT")
    connection.release()
  }
}
