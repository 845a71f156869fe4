import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { checkSettings } from "../../src/commands/doctor.ts"
import { checkDatabase, checkDeployment, judgeDisk } from "../../src/commands/doctorProduction.ts"
import { read } from "../../src/settings/Settings.ts"
import { layerPostgres } from "../support/TestDatabase.ts"

const secrets = { GOVOICE_JWT_SECRET: "x".repeat(32), GOVOICE_ENCRYPTION_KEYS: `k1:${"A".repeat(43)}=` }

const settings = (env: Readonly<Record<string, string>> = {}) =>
  read({ DATABASE_URL: "postgres://govoice@127.0.0.1/govoice", ...secrets, ...env })

const ready = {
  GOVOICE_SIGNUP: "closed",
  GOVOICE_TRUSTED_PROXIES: "127.0.0.1",
  GOVOICE_METRICS_PORT: "9464",
  GOVOICE_SMTP_URL: "smtps://user:password@smtp.example.com",
  GOVOICE_MAIL_FROM: "govoice@example.com",
  GOVOICE_PUBLIC_URL: "https://govoice.example.com"
}

describe("the doctor on a deployment in production", () => {
  const warned = (env: Readonly<Record<string, string>>) =>
    Effect.map(checkDeployment(settings(env)), (findings) =>
      findings.filter(({ check, level }) => check !== "clock" && level !== "ok")
    )

  it.effect("warns of open sign-up, plain HTTP, missing metrics and mails, each with a remedy", () =>
    Effect.gen(function* () {
      const findings = yield* warned({})
      assert.deepStrictEqual(
        findings.map(({ check }) => check),
        ["signup", "http", "metrics", "mail"]
      )
      for (const { remedy } of findings) assert.match(remedy!, /GOVOICE_|Have Prometheus/)
      const [, http] = yield* warned({ HOST: "0.0.0.0" })
      assert.include(http!.message, "at 0.0.0.0")
    })
  )

  it.effect("is content with closed sign-up, a named proxy, metrics and mails", () =>
    Effect.map(warned(ready), (findings) => assert.deepStrictEqual(findings, []))
  )

  it.effect("says of scrapes and alerts that it cannot see them, and what to do", () =>
    Effect.gen(function* () {
      const metrics = (yield* checkDeployment(settings(ready))).find(({ check }) => check === "metrics")
      assert.include(metrics!.message, "cannot be seen from here")
      assert.include(metrics!.remedy, "Let one alert fire")
    })
  )

  it("tells open sign-up once", () => {
    const env = { HOST: "0.0.0.0" }
    const told = (production: boolean) =>
      checkSettings(env, production).findings.filter(({ message }) => message.includes("create an account"))
    assert.lengthOf(told(false), 1)
    assert.lengthOf(told(true), 0)
  })

  it("warns of a disk that is nearly full", () => {
    const gibibyte = 1024 ** 3
    assert.strictEqual(judgeDisk("/data", 50 * gibibyte, 100 * gibibyte).level, "ok")
    assert.strictEqual(judgeDisk("/data", 9 * gibibyte, 100 * gibibyte).level, "warning")
    assert.strictEqual(judgeDisk("/data", gibibyte / 2, 2 * gibibyte).level, "warning")
  })
})

layer(layerPostgres, { timeout: "120 seconds" })("the doctor on Postgres in production", (it) => {
  const findingsOf = (check: string) =>
    Effect.map(checkDatabase(settings()), (findings) => findings.filter((finding) => finding.check === check))

  it.effect("warns when no backup is seen", () =>
    Effect.gen(function* () {
      const [backup] = yield* findingsOf("backup")
      assert.strictEqual(backup!.level, "warning")
      assert.include(backup!.message, "no replica is connected")
      assert.include(backup!.remedy, "provider")
    })
  )

  it.effect("finds the settings with which a crash loses accepted invoices", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [finding] = yield* sql.withTransaction(
        Effect.andThen(sql`SET LOCAL synchronous_commit = off`, findingsOf("postgres"))
      )
      assert.strictEqual(finding!.level, "fault")
      assert.include(finding!.message, "synchronous_commit")
    })
  )
})

const hasVerifier = spawnSync("systemd-analyze", ["--version"]).error === undefined

describe.skipIf(!hasVerifier)("the unit of systemd", () => {
  it("is what systemd reads without a complaint", () => {
    const unit = join(import.meta.dirname, "../../deploy/govoice.service")
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" })
    assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
  })
})
