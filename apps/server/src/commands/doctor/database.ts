/**
 * The database: whether it answers, is new enough, is migrated, tells the same time, and can be read with the keys.
 *
 * @since 0.1.0
 */
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { find as findSecrets } from "../../settings/DeploymentSecrets.ts"
import type { SettingsShape } from "../../settings/Settings.ts"
import { onDatabase } from "../deployment.ts"
import { Failure } from "../Failure.ts"
import { isCurrent } from "../migrate.ts"
import { fault, type Finding, ok, warning } from "./Finding.ts"

// The statements are written for it, and every test runs on it.
const triedOn = 18

const clockMayDifferMs = 1000

const checkVersion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly number: number }>`SELECT current_setting('server_version_num')::int AS number`
  const major = Math.floor((row?.number ?? 0) / 10_000)
  return major >= triedOn
    ? ok("database", `answers; Postgres ${major}`)
    : warning(
        "database",
        `answers; Postgres ${major}, and Govoice is tested on ${triedOn}.`,
        "Prefer a newer Postgres."
      )
})

const checkSchema = Effect.map(isCurrent, (current) =>
  current
    ? ok("schema", "current")
    : warning("schema", "not current; `serve` will bring it up to date.", "Do it now with: govoice migrate")
)

const checkClock = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const before = yield* Clock.currentTimeMillis
  const [row] = yield* sql<{ readonly now: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
  `
  const after = yield* Clock.currentTimeMillis
  const theirs = row?.now ?? 0
  // The answer was made at some moment in between.
  const apart = Math.round(Math.max(before - theirs, theirs - after, 0))
  return apart <= clockMayDifferMs
    ? ok("clock", "agrees with the database")
    : fault(
        "clock",
        `differs from the database by ${apart} ms; receivers refuse signatures with a time that is far off.`,
        "Let NTP set the clock of both machines."
      )
})

const selectKeyIds = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // A sealed value begins with its version, the length of its key's id, and the id (see KeyRing).
  const rows = yield* sql<{ readonly id: string }>`
    SELECT DISTINCT encode(substring(sealed FROM 3 FOR get_byte(sealed, 1)), 'escape') AS id
    FROM (
      SELECT secret AS sealed FROM webhook_endpoints
      UNION ALL SELECT next_secret FROM webhook_endpoints WHERE next_secret IS NOT NULL
      UNION ALL SELECT credential FROM organizations WHERE credential IS NOT NULL
    ) AS stored
  `
  return rows.map(({ id }) => id)
})

const checkKeys = Effect.fnUntraced(function* (settings: SettingsShape) {
  const { encryptionKeys } = findSecrets(settings)
  const known = encryptionKeys.map(({ id }) => id)
  const used = yield* selectKeyIds
  const missing = used.filter((id) => !known.includes(id))
  if (missing.length > 0) {
    return fault(
      "keys",
      `Values are stored under keys that GOVOICE_ENCRYPTION_KEYS lacks: ${missing.join(", ")}.`,
      "Put these keys back, after the first one."
    )
  }
  const [current] = known
  return used.every((id) => id === current)
    ? ok("keys", "open everything that is stored")
    : warning(
        "keys",
        "Some values are still stored under an older key, which must stay in GOVOICE_ENCRYPTION_KEYS.",
        "Store them anew with: govoice keys rotate-encryption"
      )
})

const examine = Effect.fnUntraced(function* (settings: SettingsShape) {
  const found: Array<Finding> = [yield* checkVersion, yield* checkClock, yield* checkSchema]
  if (yield* isCurrent) found.push(yield* checkKeys(settings))
  return found
})

const untouched: ReadonlyArray<Finding> = [ok("database", "embedded, and made when the server starts")]

const failed = (settings: SettingsShape, error: { readonly message: string }): Finding =>
  error instanceof Failure && error.holder !== undefined
    ? ok("database", `in use by ${error.holder}; ask that server: GET /readyz`)
    : fault(
        "database",
        error.message.split("\n")[0]!,
        settings.database._tag === "Postgres"
          ? "Check host, port, user, password and name in DATABASE_URL, and that Postgres runs and lets this machine in."
          : "Check GOVOICE_DATA_DIR, and that it is the data directory of Govoice."
      )

/**
 * Looks at the database of these settings.
 *
 * @category checks
 * @since 0.1.0
 */
export const check = (settings: SettingsShape): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.suspend(() => {
    const { database } = settings
    if (database._tag === "Embedded") {
      if (database.dataDir === undefined || !existsSync(join(database.dataDir, "postgres")))
        return Effect.succeed(untouched)
    }
    return onDatabase(settings, examine(settings)).pipe(
      Effect.timeout("20 seconds"),
      Effect.catch((error) => Effect.succeed([failed(settings, error)]))
    )
  })
