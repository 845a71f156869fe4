/** Checks the outbound guard: what webhooks can reach with these settings. */
import { judgeAddress, judgeUrl, resolveWithDns } from "@govoice/dispatcher"
import { Effect } from "effect"
import type { SettingsShape } from "../../settings/Settings.ts"
import { fault, type Finding, ok, warning } from "./Finding.ts"

type Webhooks = SettingsShape["webhooks"]

const internalAddresses: Readonly<Record<string, string>> = {
  "127.0.0.1": "this machine",
  "::1": "this machine",
  "10.0.0.1": "private networks",
  "172.16.0.1": "private networks",
  "192.168.0.1": "private networks",
  "fd00::1": "private networks",
  "100.64.0.1": "carrier networks",
  "169.254.0.1": "link-local networks",
  "169.254.169.254": "the metadata service of clouds"
}

/** Judges internal addresses by the policy of the settings. */
export const checkPolicy = ({ policy }: Webhooks): ReadonlyArray<Finding> => {
  const { allowHttp = false, allowNetworks = [] } = policy
  const reachable = Object.keys(internalAddresses).filter((address) => judgeAddress(address, policy).ok)
  const named = new Set(reachable.map((address) => internalAddresses[address]))
  return [
    reachable.length === 0
      ? ok("guard", "refuses loopback, private, link-local and metadata addresses")
      : warning(
          "guard",
          `GOVOICE_WEBHOOK_ALLOW_NETWORKS lets webhooks reach ${[...named].join(", ")}.`,
          "Leave it unset where customers choose the URLs."
        ),
    ...(allowNetworks.length > 0 && reachable.length === 0
      ? [warning("guard", `GOVOICE_WEBHOOK_ALLOW_NETWORKS allows ${allowNetworks.join(", ")}.`)]
      : []),
    ...(allowHttp
      ? [
          warning(
            "guard",
            "GOVOICE_WEBHOOK_ALLOW_HTTP lets webhooks be sent unencrypted.",
            "Leave it unset in production."
          )
        ]
      : [])
  ]
}

const unresolved = (error: unknown): string =>
  error instanceof Error && "code" in error
    ? `The name cannot be resolved (${String(error.code)}).`
    : "The name cannot be resolved."

const checkName = "Check the name, and the DNS of this machine."

const judge = async ({ policy }: Webhooks, text: string): Promise<Finding> => {
  const url = judgeUrl(text, policy)
  if (!url.ok) return fault("url", `refused by the rule '${url.rule}'`, "The API answers unsafe_webhook_url for it.")

  const host = new URL(text).hostname
  if (host.startsWith("[") || /^[\d.]+$/.test(host)) return ok("url", "allowed")
  try {
    const addresses = await resolveWithDns()(host, { signal: AbortSignal.timeout(5000) })
    const refused = addresses.flatMap((address) => {
      const verdict = judgeAddress(address, policy)
      return verdict.ok ? [] : [`${address} ('${verdict.rule}')`]
    })
    if (addresses.length === 0) return fault("url", "The name has no addresses.", checkName)
    return refused.length === 0
      ? ok("url", `allowed, at ${addresses.join(", ")}`)
      : fault(
          "url",
          `refused at ${refused.join(", ")}`,
          "One refused address is enough. Correct the DNS of the receiver."
        )
  } catch (error) {
    return fault("url", unresolved(error), checkName)
  }
}

/** Judges a URL and the addresses of its name. Sends nothing. */
export const checkUrl = (webhooks: Webhooks, url: string): Effect.Effect<Finding> =>
  Effect.promise(() => judge(webhooks, url))
