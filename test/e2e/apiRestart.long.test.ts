/** Accepted requests survive a killed process and a graceful stop. */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Client } from "pg"
import { assert, describe, it } from "vitest"
import { createMigrated } from "../support/databases.ts"
import { freePort } from "../support/freePort.ts"
import { problemOf } from "./support/agreement.ts"
import { makeCall, readAgreement, signUp, submit } from "./support/client.ts"
import { openMigrated } from "./support/databases.ts"
import { secrets, startAndFail, startServer } from "./support/server.ts"
import { patienceMs } from "../support/patienceMs.ts"

const inFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-e2e-"))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

const stores = [
  {
    name: "Postgres",
    use: async (run: (settings: Record<string, string>) => Promise<void>) => {
      const { drop, settings } = await openMigrated()
      try {
        await run(settings)
      } finally {
        await drop()
      }
    }
  },
  {
    name: "the embedded database",
    use: (run: (settings: Record<string, string>) => Promise<void>) =>
      inFolder((folder) => run({ GOVOICE_DATA_DIR: join(folder, "data") }))
  }
]

describe.each(stores)("a server that is killed, on $name", ({ use }) => {
  it("replays earlier responses, creates no duplicates, and keeps keys, sessions and endpoints", () =>
    use(async (settings) => {
      const first = await startServer(settings)
      const agreement = await readAgreement(first.url)
      const tenant = await signUp(makeCall(() => first.url, agreement))
      const keys = Array.from({ length: 40 }, () => randomUUID())
      const answers = new Map<string, string>()
      const call = makeCall(() => first.url, agreement)
      const sending = keys.map(async (key, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 2))
        const answer = await submit(call, tenant.testKey, { headers: { "idempotency-key": key } }).catch(
          () => undefined
        )
        if (answer?.status === 201) answers.set(key, answer.text)
      })
      while (answers.size < 10) await new Promise((resolve) => setTimeout(resolve, 1))
      await first.kill()
      await Promise.all(sending)

      const second = await startServer(settings)
      const again = makeCall(() => second.url, agreement)
      const texts = new Map<string, string>()
      for (const key of [...keys, ...keys]) {
        const answer = await submit(again, tenant.testKey, { headers: { "idempotency-key": key } })
        assert.strictEqual(answer.status, 201)
        assert.strictEqual(answer.text, answers.get(key) ?? texts.get(key) ?? answer.text)
        if (answers.has(key) || texts.has(key)) assert.strictEqual(answer.headers.get("idempotent-replayed"), "true")
        texts.set(key, answer.text)
      }
      const path = `/v1/control-plane/organizations/${tenant.organizationId}/invoices?limit=100`
      const list = await again("GET", path, { auth: tenant.token })
      assert.lengthOf((list.json as { readonly data: ReadonlyArray<unknown> }).data, keys.length)
      const endpoint = await again("POST", `/v1/control-plane/webhook-endpoints/${tenant.endpointId}/rotate-secret`, {
        auth: tenant.token,
        body: {}
      })
      assert.strictEqual(endpoint.status, 200)
      await second.stop()
    }))
})

describe("a server that is stopped while submissions wait for the database", () => {
  // The time that bodies take to be read is limited, too: half a millisecond for each request of the burst, which 100 requests
  // exceed where other processes interrupt the server.
  const unlimited = { GOVOICE_RATE_LIMIT_BURST: "10000" }

  const waitUntilInFlight = async (metricsPort: number, count: number): Promise<void> => {
    for (const deadline = Date.now() + patienceMs; ; await sleep(20)) {
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
      const inFlight = Number(/^govoice_http_requests_in_flight(?:\{.*\})? (\d+)$/m.exec(metrics)?.[1])
      if (inFlight >= count) return
      assert.isBelow(Date.now(), deadline, `${inFlight} requests are in flight`)
    }
  }

  const stopped = async (lockedSecondsAfterStop: number, settings: Record<string, string>) => {
    const database = await createMigrated()
    const locker = new Client({ connectionString: database.url })
    try {
      await locker.connect()
      const metricsPort = await freePort()
      const server = await startServer({
        DATABASE_URL: database.url,
        GOVOICE_METRICS_PORT: String(metricsPort),
        ...secrets,
        ...unlimited,
        ...settings
      })
      const call = makeCall(() => server.url, await readAgreement(server.url))
      const { testKey } = await signUp(call)
      await locker.query("BEGIN; LOCK TABLE idempotency_records")
      const sending = Promise.all(Array.from({ length: 100 }, () => submit(call, testKey)))
      await waitUntilInFlight(metricsPort, 100)
      const asked = Date.now()
      const exitCode = server.stop()
      const unlocked = sleep(lockedSecondsAfterStop * 1000).then(() => locker.query("COMMIT"))
      const answers = await sending
      assert.strictEqual(await exitCode, 0)
      const milliseconds = Date.now() - asked
      await unlocked
      const [row] = await database.run("SELECT count(*)::int AS count FROM invoices")
      return { answers, milliseconds, stored: (row as { readonly count: number }).count }
    } finally {
      await locker.end()
      await database.drop()
    }
  }

  it("completes them and exits after the last response", async () => {
    const { answers, milliseconds, stored } = await stopped(3, {})
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      Array<number>(100).fill(201)
    )
    assert.strictEqual(stored, 100)
    assert.isBelow(milliseconds, 30_000, "idle connections do not delay the exit")
  })

  it("answers service_unavailable after the shutdown timeout", async () => {
    const { answers } = await stopped(9, { GOVOICE_WEBHOOK_TIMEOUT_MS: "500" })
    for (const answer of answers) assert.strictEqual(problemOf(answer).code, "service_unavailable")
  })
})

