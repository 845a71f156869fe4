/** Responds with a QR code of an invoice. */
import { Problems } from "@govoice/api"
import type { Invoice } from "@govoice/core"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as InvoiceCodes from "../../invoices/qr/InvoiceCodes.ts"
import * as FileResponse from "./FileResponse.ts"

/** Makes the response to a request for a code. */
export const respond = Effect.fnUntraced(function* (
  invoice: Invoice.Invoice,
  request: InvoiceCodes.CodeRequest,
  ifNoneMatch: string | undefined
) {
  const image = InvoiceCodes.draw(invoice, request)
  if (image === undefined) return yield* Problems.fail("verification_not_available")
  const sha256 = createHash("sha256").update(image.bytes).digest()
  return FileResponse.respond({ ...image, sha256, headers: { "cache-control": "private, no-cache" } }, ifNoneMatch)
})
