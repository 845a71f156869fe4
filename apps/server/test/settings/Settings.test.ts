import { assert, describe, it } from "@effect/vitest"
import { Environment } from "@govoice/ksef/client"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { definitions } from "../../src/settings/definitions.ts"
import * as SecretFiles from "../../src/settings/SecretFiles.ts"
import { InvalidSettings, read, unknownNames, unknownNameWarning } from "../../src/settings/Settings.ts"

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

describe("secrets from files", () => {
  const values: Readonly<Record<string, string>> = {
    DATABASE_URL: "postgres://localhost/pooled",
    GOVOICE_DATABASE_DIRECT_URL: "postgres://localhost/direct",
    GOVOICE_DATABASE_REPLICA_URL: "postgres://localhost/replica",
    GOVOICE_CONTROL_DATABASE_URL: "postgres://localhost/control",
    GOVOICE_TARGET_DATABASE_URL: "postgres://localhost/control",
    GOVOICE_JWT_SECRET: "x".repeat(32),
    GOVOICE_ENCRYPTION_KEYS: `k1:${key}`,
    GOVOICE_KSEF_PROXY: "http://user:password@127.0.0.1:3128",
    GOVOICE_WEBHOOK_PROXY: "http://user:password@127.0.0.1:3128",
    REDIS_URL: "redis://:password@127.0.0.1",
    GOVOICE_SMTP_URL: "smtp://user:password@127.0.0.1:587"
  }

  // What the SMTP server is of no use without.
  const mail = { GOVOICE_MAIL_FROM: "govoice@example.com", GOVOICE_PUBLIC_URL: "https://govoice.example.com" }

  const withFiles = <A>(
    contents: Readonly<Record<string, string>>,
    use: (env: Record<string, string>, folder: string) => A
  ): A => {
    const folder = mkdtempSync(join(tmpdir(), "govoice-secrets-"))
    try {
      const env = Object.entries(contents).map(([name, content]) => {
        writeFileSync(join(folder, name), content)
        return [`${name}_FILE`, join(folder, name)]
      })
      return use({ ...mail, ...Object.fromEntries(env) }, folder)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  it("are read for every secret setting, without the newline at the end", () => {
    assert.sameMembers([...SecretFiles.names], Object.keys(values))
    for (const newline of ["", "\n", "\r\n"]) {
      const contents = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, `${value}${newline}`]))
      withFiles(contents, (env) => {
        const cell = { GOVOICE_CELL: "b" }
        assert.deepStrictEqual(read({ ...cell, ...env }), read({ ...cell, ...mail, ...values }))
        assert.isEmpty(unknownNames(env))
      })
    }
  })

  it("keep every other white space", () => {
    withFiles({ GOVOICE_JWT_SECRET: ` ${"x".repeat(32)} \n\n` }, (env) => {
      assert.strictEqual(read(env).jwtSecret, ` ${"x".repeat(32)} \n`)
    })
  })

  it("are a fault beside the setting, where they cannot be read, and where they are empty", () => {
    const jwt = { GOVOICE_JWT_SECRET: "hidden".repeat(6) }
    withFiles(jwt, (env, folder) => {
      assert.deepStrictEqual(faultsOf({ ...env, ...jwt }), [
        "Set GOVOICE_JWT_SECRET or GOVOICE_JWT_SECRET_FILE, not both."
      ])
      // The secret itself, by mistake, is a path that does not exist.
      for (const [path, code] of [
        ["hidden", "ENOENT"],
        [folder, "EISDIR"]
      ] as const) {
        assert.deepStrictEqual(faultsOf({ GOVOICE_JWT_SECRET_FILE: path }), [
          `GOVOICE_JWT_SECRET_FILE must name a file that can be read (${code}). Correct the path, or let this user read the file.`
        ])
      }
    })
    assert.deepStrictEqual(faultsOf({ GOVOICE_JWT_SECRET_FILE: "" }), [
      "GOVOICE_JWT_SECRET_FILE is empty. Set the path of a file or remove it."
    ])
    withFiles({ GOVOICE_JWT_SECRET: "\n" }, (env) => {
      assert.deepStrictEqual(faultsOf(env), [
        "GOVOICE_JWT_SECRET_FILE names an empty file. Write the value of the setting to it."
      ])
    })
  })

  it("have the faults of their values, and no other setting misses them", () => {
    withFiles({ ...values, DATABASE_URL: "http://hidden", GOVOICE_JWT_SECRET: "hidden" }, (env) => {
      assert.deepStrictEqual(faultsOf({ ...env, GOVOICE_ROLE: "worker", GOVOICE_CELL: "b" }), [
        "DATABASE_URL, from DATABASE_URL_FILE, must be a URL that begins with postgres:// or postgresql://.",
        "GOVOICE_JWT_SECRET, from GOVOICE_JWT_SECRET_FILE, must have at least 32 characters."
      ])
    })
    const missing = { GOVOICE_ROLE: "worker", GOVOICE_DATABASE_POOLED: "true", DATABASE_URL_FILE: "/missing" }
    assert.lengthOf(faultsOf(missing), 1)
  })

  it("are known by the settings that are secret, and by no other", () => {
    assert.deepStrictEqual(unknownNames({ GOVOICE_JWT_SECRET_FILE: "", GOVOICE_ROLE_FILE: "" }), ["GOVOICE_ROLE_FILE"])
  })
})

