/** The queues that are compared: each stores events for endpoints, and has a worker process that delivers them. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Queue } from "bullmq"
import { makeWorkerUtils } from "graphile-worker"
import { freePort } from "../../test/support/freePort.ts"
import { type Database, environment, makeTenants, plan, sampleBody } from "../engine/database.ts"
import type { Job } from "../engine/peers/post.ts"
import { sleep, startPeer, startServer, type Worker } from "../engine/processes.ts"
import { endpoints } from "./endpoints.ts"

/** A queue with a running worker. */
export interface Contestant {
  readonly worker: Worker
  /** Stores one event for each of these endpoints, by number. */
  readonly store: (chosen: ReadonlyArray<number>) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Where the receivers are, the file of their authority, and how many deliveries a worker has in flight. */
export interface Setup {
  readonly database: Database
  readonly port: number
  readonly ca: string
  readonly inFlight: number
}

const preload = `--import=${join(import.meta.dirname, "names.ts")}`
const originOf = (n: number, port: number): string => `https://${endpoints[n]!.name}:${port}`

/** The server of this repository, with an organization for each endpoint. */
export const govoice = async ({ ca, database, inFlight, port }: Setup): Promise<Contestant> => {
  const { pool } = database
  await pool.query("TRUNCATE deliveries, events")
  const tenants = await makeTenants(pool, endpoints.length, "https://receivers.test")
  await pool.query(
    `UPDATE webhook_endpoints SET url = one.url
     FROM unnest($1::text[], $2::text[]) AS one (id, url) WHERE webhook_endpoints.id = one.id`,
    [tenants.map(({ endpoint }) => endpoint), endpoints.map(({ path }, n) => originOf(n, port) + path)]
  )
  await pool.query("VACUUM ANALYZE")
  const worker = startServer({
    ...environment,
    NODE_OPTIONS: `${environment.NODE_OPTIONS} ${preload}`,
    NODE_EXTRA_CA_CERTS: ca,
    DATABASE_URL: database.url,
    GOVOICE_ROLE: "worker",
    GOVOICE_WORKER_CONCURRENCY: String(inFlight),
    GOVOICE_WEBHOOK_TIMEOUT_MS: "10000"
  })
  return {
    worker,
    store: async (chosen) => {
      await plan(
        pool,
        chosen.map((n) => tenants[n]!),
        chosen.length
      )
      await pool.query("SELECT pg_notify('govoice_notifications', 'bench deliveries')")
    },
    stop: () => worker.stop()
  }
}

const peerEnvironment = ({ ca, inFlight }: Setup) => ({
  NODE_OPTIONS: preload,
  NODE_EXTRA_CA_CERTS: ca,
  PEER_CONCURRENCY: String(inFlight),
  PEER_QUIET: "1"
})

let made = 0
const jobOf = (n: number, port: number): Job => {
  const id = `evt_${String(made++).padStart(26, "0")}`
  return { url: originOf(n, port), path: endpoints[n]!.path, id, body: sampleBody(id) }
}

/** Without retries: an attempt that fails costs a peer nothing more. */
export const graphileWorker = async (setup: Setup): Promise<Contestant> => {
  const { database, port } = setup
  const utils = await makeWorkerUtils({ pgPool: database.pool })
  await utils.migrate()
  await database.pool.query("DELETE FROM graphile_worker._private_jobs")
  const worker = startPeer("graphileWorker.ts", { ...peerEnvironment(setup), DATABASE_URL: database.url })
  return {
    worker,
    store: async (chosen) => {
      await utils.addJobs(
        chosen.map((n) => ({ identifier: "webhook", payload: jobOf(n, port), maxAttempts: 1 })),
        false
      )
    },
    stop: async () => {
      await worker.stop()
      await utils.release()
    }
  }
}

/** Undefined where there is no redis-server. */
export const bullMq = async (setup: Setup): Promise<Contestant | undefined> => {
  const redisPort = await freePort()
  const folder = mkdtempSync(join(tmpdir(), "bench-redis-"))
  const redis = spawn(
    "redis-server",
    ["--port", String(redisPort), "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes", "--save", ""],
    { stdio: "ignore" }
  )
  const remove = () => {
    redis.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true })
  }
  process.once("exit", remove)
  const isMissing = await new Promise<boolean>((resolve) => {
    redis.once("error", () => resolve(true))
    redis.once("spawn", () => resolve(false))
  })
  if (isMissing) return undefined
  await sleep(500)
  const queue = new Queue<Job>("webhooks", { connection: { host: "127.0.0.1", port: redisPort } })
  const worker = startPeer("bullMq.ts", { ...peerEnvironment(setup), REDIS_PORT: String(redisPort) })
  return {
    worker,
    store: async (chosen) => {
      await queue.addBulk(chosen.map((n) => ({ name: "webhook", data: jobOf(n, setup.port) })))
    },
    stop: async () => {
      await worker.stop()
      await queue.close()
      process.off("exit", remove)
      remove()
    }
  }
}
