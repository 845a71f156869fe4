/**
 * Hands out receipts: the stored bytes, with a validator so that they need not be sent twice.
 *
 * @since 0.1.0
 */
import { HttpServerResponse } from "effect/http"

// RFC 9110 §13.1.2: the list matches by weak comparison, `*` matches anything there is.
const matches = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch.split(",").some((entry) => {
    const candidate = entry.trim()
    return candidate === "*" || candidate.replace(/^W\//, "") === etag
  })

/**
 * Makes the answer to a request for the receipt of an invoice.
 *
 * @category constructors
 * @since 0.1.0
 */
export const respond = (
  invoiceId: string,
  { sha256, xml }: { readonly sha256: Uint8Array; readonly xml: Uint8Array },
  ifNoneMatch: string | undefined
): HttpServerResponse.HttpServerResponse => {
  const etag = `"${Buffer.from(sha256).toString("hex")}"`
  return matches(ifNoneMatch, etag)
    ? HttpServerResponse.empty({ status: 304, headers: { etag } })
    : HttpServerResponse.uint8Array(xml, {
        contentType: "application/xml",
        headers: { etag, "content-disposition": `attachment; filename="upo-${invoiceId}.xml"` }
      })
}
