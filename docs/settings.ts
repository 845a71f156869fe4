/**
 * Generates the reference page of the settings from their definitions.
 *
 *     node --conditions=source docs/settings.ts            updates the page
 *     node --conditions=source docs/settings.ts --check    fails if the page is not current
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Definition, groups } from "../apps/server/src/settings/definitions.ts"
import { table } from "./blocks.ts"

/** Path of the page. */
export const path = join(import.meta.dirname, "guides/settings.md")

const rowOf = ([name, definition]: readonly [string, Definition<unknown>]): ReadonlyArray<string> => {
  const byDefault = definition.defaultText ?? `\`${String(definition.default)}\``
  return [
    `\`${name}\``,
    byDefault,
    `${definition.description}${definition.secret === true ? ` Secret: never printed. Also as \`${name}_FILE\`.` : ""}`
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
    "A secret can be in a file: `<setting>_FILE` names it, in place of the setting, such as `DATABASE_URL_FILE=/run/secrets/database_url`.",
    "The newline at the end of the file is not part of the secret. Both variables at once are a fault.",
    "",
    "This page is generated from `apps/server/src/settings/definitions.ts` by `docs/settings.ts`.",
    ...Object.entries(groups).flatMap(([group, settings]) => [
      "",
      `## ${group}`,
      "",
      table(["setting", "default", "description"], Object.entries<Definition<unknown>>(settings).map(rowOf))
    ]),
    "",
    "## Dependencies between settings",
    "",
    "- With `DATABASE_URL`, `GOVOICE_JWT_SECRET` and `GOVOICE_ENCRYPTION_KEYS` are required. Without it, the server generates both once and",
    "  stores them in `secrets.json` in the data directory, readable by its owner only. One process at a time can use a data directory.",
    "- `GOVOICE_ROLE=api` and `GOVOICE_ROLE=worker` require `DATABASE_URL`, because the embedded Postgres cannot be shared.",
    "- `GOVOICE_LIVE_MODE=true` requires exactly one of `GOVOICE_KSEF_ENVIRONMENT` and `GOVOICE_KSEF_URL`.",
    "  A server with another environment than before does not start while live invoices are unfinished.",
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
