/** Measures how fast other queues drain the same backlog to the same receiver. */
import { Queue } from "bullmq"
import { makeWorkerUtils } from "graphile-worker"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PgBoss } from "pg-boss"
import { type Database, sampleBody } from "./database.ts"
import type { Job } from "./peers/post.ts"
import { type Receiver, sleep, startPeer, until, type Worker } from "./processes.ts"
import { fromFirstRequest, type Usage } from "./usage.ts"

/** The remedy where BullMQ was not measured. */
export const redisRemedy = "there is no redis-server; install it with `apt-get install redis-server`"

export interface PeerDrained extends Usage {
  readonly perSecond: number
  readonly statementsPerDelivery: number | undefined
}

const jobs = (receiver: Receiver, count: number): ReadonlyArray<Job> =>
  Array.from({ length: count }, (_, n) => {
    const id = `evt_${String(n).padStart(26, "0")}`
    return { url: receiver.url, path: "/", id, body: sampleBody(id) }
  })

const chunks = <A>(all: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))

const run = async (receiver: Receiver, count: number, start: () => Worker, database?: Database) => {
  await receiver.reset()
  await database?.statements()
  const worker = start()
  try {
    const usage = await fromFirstRequest(receiver, [worker], database)
    await until("the backlog of a peer", async () => (await receiver.count()) >= count, 180_000, 250)
    const { first, last } = await receiver.report()
    await sleep(500)
    return {
      perSecond: Math.round((count * 1000) / (last - first)),
      ...(await usage(count)),
      statementsPerDelivery: database === undefined ? undefined : (await database.statements()) / count
    }
  } finally {
    await worker.stop()
  }
}

export const pgBoss = async (database: Database, receiver: Receiver, count: number): Promise<PeerDrained> => {
  const boss = new PgBoss({ connectionString: database.url, supervise: false, schedule: false })
  boss.on("error", () => {})
  await boss.start()
  await boss.createQueue("webhooks")
  for (const chunk of chunks(jobs(receiver, count), 2000)) {
    await boss.insert(
      "webhooks",
      chunk.map((data) => ({ data }))
    )
  }
  await boss.stop({ graceful: false })
  await database.pool.query("VACUUM ANALYZE")
  await database.pool.query("CHECKPOINT")
  return run(receiver, count, () => startPeer("pgBoss.ts", { DATABASE_URL: database.url }), database)
}

export const graphileWorker = async (database: Database, receiver: Receiver, count: number): Promise<PeerDrained> => {
  const utils = await makeWorkerUtils({ connectionString: database.url })
  await utils.migrate()
  for (const chunk of chunks(jobs(receiver, count), 2000)) {
    await utils.addJobs(chunk.map((payload) => ({ identifier: "webhook", payload })))
  }
  await utils.release()
  await database.pool.query("VACUUM ANALYZE")
  await database.pool.query("CHECKPOINT")
  return run(receiver, count, () => startPeer("graphileWorker.ts", { DATABASE_URL: database.url }), database)
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Starts Redis with an append-only file that is written to disk every second, its usual setting; less durable than Postgres. */
export const bullMq = async (receiver: Receiver, count: number): Promise<PeerDrained | undefined> => {
  const port = await freePort()
  const directory = mkdtempSync(join(tmpdir(), "bench-redis-"))
  const redis = spawn(
    "redis-server",
    ["--port", String(port), "--bind", "127.0.0.1", "--dir", directory, "--appendonly", "yes", "--save", ""],
    { stdio: "ignore" }
  )
  const missing = await new Promise<boolean>((resolve) => {
    redis.once("error", () => resolve(true))
    redis.once("spawn", () => resolve(false))
  })
  if (missing) return undefined
  try {
    await sleep(500)
    const queue = new Queue<Job>("webhooks", { connection: { host: "127.0.0.1", port } })
    for (const chunk of chunks(jobs(receiver, count), 2000)) {
      await queue.addBulk(chunk.map((data) => ({ name: "webhook", data })))
    }
    await queue.close()
    return await run(receiver, count, () => startPeer("bullMq.ts", { REDIS_PORT: String(port) }))
  } finally {
    redis.kill("SIGKILL")
    rmSync(directory, { recursive: true, force: true })
  }
}
