/** Starts a Postgres with default durability for a benchmark, and fills it. */
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { Pool, type PoolClient } from "pg"
import * as KeyRing from "../../apps/server/src/crypto/KeyRing.ts"
import * as IdGenerator from "../../apps/server/src/crypto/IdGenerator.ts"
import { encryptionKeys } from "../../apps/server/src/settings/Parsers.ts"
import { startPostgres } from "../../test/support/postgres.ts"
import { childrenOf, cpuWithChildren, startServer, until } from "./processes.ts"

export const keys = `k1:${randomBytes(32).toString("base64")}`
const keyRing = KeyRing.make(encryptionKeys(keys))

/** Environment of a server process, without database and role. */
export const environment = {
  // As in the image.
  NODE_OPTIONS: "--max-semi-space-size=32",
  MALLOC_ARENA_MAX: "1",
  GOVOICE_JWT_SECRET: randomBytes(48).toString("base64url"),
  GOVOICE_ENCRYPTION_KEYS: keys,
  GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
  GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
  GOVOICE_LOG_LEVEL: "Warn",
  GOVOICE_RATE_LIMIT_PER_SECOND: "1000000",
  GOVOICE_RATE_LIMIT_BYTES_PER_SECOND: "1000000000",
  GOVOICE_RATE_LIMIT_BURST: "1000000"
} as const

export interface Database {
  readonly url: string
  readonly pool: Pool
  /** How many statements were executed since the last call, without those of the benchmark. */
  readonly statements: () => Promise<number>
  /** The CPU time of the whole server so far, in seconds. */
  readonly cpu: () => Promise<number>
  readonly stop: () => Promise<void>
}

const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])

/** Starts a Postgres with the schema, and with further settings of its own; its log goes to `onLog`. */
export const startDatabase = async (
  settings: ReadonlyArray<string> = [],
  onLog?: (text: string) => void
): Promise<Database> => {
  const flags = [
    "fsync=on",
    "shared_preload_libraries=pg_stat_statements",
    "shared_buffers=512MB",
    "max_wal_size=4GB",
    ...settings
  ]
  const server = await startPostgres({
    flags: flags.flatMap((flag) => ["-c", flag]),
    ...(onLog === undefined ? {} : { onLog })
  })
  // Its own application name tells the statements of the benchmark from those of the workers.
  const admin = new Pool({ connectionString: server.url, max: 1 }).on("error", () => {})
  await admin.query("CREATE EXTENSION pg_stat_statements")
  await admin.query("CREATE ROLE bench SUPERUSER LOGIN PASSWORD 'bench'")
  await admin.end()
  const benchUrl = new URL(server.url)
  benchUrl.username = benchUrl.password = "bench"
  const pool = new Pool({ connectionString: benchUrl.href, max: 10 }).on("error", () => {})

  // A process of the server creates the schema, and then the partitions: what is before this week, and this week and the next.
  const migrating = startServer({ ...environment, DATABASE_URL: server.url, GOVOICE_ROLE: "worker" })
  await until(
    "the schema",
    async () =>
      (await pool.query("SELECT FROM pg_inherits WHERE inhparent = to_regclass('deliveries')")).rows.length >= 3,
    20_000
  )
  await migrating.stop()

  return {
    url: server.url,
    pool,
    statements: async () => {
      const { rows } = await pool.query<{ n: number }>(`
        SELECT coalesce(sum(calls), 0)::int AS n FROM pg_stat_statements
        WHERE userid <> 'bench'::regrole AND query NOT IN ('BEGIN', 'COMMIT', 'ROLLBACK')
      `)
      await pool.query("SELECT pg_stat_statements_reset()")
      return rows[0]!.n
    },
    cpu: async () => {
      const { rows } = await pool.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")
      const postmaster = parentOf(rows[0]!.pid)
      return [postmaster, ...childrenOf(postmaster)].reduce((sum, pid) => sum + cpuWithChildren(pid), 0)
    },
    stop: async () => {
      await pool.end()
      await server.remove()
    }
  }
}

const crockford = "0123456789abcdefghjkmnpqrstvwxyz"
let made = 0

/** Returns an identifier of the right form. */
const id = (prefix: string, number: number): string => {
  let rest = number
  let text = ""
  for (let position = 0; position < 26; position++) {
    text = crockford[rest % 32]! + text
    rest = Math.floor(rest / 32)
  }
  return `${prefix}_${text}`
}

export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

export interface Tenant {
  readonly organization: string
  readonly endpoint: string
  readonly invoice: string
}

