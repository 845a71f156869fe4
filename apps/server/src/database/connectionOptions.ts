import type { PgClient } from "@effect/sql-pg"
import { Redacted } from "effect"
import { rootCertificatesOf, targetOf, withoutHosts } from "../settings/postgresUrl.ts"

const unverifiedModes: ReadonlyArray<string> = ["disable", "allow", "prefer"]

/**
 * Returns the options with which the driver connects to the Postgres of a URL.
 *
 * Certificate and host name are verified in every mode that requires TLS: unlike libpq, the driver does so for `require`.
 */
export const connectionOptions = (
  url: string
): Pick<PgClient.PgPoolConfig, "url" | "hosts" | "targetSessionAttrs" | "ssl"> => {
  const { hosts, sessionAttributes, sslMode } = targetOf(url)
  const options =
    hosts.length === 1 && sessionAttributes === "any"
      ? { url: Redacted.make(url) }
      : { url: Redacted.make(withoutHosts(url)), hosts, targetSessionAttrs: sessionAttributes }
  if (unverifiedModes.includes(sslMode)) return options
  const ca = rootCertificatesOf(url)
  return { ...options, ssl: ca === undefined ? true : { ca } }
}
