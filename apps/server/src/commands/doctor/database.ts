/** Checks the database: connection, TLS, version, clock, schema, the keys that stored values need, and proxies. */
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import * as KeyRing from "../../crypto/KeyRing.ts"
import * as EmbeddedPostgres from "../../database/EmbeddedPostgres.ts"
import * as Migrations from "../../database/Migrations.ts"
import * as KeyCheck from "../../maintenance/KeyCheck.ts"
import * as DataDirectory from "../../settings/DataDirectory.ts"
import { targetOf } from "../../settings/postgresUrl.ts"
import type { SettingsShape } from "../../settings/Settings.ts"
import * as deployment from "../deployment.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { fault, type Finding, ok, warning } from "./Finding.ts"
import { checkStored } from "./ksef.ts"
import { check as checkProxies } from "./proxies.ts"

// Statements are written for it, and every test runs on it.
const testedVersion = 18

const maxClockOffsetMs = 1000

const checkVersion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly number: number }>`SELECT current_setting('server_version_num')::int AS number`
  const major = Math.floor((row?.number ?? 0) / 10_000)
  return major >= testedVersion
    ? ok("database", `reachable; Postgres ${major}`)
    : warning(
        "database",
        `reachable; Postgres ${major}. Govoice is tested on Postgres ${testedVersion}.`,
        "Prefer a newer Postgres."
      )
})

const checkTls = ({ database }: SettingsShape): ReadonlyArray<Finding> => {
  if (database._tag === "Embedded") return []
  const { isLocal, sslMode } = targetOf(database.url)
  const isVerified = sslMode.startsWith("verify") || sslMode === "require"
  if (isVerified) return [ok("tls", "the connection is encrypted, and the certificate of the database verified")]
  if (isLocal) return [ok("tls", "not needed: the database is on this machine")]
  return [
    warning(
      "tls",
      `sslmode=${sslMode} does not verify that the connection to the database is encrypted and ends there.`,
      "Remove sslmode from DATABASE_URL unless the network is trusted."
    )
  ]
}

const checkSchema = Effect.gen(function* () {
  const { isCurrent, isReadOnly } = yield* Migrations.status
  if (isCurrent) {
    return isReadOnly
      ? fault("schema", "current, but the database is read-only.", "Point DATABASE_URL at the primary.")
      : ok("schema", "current")
  }
  const obstacle = yield* Migrations.obstacle
  return obstacle === undefined
    ? warning("schema", "not current; `serve` migrates it when it starts.", "Migrate it now with 'govoice migrate'.")
    : fault("schema", obstacle.message)
})

const checkClock = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const before = yield* Clock.currentTimeMillis
  const [row] = yield* sql<{ readonly now: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
  `
  const after = yield* Clock.currentTimeMillis
  const theirs = row?.now ?? 0
  // The database read its clock at some time in between.
  const offset = Math.round(Math.max(before - theirs, theirs - after, 0))
  return offset <= maxClockOffsetMs
    ? ok("clock", "agrees with the database")
    : fault(
        "clock",
        `differs from the database by ${offset} ms. Receivers refuse signatures whose time is far off.`,
        "Synchronize the clocks of both machines with NTP."
      )
})

const checkKeys = Effect.fnUntraced(function* (settings: SettingsShape) {
  const { encryptionKeys } = yield* deployment.secrets(settings)
  const report = yield* Effect.provide(KeyCheck.check, KeyRing.layer(encryptionKeys))
  const problem = KeyCheck.describe(report)
  if (problem !== undefined) return fault("keys", problem, KeyCheck.remedy)
  return [...report.inUse].every((id) => id === encryptionKeys[0]?.id)
    ? ok("keys", "open the samples of all stored values")
    : warning(
        "keys",
        `Some values are sealed with older keys, which must stay in GOVOICE_ENCRYPTION_KEYS: ${[...report.inUse].join(", ")}.`,
        "Re-encrypt them with 'govoice keys rotate-encryption'."
      )
})

const examine = Effect.fnUntraced(function* (settings: SettingsShape) {
  const findings: Array<Finding> = [yield* checkVersion, ...checkTls(settings), yield* checkClock, yield* checkSchema]
  if (yield* Migrations.isCurrent) {
    findings.push(yield* checkKeys(settings), yield* checkProxies(settings), ...(yield* checkStored(settings)))
  }
  return findings
})

const failed = (error: { readonly message: string }): Finding =>
  error instanceof CommandFailure && error.holder !== undefined
    ? ok("database", `in use by ${error.holder}; its GET /readyz tells more`)
    : fault("database", error.message)

const checkNew = (dataDir: string | undefined): Finding => {
  const unusable = dataDir === undefined ? undefined : DataDirectory.faultOf(dataDir)
  return unusable === undefined
    ? ok("database", "embedded; created when the server starts")
    : fault("database", unusable.message)
}

/** Checks the database of these settings. Does not create an embedded one. */
export const check = (settings: SettingsShape): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.suspend(() => {
    const { database } = settings
    if (database._tag === "Embedded") {
      const { dataDir } = database
      if (dataDir === undefined || !EmbeddedPostgres.exists(join(dataDir, "postgres"))) {
        return Effect.succeed([checkNew(dataDir)])
      }
    }
    return deployment.onDatabase(settings, examine(settings)).pipe(
      Effect.timeout("20 seconds"),
      Effect.catch((error) => Effect.succeed([failed(error)]))
    )
  })
