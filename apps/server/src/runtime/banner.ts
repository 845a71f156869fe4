/** The text that an operator sees when the server has started. */
import { resolve } from "node:path"
import type { SettingsShape } from "../settings/Settings.ts"
import { version } from "../version.ts"

const firstKey = (url: string): ReadonlyArray<string> => [
  "",
  "A first API key, in three commands:",
  "",
  `  curl -s ${url}/v1/control-plane/accounts -H 'content-type: application/json' -d '{"email":"you@example.com","password":"correct horse battery"}'`,
  `  TOKEN=$(curl -s ${url}/v1/control-plane/auth/login -H 'content-type: application/json' -d '{"email":"you@example.com","password":"correct horse battery"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
  `  ORG=$(curl -s ${url}/v1/control-plane/organizations -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{"name":"My company"}' | sed 's/.*"id":"\\(org_[^"]*\\)".*/\\1/'); curl -s ${url}/v1/control-plane/organizations/$ORG/api-keys -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{"mode":"test"}'`
]

/** Where the data is stored, in words. */
export const storage = ({ database }: SettingsShape): string =>
  database._tag === "Postgres"
    ? "Postgres of DATABASE_URL"
    : database.dataDir === undefined
      ? "in memory, lost when the server stops"
      : resolve(database.dataDir)

/** Makes the text for a server that listens on `url`. A worker has none. */
export const banner = (settings: SettingsShape, url: string | undefined): string =>
  [
    `Govoice ${version}, role: ${settings.role}`,
    ...(url === undefined || !settings.consoleEnabled ? [] : [`  Console    ${url}/console`]),
    ...(url === undefined ? [] : [`  API        ${url}/v1`, `  Reference  ${url}/docs`]),
    `  Data       ${storage(settings)}`,
    ...(url !== undefined && settings.database._tag === "Embedded" ? firstKey(url) : []),
    ""
  ].join("\n")
