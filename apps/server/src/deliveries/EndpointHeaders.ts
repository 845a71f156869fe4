/** The headers of an endpoint, whose values are secrets, as they are stored. */
import type { Ids } from "@govoice/core"
import type { KeyRing } from "../crypto/KeyRing.ts"

/** Headers by name. */
export type EndpointHeaders = Readonly<Record<string, string>>

const place = (id: string) => ({ column: "webhook_endpoints.headers", row: id }) as const

/** Seals the headers of an endpoint; `null` if there are none. */
export const seal = (keyRing: KeyRing["Service"], id: Ids.EndpointId, headers: EndpointHeaders): Uint8Array | null =>
  Object.keys(headers).length === 0 ? null : keyRing.seal(JSON.stringify(headers), place(id))

/** Opens what `seal` made. Throws if the key ring does not open it. */
export const open = (keyRing: KeyRing["Service"], id: Ids.EndpointId, sealed: Uint8Array): EndpointHeaders =>
  JSON.parse(keyRing.open(sealed, place(id))) as EndpointHeaders
