/**
 * Generates the reference page of the settings from their definitions.
 *
 *     node --conditions=source docs/settings.ts            updates the page
 *     node --conditions=source docs/settings.ts --check    fails if the page is not current
 */
import { join } from "node:path"
import { type Definition, groups } from "../apps/server/src/settings/definitions.ts"
import { table } from "./blocks.ts"
import { keepCurrent } from "./writtenFile.ts"

/** Path of the page. */
export const path = join(import.meta.dirname, "guides/settings.md")

const rowOf = ([name, definition]: readonly [string, Definition<unknown>]): ReadonlyArray<string> => {
  const byDefault = definition.defaultText ?? `\`${String(definition.default)}\``
  return [`\`${name}\``, byDefault, `${definition.description}${definition.secret === true ? ` Secret.` : ""}`]
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
    "A setting that is marked as secret is never printed. To keep it in a file, set `<setting>_FILE` to the path instead, such as",
    "`DATABASE_URL_FILE=/run/secrets/database_url`. The newline at its end is not part of the secret. Setting both is a fault.",
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
    "- Without `DATABASE_URL`, the server generates `GOVOICE_JWT_SECRET` and `GOVOICE_ENCRYPTION_KEYS` once and stores them in `secrets.json`",
    "  in the data directory, readable by its owner only. One process at a time can use a data directory. After a crash in a container or",
    "  on another host, the next one waits 20 seconds for a sign of life. A process that was suspended and lost the directory meanwhile ends.",
    "- `GOVOICE_METRICS_PORT` must differ from `PORT`, unless both are 0.",
    "- `govoice keys rotate` prints how to [change the encryption key](./security-model.md#stored-data).",
    "- A new `GOVOICE_JWT_SECRET` invalidates every access token and list cursor. Logins and API keys stay valid.",
    ""
  ].join("\n")

if (import.meta.main) keepCurrent(path, page(), "docs/settings.ts")
