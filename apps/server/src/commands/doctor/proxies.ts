/** Checks for a proxy that the settings do not name: behind it, all clients share one address and its limits. */
import { judgeAddress } from "@govoice/dispatcher"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { isIP } from "node:net"
import * as LoginNetworks from "../../accounts/LoginNetworks.ts"
import type { SettingsShape } from "../../settings/Settings.ts"
import { broadNetworks } from "../../settings/trustedProxies.ts"
import { type Finding, ok, warning } from "./Finding.ts"

// One account alone may belong to somebody who tries the server from the machine beside it.
const minAccounts = 2

// No public address: private, loopback, link-local or shared.
const isInternal = (network: string): boolean => {
  const address = network.replace(/\/64$/, "")
  return isIP(address) !== 0 && !judgeAddress(address).ok
}

/** Compares the networks of recent logins with the trusted proxies. */
export const check = ({
  trustedProxies
}: Pick<SettingsShape, "trustedProxies">): Effect.Effect<Finding, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.map(LoginNetworks.findOnly, (only) => {
    const broad = broadNetworks(trustedProxies)
    if (broad.length > 0) {
      return warning(
        "proxies",
        `GOVOICE_TRUSTED_PROXIES contains ${broad.join(", ")}: clients there choose the address that their limits count under.`,
        "Name the networks of the proxies only."
      )
    }
    if (trustedProxies.length > 0) return ok("proxies", `trusted: ${trustedProxies.join(", ")}`)
    if (only === undefined || only.accounts < minAccounts || !isInternal(only.network)) {
      return ok("proxies", "no sign of a proxy that GOVOICE_TRUSTED_PROXIES does not name")
    }
    return warning(
      "proxies",
      `All logins of the last seven days, of ${only.accounts} accounts, came from ${only.network}: one caller can use up the limits of all.`,
      "If a proxy has this address, set GOVOICE_TRUSTED_PROXIES to its network."
    )
  })