/** Organizations with one endpoint each. Their identifiers count up, so that the partitions differ by at most one of them. */
export const makeTenants = async (pool: Pool, count: number, url: string): Promise<ReadonlyArray<Tenant>> => {
  const tenants: Array<Tenant> = []
  for (let n = 0; n < count; n++) {
    made += 1
    const [account, organization, endpoint, invoice] = [
      id("acct", made),
      id("org", made),
      id("we", made),
      id("inv", made)
    ]
    const sealed = Buffer.from(keyRing.seal(secret, { column: "webhook_endpoints.secret", row: endpoint }))
    await pool.query(
      "INSERT INTO accounts (id, created_at, email, password_hash) VALUES ($1, now(), $1 || '@example.com', 'hash')",
      [account]
    )
    await pool.query("INSERT INTO organizations (id, account_id, created_at, name) VALUES ($1, $2, now(), 'bench')", [
      organization,
      account
    ])
    await pool.query("INSERT INTO organization_concurrency (organization_id) VALUES ($1)", [organization])
    await pool.query(
      `INSERT INTO webhook_endpoints (id, organization_id, created_at, updated_at, enabled, pace, url, event_types, secret)
       VALUES ($1, $2, now(), now(), true, 'steady', $3, '{*}', $4)`,
      [endpoint, organization, url, sealed]
    )
    await pool.query(
      `INSERT INTO invoices (id, organization_id, created_at, updated_at, completed_at, mode, status, scenario,
                             official_number, metadata)
       VALUES ($1, $2, now(), now(), now(), 'test', 'accepted', 'accepted', 'n', '{}')`,
      [invoice, organization]
    )
    tenants.push({ organization, endpoint, invoice })
  }
  return tenants
}

// As the server writes it: an event with the whole invoice, about 700 bytes.
const body = `'{"id":"' || event || '","object":"event","type":"invoice.accepted","mode":"test","created_at":"' ||
  to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","data":{"invoice":{"id":"' || invoice ||
  '","object":"invoice","mode":"test","status":"accepted","scenario":"accepted","metadata":{"order":"4711"},' ||
  '"official_number":"5265877635-20261120-0100001AF629-61","rejection":null,"failure":null,"upo_available":false,' ||
  '"attempt_count":1,"next_attempt_at":null,"created_at":"2026-11-20T12:00:00.000Z",' ||
  '"updated_at":"2026-11-20T12:00:02.000Z","submitted_at":"2026-11-20T12:00:01.000Z",' ||
  '"completed_at":"2026-11-20T12:00:02.000Z"}}}'`

/** The body of an event as `plan` makes it, for the other queues. */
export const sampleBody = (event: string): string =>
  JSON.stringify({
    id: event,
    object: "event",
    type: "invoice.accepted",
    mode: "test",
    created_at: new Date().toISOString(),
    data: {
      invoice: {
        id: `inv_${event.slice(4)}`,
        object: "invoice",
        mode: "test",
        status: "accepted",
        scenario: "accepted",
        metadata: { order: "4711" },
        document: null,
        verification: null,
        invoicing_mode: "online",
        official_mode: null,
        send_by: null,
        corrects: null,
        warnings: null,
        official_number: "5265877635-20261120-0100001AF629-61",
        rejection: null,
        failure: null,
        upo_available: false,
        attempt_count: 1,
        next_attempt_at: null,
        created_at: "2026-11-20T12:00:00.000Z",
        updated_at: "2026-11-20T12:00:02.000Z",
        submitted_at: "2026-11-20T12:00:01.000Z",
        completed_at: "2026-11-20T12:00:02.000Z"
      }
    }
  })

let batches = 0

/** Plans deliveries, spread evenly over tenants, in one statement. They are due at once. */
export const plan = async (
  pool: Pick<Pool | PoolClient, "query">,
  tenants: ReadonlyArray<Tenant>,
  count: number
): Promise<void> => {
  batches += 1
  // Identifiers begin with the time, as those of the server do, because the pruner reads old ones.
  const time = IdGenerator.at("evt", Date.now()).slice("evt_".length, "evt_".length + 10)
  const prefix = (kind: string) => `'${kind}_${time}' || lpad('${batches}', 8, '0') || lpad(n::text, 8, '0')`
  await pool.query(
    `WITH tenant AS (
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS tenant (organization, endpoint, invoice, position)
     ), one AS (
       SELECT ${prefix("evt")} AS event, ${prefix("wd")} AS delivery, organization, endpoint, invoice,
              clock_timestamp() AS at
       FROM generate_series(0, $4::int - 1) AS n JOIN tenant ON position = n % $5::int + 1
     ), event AS (
       INSERT INTO events (id, organization_id, invoice_id, type, body)
       SELECT event, organization, invoice, 'invoice.accepted', ${body} FROM one
     )
     INSERT INTO deliveries
       (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, is_due, status)
     SELECT delivery, organization, endpoint, event, 'invoice.accepted', at, at, at, true, 'pending' FROM one`,
    [
      tenants.map(({ organization }) => organization),
      tenants.map(({ endpoint }) => endpoint),
      tenants.map(({ invoice }) => invoice),
      count,
      tenants.length
    ]
  )
}

/** Removes the events and deliveries with their dead rows. */
export const truncateEvents = async (pool: Pool): Promise<void> => {
  await pool.query("TRUNCATE deliveries, events")
  await pool.query("UPDATE organization_concurrency SET in_flight = '{}'")
}
