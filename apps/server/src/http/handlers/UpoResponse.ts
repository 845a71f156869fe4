/** Responds with a receipt: the stored bytes, or 304 to a client that has them. */
import { HttpServerResponse } from "effect/http"
import * as EntityTags from "../EntityTags.ts"

/** Makes the response to a request for the receipt of an invoice. */
export const respond = (
  invoiceId: string,
  { sha256, xml }: { readonly sha256: Uint8Array; readonly xml: Uint8Array },
  ifNoneMatch: string | undefined
): HttpServerResponse.HttpServerResponse => {
  const etag = EntityTags.ofHash(sha256)
  return EntityTags.matches(ifNoneMatch, etag)
    ? HttpServerResponse.empty({ status: 304, headers: { etag } })
    : HttpServerResponse.uint8Array(xml, {
        contentType: "application/xml",
        headers: { etag, "content-disposition": `attachment; filename="upo-${invoiceId}.xml"` }
      })
}
