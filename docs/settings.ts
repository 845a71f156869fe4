/**
 * Prints the reference of the settings from their definitions.
 *
 *     node --conditions=source docs/settings.ts            writes the page
 *     node --conditions=source docs/settings.ts --check    fails if the page is not current
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { definitions } from "../apps/server/src/settings/Settings.ts"
import { table } from "./blocks.ts"

/** Where the page is. */
export const path = join(import.meta.dirname, "guides/settings.md")

interface Definition {
  readonly about: string
  readonly default: unknown
  readonly defaultAbout?: string
  readonly secret?: true
}

const groups: Readonly<Record<string, ReadonlyArray<keyof typeof definitions>>> = {
  "The process": [
    "PORT",
    "HOST",
    "GOVOICE_ROLE",
    "GOVOICE_LOG_LEVEL",
    "GOVOICE_METRICS_PORT",
    "OTEL_EXPORTER_OTLP_ENDPOINT"
  ],
  "Data and secrets": [
    "DATABASE_URL",
    "GOVOICE_DATA_DIR",
    "GOVOICE_JWT_SECRET",
    "GOVOICE_ENCRYPTION_KEYS",
    "GOVOICE_EVENT_RETENTION_DAYS",
    "GOVOICE_IDEMPOTENCY_RETENTION_DAYS"
  ],
  "The API": [
    "GOVOICE_API_ENABLED",
    "GOVOICE_SIGNUP",
    "GOVOICE_LIVE_MODE",
    "GOVOICE_RATE_LIMIT_PER_SECOND",
    "GOVOICE_RATE_LIMIT_BURST",
    "REDIS_URL",
    "GOVOICE_SANDBOX_STEP_MS"
  ],
  Webhooks: [
    "GOVOICE_WEBHOOK_ALLOW_HTTP",
    "GOVOICE_WEBHOOK_ALLOW_NETWORKS",
    "GOVOICE_WEBHOOK_TIMEOUT_MS",
    "GOVOICE_RETRY_SCHEDULE_MS",
    "GOVOICE_TENANT_CONCURRENCY",
    "GOVOICE_WORKER_CONCURRENCY",
    "GOVOICE_LEASE_MS"
  ]
}

/** The settings that the page has no place for. There must be none. */
export const missing = (): ReadonlyArray<string> =>
  Object.keys(definitions).filter(
    (name) =>
      !Object.values(groups)
        .flat()
        .includes(name as keyof typeof definitions)
  )

const rowOf = (name: keyof typeof definitions): ReadonlyArray<string> => {
  const definition: Definition = definitions[name]
  const byDefault = definition.defaultAbout ?? `\`${String(definition.default)}\``
  return [`\`${name}\``, byDefault, `${definition.about}${definition.secret === true ? " Secret: never printed." : ""}`]
}

/** The page as it should be. */
export const page = (): string =>
  [
    "# Settings",
    "",
    "The server is set up by environment variables alone. It reads them once, when it starts. If any of them cannot be used, it names",
    "all that is wrong at once, never a value, and ends with 1. Times are in milliseconds, lists are separated by commas, and an empty",
    "value is the same as none. A name that begins with `GOVOICE_` and is not here is most likely a typing mistake: it is warned of.",
    "",
    "This page is printed from the definitions in `apps/server/src/settings/Settings.ts` by `docs/settings.ts`: change it there.",
    ...Object.entries(groups).flatMap(([group, names]) => [
      "",
      `## ${group}`,
      "",
      table(["setting", "default", "what it decides"], names.map(rowOf))
    ]),
    "",
    "## What follows from what",
    "",
    "- With `DATABASE_URL`, `GOVOICE_JWT_SECRET` and `GOVOICE_ENCRYPTION_KEYS` are required. Without it, the server makes both once and keeps",
    "  them in `secrets.json` in the data directory, readable by its owner alone. A data directory takes one process at a time.",
    "- `GOVOICE_LEASE_MS` must be longer than `GOVOICE_WEBHOOK_TIMEOUT_MS` plus 5000. If only one of them is set, the default of the other",
    "  follows it.",
    "- `GOVOICE_METRICS_PORT` must be another port than `PORT`, unless both are 0.",
    "- To change the encryption key, put the new one first in `GOVOICE_ENCRYPTION_KEYS` and leave the old one behind it, restart every",
    "  process, run `govoice keys rotate-encryption` with the same settings, then take the old",
    "  one out.",
    "- Another `GOVOICE_JWT_SECRET` ends every access token and every list cursor at once. Refresh tokens and API keys go on.",
    ""
  ].join("\n")

if (import.meta.main) {
  const isCurrent = readFileSync(path, { encoding: "utf8", flag: "a+" }) === page()
  if (process.argv.includes("--check")) {
    if (!isCurrent) console.error("docs/guides/settings.md is not current: run docs/settings.ts")
    process.exitCode = isCurrent ? 0 : 1
  } else {
    if (!isCurrent) writeFileSync(path, page())
    console.log(isCurrent ? "The page is current." : "Printed guides/settings.md.")
  }
}
