import { assert, describe, it } from "@effect/vitest"
import { InvalidSettings, read, unknownNames } from "../../src/settings/Settings.ts"

const key = Buffer.alloc(32, 1).toString("base64")

const faultsOf = (environment: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  try {
    read(environment)
    return []
  } catch (error) {
    assert.instanceOf(error, InvalidSettings)
    return error.faults
  }
}

describe("Settings", () => {
  it("are the defaults of the contract where nothing is said", () => {
    assert.deepInclude(read({}), {
      http: { host: "127.0.0.1", port: 3000 },
      database: { _tag: "Embedded", dataDir: ".govoice" },
      role: "all",
      apiEnabled: true,
      liveMode: false,
      signupOpen: true,
      sandboxStepMs: 1000,
      webhooks: {
        allowHttp: false,
        allowNetworks: [],
        timeoutMs: 10_000,
        waits: [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000]
      },
      leaseMs: 30_000,
      tenantConcurrency: 10,
      rateLimit: { perSecond: 100, burst: 200 },
      redisUrl: undefined,
      metricsPort: undefined
    })
    assert.deepStrictEqual(read({ PORT: "", DATABASE_URL: "" }), read({}))
  })

  it("let the lease and the webhook deadline follow each other", () => {
    const both = (environment: Record<string, string>) => {
      const { leaseMs, webhooks } = read(environment)
      assert.isAbove(leaseMs, webhooks.timeoutMs + 5000)
      return [webhooks.timeoutMs, leaseMs]
    }
    assert.deepStrictEqual(both({ GOVOICE_WEBHOOK_TIMEOUT_MS: "60000" }), [60_000, 70_000])
    assert.deepStrictEqual(both({ GOVOICE_WEBHOOK_TIMEOUT_MS: "1000" }), [1000, 30_000])
    assert.deepStrictEqual(both({ GOVOICE_LEASE_MS: "10000" }), [4999, 10_000])
    assert.deepStrictEqual(both({ GOVOICE_LEASE_MS: "90000" }), [10_000, 90_000])
    assert.deepStrictEqual(both({ GOVOICE_LEASE_MS: "15001", GOVOICE_WEBHOOK_TIMEOUT_MS: "10000" }), [10_000, 15_001])
    for (const wrong of [
      { GOVOICE_LEASE_MS: "15000", GOVOICE_WEBHOOK_TIMEOUT_MS: "10000" },
      { GOVOICE_LEASE_MS: "5100" }
    ]) {
      assert.lengthOf(faultsOf(wrong), 1)
    }
  })

  it("name every fault at once, and no value", () => {
    const faults = faultsOf({
      PORT: "hidden",
      DATABASE_URL: "http://hidden",
      GOVOICE_ROLE: "hidden",
      GOVOICE_API_ENABLED: "hidden",
      GOVOICE_ENCRYPTION_KEYS: "hidden",
      GOVOICE_RETRY_SCHEDULE_MS: "1,,2",
      GOVOICE_WEBHOOK_ALLOW_NETWORKS: "10.0.0.0/33",
      REDIS_URL: "http://hidden",
      GOVOICE_METRICS_PORT: "hidden"
    })
    assert.lengthOf(faults, 9)
    assert.notInclude(faults.join(), "hidden")
  })

  it("ask for both secrets with DATABASE_URL, and for a port of their own for metrics", () => {
    assert.deepStrictEqual(faultsOf({ DATABASE_URL: "postgres://127.0.0.1/x" }), [
      "GOVOICE_JWT_SECRET is required with DATABASE_URL.",
      "GOVOICE_ENCRYPTION_KEYS is required with DATABASE_URL."
    ])
    assert.lengthOf(faultsOf({ PORT: "4000", GOVOICE_METRICS_PORT: "4000" }), 1)
    assert.lengthOf(faultsOf({ PORT: "0", GOVOICE_METRICS_PORT: "0" }), 0)
  })

  it.each([
    ["k1", false],
    [`k1:${key}`, true],
    [`k1:${key},k2:${key}`, true],
    [`k1:${key},k1:${key}`, false],
    [`k1:${key},`, false],
    [`k1:${Buffer.alloc(31).toString("base64")}`, false],
    [`k1:${key.slice(0, -1)}`, false],
    [`:${key}`, false],
    [`k 1:${key}`, false]
  ])("take the encryption keys %s: %s", (text, isTaken) => {
    assert.strictEqual(faultsOf({ GOVOICE_ENCRYPTION_KEYS: text }).length === 0, isTaken)
  })

  it("find names that are nobody's", () => {
    assert.deepStrictEqual(unknownNames({ GOVOICE_SIGNUPS: "open", GOVOICE_SIGNUP: "open", PATH: "x" }), [
      "GOVOICE_SIGNUPS"
    ])
  })
})
