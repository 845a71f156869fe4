/**
 * Packets between the processes and Postgres, Redis and KSeF get lost at random moments under load. Nothing is closed: each
 * connection is silent for one side or for both, and what a statement has locked stays locked.
 */
import { startSimulator } from "@govoice/ksef-simulator"
import { spawn, spawnSync } from "node:child_process"
import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "vitest"
import { freePort } from "../support/freePort.ts"
import { isShort } from "../support/length.ts"
import { startPostgres } from "../support/postgres.ts"
import { Deployment, sleep, until } from "./deployment.ts"
import { check } from "./invariants.ts"
import { document } from "./liveKillPoints.ts"
import { startLoad } from "./load.ts"
import { startReceiver } from "./receiver.ts"
import { type Lost, startSwallower, type Swallower } from "./swallower.ts"

const withinMs = 15_000

// In turns, all packets get lost and some.
const episodes = Number(process.env["EPISODES"] ?? (isShort ? 2 : 6))

const pick = <A>(values: ReadonlyArray<A>): A => values[randomInt(values.length)]!

const hasRedis = spawnSync("redis-server", ["--version"]).error === undefined

describe("packets that get lost", { timeout: 900_000 }, () => {
  const cleanUps: Array<() => Promise<unknown>> = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  })

  const before = async (port: number): Promise<Swallower> => {
    const swallower = await startSwallower(port)
    cleanUps.push(() => swallower.close())
    return swallower
  }

  const startRedis = async (): Promise<number> => {
    const folder = mkdtempSync(join(tmpdir(), "govoice-redis-"))
    const port = await freePort()
    const redis = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder])
    cleanUps.push(() => {
      redis.kill("SIGKILL")
      rmSync(folder, { recursive: true, force: true })
      return Promise.resolve()
    })
    return port
  }

  const setUp = async () => {
    const postgres = await startPostgres()
    cleanUps.push(() => postgres.remove())
    const url = new URL(postgres.url)
    const database = await before(Number(url.port))
    url.port = String(database.port)
    const redis = hasRedis ? await before(await startRedis()) : undefined
    const ksef = await startSimulator({ processingMs: 0, seed: String(randomInt(1_000_000)) })
    cleanUps.push(() => ksef.close())
    const ksefUrl = new URL(ksef.url)
    const national = await before(Number(ksefUrl.port))
    ksefUrl.port = String(national.port)
    const receiver = await startReceiver()
    cleanUps.push(() => receiver.close())

    const deployment = new Deployment(postgres.url, {
      GOVOICE_LEASE_MS: "30000",
      GOVOICE_WEBHOOK_TIMEOUT_MS: "2000",
      GOVOICE_CONNECTIONS_PER_ADDRESS: "10000",
      GOVOICE_LIVE_MODE: "true",
      GOVOICE_KSEF_URL: ksefUrl.href
    })
    cleanUps.push(() => deployment.close())
    const settings = {
      DATABASE_URL: url.href,
      ...(redis === undefined ? {} : { REDIS_URL: `redis://127.0.0.1:${redis.port}` })
    }
    const apis = [await deployment.startApi(settings), await deployment.startApi(settings)]
    const urls = await Promise.all(apis.map((api) => api.started()))
    const metricsPorts = [await freePort(), await freePort()]
    for (const port of metricsPorts) await deployment.startWorker({ ...settings, GOVOICE_METRICS_PORT: String(port) })

    const tenants = []
    for (let index = 0; index < 4; index++) {
      const path = `/${index % 2 === 0 ? "ok" : "slow"}?${index}`
      const made = await deployment.organization([receiver.url(path)])
      receiver.learn(path, made.endpoints[0]!.secret)
      tenants.push(made)
    }
    const live = await deployment.liveOrganization({ context: ksef.nip, token: ksef.token })
    const peers = [database, national, ...(redis === undefined ? [] : [redis])]
    return { deployment, ksef, live, metricsPorts, peers, receiver, tenants, urls }
  }

  /** How many attempts a worker has made. */
  const attempts = async (port: number): Promise<number> => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const counts = Array.from(metrics.matchAll(/^govoice_delivery_attempts_total\{.*\} (\d+)$/gm), ([, n]) => Number(n))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Asks at an interval until it is stopped. */
  const ask = (url: string, token: string) => {
    const answers: Array<{ readonly beganAt: number; readonly endedAt: number; readonly status: number }> = []
    const pending = new Set<Promise<void>>()
    const one = async () => {
      const beganAt = Date.now()
      const status = await fetch(url, { headers: { authorization: `Bearer ${token}` } }).then(
        async (response) => {
          await response.text()
          return response.status
        },
        () => 0
      )
      answers.push({ beganAt, endedAt: Date.now(), status })
    }
    const timer = setInterval(() => {
      const asked = one().finally(() => pending.delete(asked))
      pending.add(asked)
    }, 500)
    return {
      url,
      answers,
      stop: async () => {
        clearInterval(timer)
        await Promise.all(pending)
      }
    }
  }

  it("keep no key, session and worker out for longer than 15 s, repeat no webhook, and lose no invoice", async () => {
    const { deployment, ksef, live, metricsPorts, peers, receiver, tenants, urls } = await setUp()
    const asking = urls.flatMap((url) =>
      tenants.flatMap(({ id, key, token }) => [
        ask(`${url}/v1/invoices`, key),
        ask(`${url}/v1/control-plane/organizations/${id}`, token)
      ])
    )
    const load = startLoad(
      deployment,
      tenants.map(({ key }) => key),
      10
    )
    let documents = 0
    const isSubmitting = new AbortController()
    const submittingLive = (async () => {
      for (; !isSubmitting.signal.aborted; documents++) {
        await deployment.submit(live.key, "accepted", document(ksef.nip, `FV/${documents}`))
        await sleep(2000)
      }
    })()

    const late: Array<string> = []
    for (let episode = 0; episode < episodes; episode++) {
      await sleep(randomInt(3000))
      const isTotal = episode % 2 === 0
      const share = isTotal ? 1 : Math.random()
      const silentMs = isTotal ? 8000 + randomInt(4000) : randomInt(8000)
      const kinds = pick<ReadonlyArray<Lost>>([["questions"], ["answers"], ["both"], ["questions", "answers", "both"]])
      for (const peer of peers) peer.swallow(() => pick(kinds), share, isTotal)
      const silentAt = Date.now()
      const name = `episode ${episode}: ${kinds.join()} of ${Math.round(share * 100)} % for ${silentMs} ms`
      if (isTotal) {
        const readiness = await Promise.all(
          urls.map(async (url) => {
            for (;;) {
              if ((await fetch(`${url}/readyz`)).status === 503) return Date.now() - silentAt
              if (Date.now() - silentAt > silentMs) return Infinity
              await sleep(100)
            }
          })
        )
        if (readiness.includes(Infinity)) late.push(`${name}: unready after ${readiness.join()} ms`)
      }
      await sleep(Math.max(0, silentMs - (Date.now() - silentAt)))
      for (const peer of peers) peer.heal()
      const healthyAt = Date.now()
      // The attempts that were in flight have ended then.
      await sleep(2500)
      const before = await Promise.all(metricsPorts.map(attempts))
      await sleep(withinMs - 2500)
      const after = await Promise.all(metricsPorts.map(attempts))
      if (after.some((count, index) => count <= before[index]!))
        late.push(`${name}: attempts ${before.join(" ")} and ${after.join(" ")}`)
      await sleep(2000)
      for (const { answers, url } of asking) {
        const asked = answers.filter(({ beganAt }) => beganAt > healthyAt)
        const served = asked.find(({ status }) => status === 200)
        const servedMs = served === undefined ? Infinity : served.endedAt - healthyAt
        if (servedMs > withinMs) late.push(`${name}: ${url} after ${servedMs} ms`)
        const refused = asked.filter(({ beganAt, status }) => beganAt > healthyAt + withinMs && status !== 200)
        if (refused.length > 0) late.push(`${name}: ${url} ${JSON.stringify(refused)}`)
      }
      const { rows } = await deployment.pool.query<{ ms: string }>(
        "SELECT extract(epoch FROM min(delivered_at)) * 1000 AS ms FROM deliveries WHERE delivered_at > to_timestamp($1)",
        [healthyAt / 1000]
      )
      const deliveredMs = Number(rows[0]?.ms ?? Infinity) - healthyAt
      if (!(deliveredMs < withinMs)) late.push(`${name}: first delivery after ${deliveredMs} ms`)
      const isReady = async () =>
        (await Promise.all(urls.map(async (url) => (await fetch(`${url}/readyz`)).status === 200))).every(Boolean)
      await until(`ready processes after ${name}`, isReady, 20_000)
    }

    await load.stop()
    isSubmitting.abort()
    await submittingLive
    await Promise.all(asking.map(({ stop }) => stop()))
    assert.deepStrictEqual(late, [])

    const leftLive = () =>
      deployment.count("invoices WHERE mode = 'live' AND NOT (status = 'accepted' AND upo_available)")
    await until("the receipt of every live invoice", async () => (await leftLive()) === 0, 300_000)
    await deployment.finished(120_000)
    const { rows } = await deployment.pool.query<{ id: string }>("SELECT id FROM invoices WHERE mode = 'test'")
    assert.sameMembers(
      rows.map(({ id }) => id),
      [...load.ids]
    )
    const accepted = ksef.ledger.accepted()
    assert.lengthOf(accepted, documents)
    assert.lengthOf(new Set(accepted.map(({ sha256 }) => sha256)), documents)
    const ids = receiver.receipts.map(({ eventId, path }) => `${path} ${eventId}`)
    assert.deepStrictEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      []
    )
    assert.deepStrictEqual(receiver.faults, [])
    await check(deployment.pool, { maxAttempts: 4 })
  })
})
