/** The text that an operator sees when the server has started. */
import { resolve } from "node:path"
import type { SettingsShape } from "../settings/Settings.ts"
import { version } from "../version.ts"

const firstKey = (url: string): ReadonlyArray<string> => [
  "",
  "A first API key, in place of the steps of the console:",
  "",
  `  API=${url}/v1/control-plane`,
  `  JSON='content-type: application/json'`,
  `  LOGIN='{"email":"you@example.com","password":"correct horse battery"}'`,
  `  curl -sw '\\n' $API/accounts -H "$JSON" -d "$LOGIN"`,
  `  AUTH="authorization: Bearer $(curl -s $API/auth/login \\`,
  `    -H "$JSON" -d "$LOGIN" | cut -d '"' -f 4)"`,
  `  ORG=$(curl -s $API/organizations -H "$JSON" -H "$AUTH" \\`,
  `    -d '{"name":"My company"}' | cut -d '"' -f 4)`,
  `  curl -sw '\\n' $API/organizations/$ORG/api-keys -H "$JSON" -H "$AUTH" \\`,
  `    -d '{"mode":"test"}'`
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
