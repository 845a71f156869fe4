import { assert, describe, it } from "vitest"
import { checkPolicy, checkSettings } from "../../src/commands/doctor.ts"
import { checkRuntime } from "../../src/commands/Finding.ts"

const levels = (findings: ReadonlyArray<{ readonly level: string }>) => findings.map(({ level }) => level)

describe("the doctor on Node", () => {
  it("compares versions by number", () => {
    for (const version of ["22.19.0", "22.19.1", "22.100.0", "24.0.0"])
      assert.deepStrictEqual(levels(checkRuntime(version)), ["ok"])
    for (const version of ["22.18.9", "20.99.0", "9.0.0"])
      assert.deepStrictEqual(levels(checkRuntime(version)), ["fault"])
  })
})

describe("the doctor on settings", () => {
  it("accepts no settings", () => {
    assert.deepStrictEqual(levels(checkSettings({}).findings), ["ok"])
  })

  it("names every invalid setting without its value", () => {
    const { findings, settings } = checkSettings({ DATABASE_URL: "postgres://a:hunter2@b/c", PORT: "hunter2" })
    assert.isUndefined(settings)
    assert.isAbove(findings.length, 2)
    assert.deepStrictEqual([...new Set(levels(findings))], ["fault"])
    assert.notInclude(JSON.stringify(findings), "hunter2")
  })

  it("warns about likely mistakes", () => {
    const said = (environment: Record<string, string>) =>
      checkSettings(environment)
        .findings.filter(({ level }) => level === "warning")
        .map(({ message }) => message)
        .join()
    assert.include(said({ GOVOICE_SINGUP: "closed" }), "GOVOICE_SINGUP is not a setting")
    assert.include(said({ HOST: "0.0.0.0" }), "Anybody who can reach the API")
    assert.strictEqual(said({ HOST: "0.0.0.0", GOVOICE_SIGNUP: "closed" }), "")
    assert.include(said({ GOVOICE_DATA_DIR: "memory" }), "lost when the server stops")
    assert.include(said({ GOVOICE_API_ENABLED: "false" }), "api_disabled")
  })
})

describe("the doctor on the outbound guard", () => {
  const policy = (more: object = {}) =>
    checkPolicy({
      policy: { allowHttp: false, allowNetworks: [], denyNetworks: [], ...more },
      proxy: undefined,
      timeoutMs: 1,
      retrySchedule: [],
      disableAfterDays: 5
    })

  it("passes if no internal address is reachable", () => {
    assert.deepStrictEqual(levels(policy()), ["ok"])
  })

  it("names the reachable addresses", () => {
    assert.include(policy({ allowNetworks: ["127.0.0.0/8"] })[0]?.message, "this machine")
    assert.include(policy({ allowNetworks: ["10.0.0.0/8", "fd00::/8"] })[0]?.message, "private networks")
    assert.include(policy({ allowNetworks: ["192.0.2.0/24"] })[1]?.message, "192.0.2.0/24")
    assert.include(policy({ allowHttp: true })[1]?.message, "unencrypted")
  })
})
