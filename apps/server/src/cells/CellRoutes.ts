/**
 * Which cell a request is for: that of the bucket in its API key or in the identifier of its path, or the control cell.
 *
 * `proxyConfiguration.ts` prints the same rules for a proxy.
 */
import { Ids } from "@govoice/core"

/** What a request says about its cell. `undefined` for what every cell answers alike. */
export type Destination = { readonly bucket: string } | "control" | undefined

const ofOrganization = /^\/v1\/control-plane\/(?:organizations|api-keys|webhook-endpoints)\/([^/]+)(\/|$)/

const apiKey = /^bearer +sk_(?:test|live)_([0-9a-hjkmnp-tv-z]{2})/i

const isOwned = (id: string): id is Ids.OrganizationId | Ids.ApiKeyId | Ids.EndpointId =>
  Ids.is("org", id) || Ids.is("key", id) || Ids.is("we", id)

/** The identifier in a path of the control plane that is served by the cell of its bucket. */
const idOf = (method: string, path: string) => {
  const [, id, rest] = ofOrganization.exec(path) ?? []
  // The name of an organization is in the control cell, which the others have it from.
  const isRename = method === "PATCH" && rest === "" && path.startsWith("/v1/control-plane/organizations/")
  return id === undefined || isRename || !isOwned(id) ? undefined : id
}

/** Returns the organization of a path that the cell of its bucket serves. */
export const organizationOf = (method: string, path: string): Ids.OrganizationId | undefined => {
  const id = idOf(method, path)
  return id !== undefined && Ids.is("org", id) ? id : undefined
}

/** Returns the destination of a request. The path is decoded and has no query. */
export const destinationOf = (method: string, path: string, authorization: string | undefined): Destination => {
  if (path.startsWith("/console")) return "control"
  if (path.startsWith("/v1/control-plane/")) {
    const id = idOf(method, path)
    return id === undefined ? "control" : { bucket: Ids.bucket(id) }
  }
  const bucket = path.startsWith("/v1/") ? apiKey.exec(authorization ?? "")?.[1] : undefined
  return bucket === undefined ? undefined : { bucket }
}
