/**
 * Generates the reference page of the settings from their definitions.
 *
 *     node --conditions=source docs/settings.ts            updates the page
 *     node --conditions=source docs/settings.ts --check    fails if the page is not current
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Definition, definitions, type Name } from "../apps/server/src/settings/definitions.ts"
import { table } from "./blocks.ts"

/** Path of the page. */
export const path = join(import.meta.dirname, "guides/settings.md")

const groups: Readonly<Record<string, ReadonlyArray<Name>>> = {
  "The process": [
    "PORT",
    "HOST",
    "GOVOICE_ROLE",
    "GOVOICE_LOG_LEVEL",
    "GOVOICE_ACCESS_LOG",
    "GOVOICE_METRICS_PORT",
    "OTEL_EXPORTER_OTLP_ENDPOINT"
  ],
  "Data and secrets": [
    "DATABASE_URL",
    "GOVOICE_DATABASE_POOLED",
    "GOVOICE_DATABASE_DIRECT_URL",
    "GOVOICE_DATABASE_WAIT_MS",
    "GOVOICE_DATA_DIR",
    "GOVOICE_JWT_SECRET",
    "GOVOICE_ENCRYPTION_KEYS",
    "GOVOICE_EVENT_RETENTION_DAYS",
    "GOVOICE_IDEMPOTENCY_RETENTION_DAYS"
  ],
  "The API": [
    "GOVOICE_API_ENABLED",
    "GOVOICE_CONSOLE",
    "GOVOICE_SIGNUP",
    "GOVOICE_RATE_LIMIT_PER_SECOND",
    "GOVOICE_RATE_LIMIT_BURST",
    "GOVOICE_RATE_LIMIT_BYTES_PER_SECOND",
    "GOVOICE_RATE_LIMIT_ORGANIZATION_MULTIPLE",
    "GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND",
    "GOVOICE_ACCOUNT_RATE_LIMIT_BURST",
    "GOVOICE_ACCOUNT_CONCURRENCY",
    "GOVOICE_TRUSTED_PROXIES",
    "GOVOICE_CONNECTIONS_PER_ADDRESS",
    "REDIS_URL",
    "GOVOICE_SANDBOX_STEP_MS"
  ],
  "Live mode": [
    "GOVOICE_LIVE_MODE",
    "GOVOICE_KSEF_ENVIRONMENT",
    "GOVOICE_KSEF_URL",
    "GOVOICE_KSEF_CA_FILE",
    "GOVOICE_KSEF_GIVE_UP_HOURS",
    "GOVOICE_KSEF_CONCURRENCY",
    "GOVOICE_DOCUMENT_CHECKS"
  ],
  Webhooks: [
    "GOVOICE_WEBHOOK_ALLOW_HTTP",
    "GOVOICE_WEBHOOK_ALLOW_NETWORKS",
    "GOVOICE_WEBHOOK_DENY_NETWORKS",
    "GOVOICE_WEBHOOK_DENY_PORTS",
    "GOVOICE_WEBHOOK_NAT64_PREFIXES",
    "GOVOICE_WEBHOOK_PROXY",
    "GOVOICE_WEBHOOK_TIMEOUT_MS",
    "GOVOICE_RETRY_SCHEDULE_MS",
    "GOVOICE_TENANT_CONCURRENCY",
    "GOVOICE_WORKER_CONCURRENCY",
    "GOVOICE_LEASE_MS"
  ]
}

/** Settings that no group contains. The list must be empty. */
export const missing = (): ReadonlyArray<string> =>
  Object.keys(definitions).filter(
    (name) =>
      !Object.values(groups)
        .flat()
        .includes(name as Name)
  )

const rowOf = (name: Name): ReadonlyArray<string> => {
  const definition: Definition<unknown> = definitions[name]
  const byDefault = definition.defaultText ?? `\`${String(definition.default)}\``
  return [
    `\`${name}\``,
    byDefault,
    `${definition.description}${definition.secret === true ? " Secret: never printed." : ""}`
  ]
}

/** The page as it should be now. */
export const page = (): string =>
  [
    "# Settings",
    "",
    "The server is configured by environment variables. It reads them once, at start. If any value is invalid, it prints all faults",
    "without the values and exits with 1. Times are in milliseconds, lists are separated by commas, and an empty value is a fault.",
    "A variable that begins with `GOVOICE_` and is not listed here causes a warning: it is most likely a typing mistake.",
    "",
    "This page is generated from `apps/server/src/settings/definitions.ts` by `docs/settings.ts`.",
    ...Object.entries(groups).flatMap(([group, names]) => [
      "",
      `## ${group}`,
      "",
      table(["setting", "default", "description"], names.map(rowOf))
    ]),
    "",
    "## Dependencies between settings",
    "",
    "- With `DATABASE_URL`, `GOVOICE_JWT_SECRET` and `GOVOICE_ENCRYPTION_KEYS` are required. Without it, the server generates both once and",
    "  stores them in `secrets.json` in the data directory, readable by its owner only. One process at a time can use a data directory.",
    "- `GOVOICE_ROLE=api` and `GOVOICE_ROLE=worker` require `DATABASE_URL`, because the embedded Postgres cannot be shared.",
    "- `GOVOICE_LIVE_MODE=true` requires exactly one of `GOVOICE_KSEF_ENVIRONMENT` and `GOVOICE_KSEF_URL`. `GOVOICE_KSEF_CA_FILE` requires",
    "  `GOVOICE_KSEF_URL`. A server with another environment than before does not start while live invoices are unfinished.",
    "- `GOVOICE_LEASE_MS` must be longer than `GOVOICE_WEBHOOK_TIMEOUT_MS` plus 5000. If only one of them is set, the default of the other",
    "  follows it.",
    "- `GOVOICE_METRICS_PORT` must differ from `PORT`, unless both are 0.",
    "- To change the encryption key, follow the two phases of the [security model](./security-model.md).",
    "- A new `GOVOICE_JWT_SECRET` invalidates every access token and list cursor. Refresh tokens and API keys stay valid.",
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
