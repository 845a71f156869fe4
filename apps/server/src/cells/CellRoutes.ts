/**
 * Which cell a request is for: that of the bucket in its API key or in the identifier of its path, or the control cell.
 *
 * The patterns are also those of the proxy, whose configuration `proxyConfiguration.ts` prints.
 */
import { Ids } from "@govoice/core"

/** What a request says about its cell. `undefined` for what every cell answers alike. */
export type Destination = { readonly bucket: string } | "control" | undefined

const symbol = "[0-9a-hjkmnp-tv-z]"

const id = (prefix: Ids.Prefix): string => `${prefix}_[0-7]${symbol}{9}(?<bucket>${symbol}{2})${symbol}{14}(?:/|$)`

const prefix = "/v1/control-plane/"

/** Patterns of what a request has. The group `bucket` is the one that its cell has. */
export const patterns = {
  apiKey: `^[Bb]earer +sk_(?:test|live)_(?<bucket>${symbol}{2})`,
  control: `^(?:/console|${prefix})`,
  developer: "^/v1/",
  /** The name of an organization is in the control cell, which the others have it from. */
  rename: `^PATCH ${prefix}organizations/[^/]+$`,
  organization: `^${prefix}organizations/${id("org")}`,
  apiKeyId: `^${prefix}api-keys/${id("key")}`,
  endpoint: `^${prefix}webhook-endpoints/${id("we")}`
} as const

const rules = Object.fromEntries(
  Object.entries(patterns).map(([name, pattern]) => [name, new RegExp(pattern)])
) as Readonly<Record<keyof typeof patterns, RegExp>>

const bucketIn = (rule: RegExp, text: string): string | undefined => rule.exec(text)?.groups?.["bucket"]

/** Returns the organization of a path that the cell of its bucket serves. */
export const organizationOf = (method: string, path: string): Ids.OrganizationId | undefined => {
  const id = path.split("/", 5)[4] ?? ""
  return rules.organization.test(path) && !rules.rename.test(`${method} ${path}`) && Ids.is("org", id) ? id : undefined
}

/** Returns the destination of a request. The path is decoded and has no query. */
export const destinationOf = (method: string, path: string, authorization: string | undefined): Destination => {
  const isControl = rules.control.test(path)
  if (!isControl && !rules.developer.test(path)) return undefined
  if (isControl && rules.rename.test(`${method} ${path}`)) return "control"
  const bucket = isControl
    ? (bucketIn(rules.organization, path) ?? bucketIn(rules.apiKeyId, path) ?? bucketIn(rules.endpoint, path))
    : bucketIn(rules.apiKey, authorization ?? "")
  return bucket === undefined ? (isControl ? "control" : undefined) : { bucket }
}
