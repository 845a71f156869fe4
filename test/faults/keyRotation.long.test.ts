/** The documented rotation of the encryption key, as a rolling update under load. */
import { randomBytes } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startPostgres } from "../support/postgres.ts"
import type { ServerProcess } from "../support/serverProcess.ts"
import { Deployment, maxAttempts, sleep } from "./deployment.ts"
import * as Invariants from "./invariants.ts"
import { type Receiver, startReceiver } from "./receiver.ts"

const key = (id: string) => `${id}:${randomBytes(32).toString("base64")}`
const [k1, k2] = [key("k1"), key("k2")]

describe("a rotation of the encryption key", () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let receiver: Receiver
  let deployment: Deployment

  beforeAll(async () => {
    postgres = await startPostgres()
    receiver = await startReceiver()
    deployment = new Deployment(postgres.url)
  })
  afterAll(async () => {
    await deployment.close()
    await receiver.close()
    await postgres.remove()
  })

  it("loses no webhook when keys are appended first, moved to the front next, and removed last", async () => {
    let api: ServerProcess | undefined
    const workers: Array<ServerProcess> = []
    const apiKeys: Array<string> = []
    const endpoints: Array<string> = []
    let paths = 0
    let submitted = 0

    const submit = async (apiKey: string) => {
      await deployment.submit(apiKey, "accepted")
      submitted += 1
    }

    const addOrganization = async () => {
      const path = `/ok?${(paths += 1)}`
      const made = await deployment.organization([receiver.url(path)])
      receiver.learn(path, made.endpoints[0]!.secret)
      apiKeys.push(made.key)
      endpoints.push(made.endpoints[0]!.id)
      // However slow the load is, this endpoint has deliveries while processes with other keys run.
      await submit(made.key)
    }

    // Replaces one process after the other, with submissions and a new endpoint in between.
    const roll = async (keys: string) => {
      const settings = { GOVOICE_ENCRYPTION_KEYS: keys }
      const oldApi = api
      api = await deployment.startApi(settings)
      await oldApi?.stop()
      await addOrganization()
      await sleep(500)
      for (let index = 0; index < 2; index++) {
        const old = workers[index]
        workers[index] = await deployment.startWorker(settings)
        if (old !== undefined) assert.strictEqual(await old.stop(), 0)
        await addOrganization()
        await sleep(500)
      }
    }

    await roll(k1)
    const stopping = new AbortController()
    const submitMany = async (offset: number) => {
      for (let n = offset; !stopping.signal.aborted; n++) {
        await submit(apiKeys[n % apiKeys.length]!)
        await sleep(50)
      }
    }
    const load = Promise.all([submitMany(0), submitMany(1)])

    await roll(`${k1},${k2}`)
    await roll(`${k2},${k1}`)
    const printed = await deployment.run("keys rotate-encryption", { GOVOICE_ENCRYPTION_KEYS: `${k2},${k1}` })
    assert.match(printed, /^Re-encrypted \d+ values with key k2\.$/m)
    assert.match(await deployment.run("doctor", { GOVOICE_ENCRYPTION_KEYS: k2 }), /^ok {4}keys /m)
    await roll(k2)
    stopping.abort()
    await load
    await deployment.finished(60_000)

    assert.isAbove(submitted, 50)
    assert.strictEqual(await deployment.count("invoices"), submitted)
    assert.strictEqual(await deployment.count("deliveries WHERE status <> 'succeeded'"), 0)
    assert.strictEqual(await deployment.count("deliveries"), submitted * 4)
    assert.deepStrictEqual(receiver.faults, [])
    await Invariants.check(deployment.pool, { maxAttempts })
    for (const endpoint of endpoints) {
      assert.isAbove(await deployment.count(`deliveries WHERE endpoint_id = '${endpoint}'`), 0)
    }
  })

  it("refuses to start a process without the key in use, or with another key of its id", async () => {
    for (const keys of [k1, key("k2")]) {
      await deployment.startWorker({ GOVOICE_ENCRYPTION_KEYS: keys }).then(
        () => assert.fail("It started"),
        (error: unknown) => assert.match(String(error), /key "k2".*Put the keys that sealed the stored values back/)
      )
    }
  })
})
