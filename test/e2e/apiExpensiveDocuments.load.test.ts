/** Documents made to cost as much as possible, sent as fast as the limits allow, beside a victim. */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { hostile } from "../../packages/ksef/test/xml/hostile.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant } from "./support/client.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"
import { latencies, percentile } from "./support/slow.ts"

const clients = 10

const bodies = hostile.map(([, xml]) => Buffer.from(JSON.stringify({ invoice_xml: xml })))

describe("expensive documents", () => {
  let database: TestDatabase
  let server: Server
  let call: Call
  let victim: Tenant
  let strangers: ReadonlyArray<Tenant>

  beforeAll(async () => {
    database = await openMigrated()
    server = await startServer({ ...database.settings, GOVOICE_ROLE: "api" })
    call = makeCall(() => server.url, await readAgreement(server.url))
    victim = await signUp(call)
    strangers = await Promise.all(Array.from({ length: clients }, () => signUp(call)))
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  // Below the rate limit of requests.
  const submitOne = async () => {
    assert.strictEqual((await submit(call, victim.testKey)).status, 201)
    await sleep(10)
  }

  const attack = async ({ testKey }: Tenant, first: number, signal: AbortSignal): Promise<Set<number>> => {
    const statuses = new Set<number>()
    for (let index = first; !signal.aborted; index++) {
      const response = await fetch(`${server.url}/v1/invoices`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${testKey}`,
          "content-type": "application/json",
          "idempotency-key": randomUUID()
        },
        body: bodies[index % bodies.length]!
      })
      await response.arrayBuffer()
      statuses.add(response.status)
      const retryAfter = Number(response.headers.get("retry-after") ?? 0)
      if (retryAfter > 0) await sleep(1000 * retryAfter, undefined, { signal }).catch(() => {})
    }
    return statuses
  }

  it("of ten organizations leave another its latency", async () => {
    const calm = await latencies(2000, submitOne)
    const stop = new AbortController()
    const attacks = strangers.map((one, index) => attack(one, 7 * index, stop.signal))
    await sleep(500)
    const attacked = await latencies(8000, submitOne)
    stop.abort()
    const statuses = new Set((await Promise.all(attacks)).flatMap((one) => [...one]))
    assert.isTrue(
      [...statuses].every((status) => [201, 422, 429, 503].includes(status)),
      [...statuses].join()
    )
    assert.isTrue(statuses.has(422))
    for (const [share, least] of [
      [0.5, 250],
      [0.99, 1000]
    ] as const) {
      const [before, during] = [percentile(calm, share), percentile(attacked, share)]
      console.log(`percentile ${share}: ${before} ms before, ${during} ms during`)
      assert.isBelow(during, Math.max(least, 8 * before), `percentile ${share}, ${before} ms before`)
    }
  })
})