describe("the data directory of the embedded database", () => {
  it("is readable by its owner only, keeps its secrets, and admits one process at a time", () =>
    inFolder(async (folder) => {
      const settings = { GOVOICE_DATA_DIR: join(folder, "data") }
      const first = await startServer(settings)
      const tenant = await signUp(makeCall(() => first.url, await readAgreement(first.url)))
      assert.strictEqual(statSync(join(folder, "data")).mode & 0o777, 0o700)
      assert.strictEqual(statSync(join(folder, "data", "secrets.json")).mode & 0o777, 0o600)

      const { exitCode, output } = await startAndFail(settings)
      assert.strictEqual(exitCode, 1)
      assert.include(output, `is in use by process ${first.process.pid}`)
      assert.strictEqual((await fetch(`${first.url}/readyz`)).status, 200, "the first process is not affected")

      await first.kill()
      const second = await startServer(settings)
      const call = makeCall(() => second.url, await readAgreement(second.url))
      const account = await call("GET", "/v1/control-plane/account", { auth: tenant.token })
      assert.strictEqual(account.status, 200, "a stale lock is ignored, and the secrets are the same")
      assert.strictEqual(await second.stop(), 0)
    }))
})

describe("invalid settings", () => {
  it("are all named without their values, and the process exits with 1", async () => {
    const { exitCode, output } = await startAndFail({
      DATABASE_URL: "mysql://somebody:hidden-password@127.0.0.1/x",
      GOVOICE_JWT_SECRET: "hidden-and-short",
      GOVOICE_ENCRYPTION_KEYS: "k1:hidden-key",
      GOVOICE_RATE_LIMIT_PER_SECOND: "many",
      GOVOICE_LEASE_MS: "6000",
      GOVOICE_WEBHOOK_TIMEOUT_MS: "5000",
      REDIS_URL: "hidden-redis",
      PORT: "70000"
    })
    assert.strictEqual(exitCode, 1)
    for (const name of [
      "DATABASE_URL",
      "GOVOICE_JWT_SECRET",
      "GOVOICE_ENCRYPTION_KEYS",
      "GOVOICE_RATE_LIMIT_PER_SECOND",
      "GOVOICE_LEASE_MS",
      "REDIS_URL",
      "PORT"
    ]) {
      assert.match(output, new RegExp(`^ {2}- ${name} `, "m"))
    }
    assert.notMatch(output, /hidden|somebody|70000|many/)
  })

  it("include missing secrets with DATABASE_URL", async () => {
    const { exitCode, output } = await startAndFail({ DATABASE_URL: "postgres://postgres@127.0.0.1:1/x" })
    assert.strictEqual(exitCode, 1)
    assert.include(output, "GOVOICE_JWT_SECRET is required")
    assert.include(output, "GOVOICE_ENCRYPTION_KEYS is required")
  })

  it("include an unreachable database: the process exits without writing the password", async () => {
    const { exitCode, output } = await startAndFail({
      DATABASE_URL: "postgres://postgres:hidden-password@127.0.0.1:1/x",
      GOVOICE_DATABASE_WAIT_MS: "0",
      ...secrets
    })
    assert.strictEqual(exitCode, 1)
    assert.notInclude(output, "hidden-password")
  })
})
