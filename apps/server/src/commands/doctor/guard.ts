/**
 * The outbound guard: what webhooks could reach under these settings that they should not.
 *
 * @since 0.1.0
 */
import { judgeAddress, judgeUrl, resolveWithDns } from "@govoice/dispatcher"
import { Effect } from "effect"
import type { SettingsShape } from "../../settings/Settings.ts"
import { fault, type Finding, ok, warning } from "./Finding.ts"

type Webhooks = SettingsShape["webhooks"]

const inward: Readonly<Record<string, string>> = {
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

/**
 * Tries the policy of the settings on addresses that no webhook has business with.
 *
 * @category checks
 * @since 0.1.0
 */
export const checkPolicy = ({ allowHttp, allowNetworks }: Webhooks): ReadonlyArray<Finding> => {
  const open = Object.keys(inward).filter((address) => judgeAddress(address, { allowNetworks }).ok)
  const reach = new Set(open.map((address) => inward[address]))
  return [
    open.length === 0
      ? ok("guard", "refuses loopback, private, link-local and metadata addresses")
      : warning(
          "guard",
          `GOVOICE_WEBHOOK_ALLOW_NETWORKS lets webhooks reach ${[...reach].join(", ")}.`,
          "Leave it empty where customers choose the URLs."
        ),
    ...(allowNetworks.length > 0 && open.length === 0
      ? [warning("guard", `GOVOICE_WEBHOOK_ALLOW_NETWORKS lets through ${allowNetworks.join(", ")}.`)]
      : []),
    ...(allowHttp
      ? [
          warning(
            "guard",
            "GOVOICE_WEBHOOK_ALLOW_HTTP lets webhooks travel unencrypted.",
            "Leave it out in production."
          )
        ]
      : [])
  ]
}

const notResolved = (error: unknown): string =>
  error instanceof Error && "code" in error
    ? `The name cannot be resolved (${String(error.code)}).`
    : "The name cannot be resolved."

const judge = async (webhooks: Webhooks, text: string): Promise<Finding> => {
  const { allowHttp, allowNetworks } = webhooks
  const url = judgeUrl(text, { allowHttp, allowNetworks })
  if (!url.ok) return fault("url", `refused by the rule «${url.rule}»`, "The API answers unsafe_webhook_url for it.")

  const host = new URL(text).hostname
  if (host.startsWith("[") || /^[\d.]+$/.test(host)) return ok("url", "allowed")
  try {
    const addresses = await resolveWithDns()(host, { signal: AbortSignal.timeout(5000) })
    const refused = addresses.flatMap((address) => {
      const verdict = judgeAddress(address, { allowNetworks })
      return verdict.ok ? [] : [`${address} («${verdict.rule}»)`]
    })
    if (addresses.length === 0)
      return fault("url", "The name has no addresses.", "Check the name, and the DNS of this machine.")
    return refused.length === 0
      ? ok("url", `allowed, at ${addresses.join(", ")}`)
      : fault("url", `refused at ${refused.join(", ")}`, "One bad address is enough. Correct the DNS of the receiver.")
  } catch (error) {
    return fault("url", notResolved(error), "Check the name, and the DNS of this machine.")
  }
}

/**
 * Judges a URL and what its name resolves to. Nothing is sent.
 *
 * @category checks
 * @since 0.1.0
 */
export const checkUrl = (webhooks: Webhooks, url: string): Effect.Effect<Finding> =>
  Effect.promise(() => judge(webhooks, url))