describe("Settings", () => {
  it("defaults to the values of the contract", () => {
    assert.deepInclude(read({}), {
      http: { host: "127.0.0.1", port: 3000 },
      trustedProxies: [],
      connectionsPerAddress: 256,
      database: { _tag: "Embedded", dataDir: ".govoice" },
      databaseWaitMs: 30_000,
      role: "all",
      apiEnabled: true,
      liveMode: false,
      ksef: { environment: undefined, environmentId: undefined, proxy: undefined },
      documentChecks: "schema",
      signupOpen: true,
      sandboxStepMs: 1000,
      webhooks: {
        policy: { allowHttp: false, allowNetworks: [], denyNetworks: [] },
        proxy: undefined,
        timeoutMs: 10_000,
        retrySchedule: [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000],
        disableAfterDays: 5
      },
      leaseMs: 30_000,
      organizationConcurrency: 10,
      rateLimit: {
        perSecond: 100,
        burst: 200,
        bytesPerSecond: 8 * 1024 * 1024,
        account: { perSecond: 20, burst: 200 }
      },
      redisUrl: undefined,
      metricsPort: undefined
    })
  })

  it("derives the default of the lease from the webhook timeout, and the reverse", () => {
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

  it("reports all invalid settings together, without values", () => {
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
    for (const schedule of ["1,,2", "5s,1m", "0"]) {
      assert.deepStrictEqual(faultsOf({ GOVOICE_RETRY_SCHEDULE_MS: schedule }), [
        "GOVOICE_RETRY_SCHEDULE_MS must be a list of whole numbers from 1 to 2592000000, separated by commas, such as 5000,60000."
      ])
    }
  })

  it("requires both secrets with DATABASE_URL, and different ports", () => {
    assert.deepStrictEqual(faultsOf({ DATABASE_URL: "postgres://127.0.0.1/x" }), [
      "GOVOICE_JWT_SECRET is required with DATABASE_URL. Run 'govoice keys generate'.",
      "GOVOICE_ENCRYPTION_KEYS is required with DATABASE_URL. Run 'govoice keys generate'."
    ])
    assert.lengthOf(faultsOf({ PORT: "4000", GOVOICE_METRICS_PORT: "4000" }), 1)
    assert.lengthOf(faultsOf({ PORT: "0", GOVOICE_METRICS_PORT: "0" }), 0)
  })

  it("derives from a direct URL that the database is behind a pooler, and refuses what contradicts it", () => {
    const databaseOf = (environment: Readonly<Record<string, string>>) =>
      read({
        DATABASE_URL: "postgres://localhost/pooled",
        GOVOICE_JWT_SECRET: "x".repeat(32),
        GOVOICE_ENCRYPTION_KEYS: `k1:${key}`,
        ...environment
      }).database
    const direct = { GOVOICE_DATABASE_DIRECT_URL: "postgres://localhost/direct" }
    assert.deepInclude(databaseOf({}), { pooler: undefined })
    assert.deepInclude(databaseOf({ GOVOICE_DATABASE_POOLED: "true" }), { pooler: { directUrl: undefined } })
    assert.deepInclude(databaseOf(direct), { pooler: { directUrl: "postgres://localhost/direct" } })
    assert.deepStrictEqual(faultsOf(direct), ["GOVOICE_DATABASE_DIRECT_URL requires DATABASE_URL."])
    assert.deepStrictEqual(faultsOf({ GOVOICE_DATABASE_POOLED: "true" }), [
      "GOVOICE_DATABASE_POOLED requires DATABASE_URL."
    ])
    assert.throws(() => databaseOf({ ...direct, GOVOICE_DATABASE_POOLED: "false" }), /POOLED=true\. Remove one of them/)
  })

  it("reads the environment of KSeF, and names it for stored data", () => {
    const ministry = read({ GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_ENVIRONMENT: "demo" })
    assert.isTrue(ministry.liveMode)
    assert.deepInclude(ministry.ksef, { environment: Environment.environments.demo, environmentId: "demo" })

    const custom = read({ GOVOICE_KSEF_URL: "https://ksef.example.com/v2/" })
    assert.isFalse(custom.liveMode)
    assert.deepInclude(custom.ksef, { environmentId: "https://ksef.example.com/v2" })
    assert.strictEqual(custom.ksef.environment?.name, "custom")
  })

  it("requires exactly one environment for live mode, and reports it with the other faults", () => {
    assert.deepStrictEqual(faultsOf({ GOVOICE_LIVE_MODE: "true" }), [
      "GOVOICE_LIVE_MODE=true requires GOVOICE_KSEF_ENVIRONMENT or GOVOICE_KSEF_URL."
    ])
    assert.deepStrictEqual(
      faultsOf({
        PORT: "hidden",
        GOVOICE_LIVE_MODE: "true",
        GOVOICE_KSEF_ENVIRONMENT: "test",
        GOVOICE_KSEF_URL: "http://127.0.0.1:4000/v2"
      }),
      ["Set GOVOICE_KSEF_ENVIRONMENT or GOVOICE_KSEF_URL, not both.", "PORT must be a whole number from 0 to 65535."]
    )
    assert.lengthOf(faultsOf({ GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_ENVIRONMENT: "hidden" }), 1)
  })

  it.each([
    "hidden",
    "http://hidden.example.com/v2",
    "https://hidden.example.com",
    "https://hidden:hidden@example.com/v2",
    "https://example.com/v2?hidden",
    "https://api.ksef.mf.gov.pl/v2"
  ])("refuses GOVOICE_KSEF_URL=%s", (url) => {
    const [fault, ...others] = faultsOf({ GOVOICE_KSEF_URL: url })
    assert.match(fault ?? "", /^GOVOICE_KSEF_URL must /)
    assert.notInclude(fault, "hidden")
    assert.deepStrictEqual(others, [])
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
  ])("accepts the encryption keys %s: %s", (text, isTaken) => {
    assert.strictEqual(faultsOf({ GOVOICE_ENCRYPTION_KEYS: text }).length === 0, isTaken)
  })

  it("refuses an empty value of any setting", () => {
    for (const name of Object.keys(definitions)) {
      assert.include(faultsOf({ [name]: "" }), `${name} is empty. Set a value or remove it.`)
    }
  })

  it.each(["api", "worker"])("refuses GOVOICE_ROLE=%s without DATABASE_URL", (role) => {
    const [fault, ...others] = faultsOf({ GOVOICE_ROLE: role })
    assert.match(fault ?? "", new RegExp(`^GOVOICE_ROLE=${role} requires DATABASE_URL`))
    assert.deepStrictEqual(others, [])
    const secrets = { GOVOICE_JWT_SECRET: "x".repeat(32), GOVOICE_ENCRYPTION_KEYS: `k1:${key}` }
    assert.deepStrictEqual(faultsOf({ GOVOICE_ROLE: role, DATABASE_URL: "postgres://127.0.0.1/x", ...secrets }), [])
  })

  it("reads the webhook policy as the dispatcher does", () => {
    const { policy, proxy } = read({
      GOVOICE_WEBHOOK_ALLOW_NETWORKS: "10.1.0.0/16, 192.0.2.7",
      GOVOICE_WEBHOOK_DENY_NETWORKS: "FD00::/8",
      GOVOICE_WEBHOOK_PROXY: "http://user:password@proxy.example.com:3128"
    }).webhooks
    assert.deepStrictEqual(policy, {
      allowHttp: false,
      allowNetworks: ["10.1.0.0/16", "192.0.2.7/32"],
      denyNetworks: ["fd00::/8"]
    })
    assert.strictEqual(proxy, "http://user:password@proxy.example.com:3128")
  })

  it.each([
    ["GOVOICE_WEBHOOK_ALLOW_NETWORKS", "10.1.2.3/8"],
    ["GOVOICE_WEBHOOK_DENY_NETWORKS", "10.0.0.0/33"],
    ["GOVOICE_WEBHOOK_PROXY", "https://proxy.example.com"],
    ["GOVOICE_KSEF_PROXY", "https://proxy.example.com"],
    ["GOVOICE_TRUSTED_PROXIES", "10.0.0.1/24"]
  ])("refuses %s=%s at start", (name, value) => {
    const faults = faultsOf({ [name]: value })
    assert.lengthOf(faults, 1)
    assert.match(faults[0] ?? "", new RegExp(`^${name} must `))
    // A message may have an example, never the value.
    if (value !== "10.1.2.3/8") assert.notInclude(faults[0], value)
  })

  it("finds unknown names", () => {
    assert.deepStrictEqual(unknownNames({ GOVOICE_SIGNUPS: "open", GOVOICE_SIGNUP: "open", PATH: "x" }), [
      "GOVOICE_SIGNUPS"
    ])
  })

  it("names the setting that was meant by a name with one slip, and none for another name", () => {
    for (const name of ["GOVOICE_LESE_MS", "GOVOICE_LEASES_MS", "GOVOICE_LEASE_SM", "GOVOICE_LEESE_MS"]) {
      assert.strictEqual(
        unknownNameWarning(name),
        `${name} is not a setting of Govoice, and has no effect. Did you mean GOVOICE_LEASE_MS?`
      )
    }
    assert.strictEqual(
      unknownNameWarning("GOVOICE_NONE"),
      "GOVOICE_NONE is not a setting of Govoice, and has no effect."
    )
  })
})

describe("the settings of a cell", () => {
  const given = {
    DATABASE_URL: "postgres://localhost/cell",
    GOVOICE_JWT_SECRET: "x".repeat(32),
    GOVOICE_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`
  }
  const faultOf = (env: Record<string, string>) => {
    try {
      read(env)
    } catch (error) {
      return (error as Error).message
    }
    return ""
  }

  it("name the control cell without the URL of another database, and any other cell with it", () => {
    const control = { name: "a", controlDatabase: undefined, targetDatabase: undefined }
    assert.deepStrictEqual(read({ ...given, GOVOICE_CELL: "a" }).cell, control)
    const url = "postgres://db.example.com/control?sslmode=verify-full"
    const cell = read({ ...given, GOVOICE_CELL: "b", GOVOICE_CONTROL_DATABASE_URL: url }).cell
    assert.deepInclude(cell, { name: "b", controlDatabase: { _tag: "Postgres", url, connections: 2 } })
    assert.isUndefined(read(given).cell)
    const target = "postgres://other.example.com/cell"
    assert.deepInclude(read({ ...given, GOVOICE_CELL: "a", GOVOICE_TARGET_DATABASE_URL: target }).cell, {
      targetDatabase: { _tag: "Postgres", url: target, connections: 1 }
    })
  })

  it("are refused without a database, without a cell, with another name, and where Postgres would not know how to connect", () => {
    assert.include(faultOf({ GOVOICE_CELL: "a" }), "GOVOICE_CELL requires DATABASE_URL.")
    assert.include(faultOf({ ...given, GOVOICE_CELL: "cell-a" }), "GOVOICE_CELL must be 1 to 32 lower-case letters")
    const url = "postgres://db.example.com/control"
    const remote = { ...given, GOVOICE_CONTROL_DATABASE_URL: url }
    assert.include(faultOf(remote), "GOVOICE_CONTROL_DATABASE_URL requires GOVOICE_CELL.")
    assert.include(faultOf({ ...remote, GOVOICE_CELL: "b" }), "must have an sslmode")
    const target = { ...given, GOVOICE_TARGET_DATABASE_URL: url }
    assert.include(faultOf(target), "GOVOICE_TARGET_DATABASE_URL requires GOVOICE_CELL.")
  })
})
