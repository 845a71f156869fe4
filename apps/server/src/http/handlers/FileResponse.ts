/** Responds with a file of an invoice: its bytes, or 304 to a client that has them. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Slots from "../../limits/Slots.ts"
import * as EntityTags from "../EntityTags.ts"
import * as Throttling from "../middleware/Throttling.ts"

/** A file. */
export interface File {
  readonly bytes: Uint8Array
  readonly sha256: Uint8Array
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
}

// A file can have a megabyte, and takes the connection to the database and the event loop many times as long as an invoice. Most
// of the connections are left to others.
const slots = Slots.make({
  slots: 6,
  slotsPerGroup: 2,
  maxWaiting: 1000,
  maxWaitingPerGroup: 250,
  maxWaitMs: Slots.turnMs
})

/** Reads a file from the database, when it is the turn of the organization. */
export const read = <A, E, R>(owner: Slots.Owner, file: Effect.Effect<A, E, R>) =>
  Effect.catchTag(slots.run(owner)(file), "NoSlot", () => Throttling.failWithoutTurn)

/** Returns an XML file to save under a name. */
export const xml = (
  name: string,
  { sha256, xml }: { readonly sha256: Uint8Array; readonly xml: Uint8Array }
): File => ({
  bytes: xml,
  sha256,
  contentType: "application/xml",
  headers: { "content-disposition": `attachment; filename="${name}.xml"` }
})

/** Makes the response to a request for a file. */
export const respond = (
  { bytes, contentType, headers, sha256 }: File,
  ifNoneMatch: string | undefined
): HttpServerResponse.HttpServerResponse => {
  const etag = EntityTags.ofHash(sha256)
  return EntityTags.matches(ifNoneMatch, etag)
    ? HttpServerResponse.empty({ status: 304, headers: { etag, ...headers } })
    : HttpServerResponse.uint8Array(bytes, { contentType, headers: { etag, ...headers } })
}
