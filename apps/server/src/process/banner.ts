/**
 * What an operator is told when the server has started.
 *
 * @since 0.1.0
 */
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

/**
 * Makes the text that is printed once the server listens on `url`. A worker listens nowhere.
 *
 * @category constructors
 * @since 0.1.0
 */
export const banner = (settings: SettingsShape, url: string | undefined): string => {
  const { database } = settings
  const data =
    database._tag === "Postgres"
      ? "Postgres, as DATABASE_URL says"
      : database.dataDir === undefined
        ? "in memory, gone when the server stops"
        : resolve(database.dataDir)

  return [
    `Govoice ${version}, role: ${settings.role}`,
    ...(url === undefined ? [] : [`  API        ${url}/v1`, `  Reference  ${url}/docs`]),
    `  Data       ${data}`,
    ...(url !== undefined && database._tag === "Embedded" ? firstKey(url) : []),
    ""
  ].join("\n")
}
