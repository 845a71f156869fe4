/** Responds with a file of an invoice: its bytes, or 304 to a client that has them. */
import { HttpServerResponse } from "effect/http"
import * as EntityTags from "../EntityTags.ts"

/** A file. */
export interface File {
  readonly bytes: Uint8Array
  readonly sha256: Uint8Array
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
}

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
