/** Responds with the PDF of an invoice. */
import { Problems } from "@govoice/api"
import type { Invoice } from "@govoice/core"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { InvoicePdfs } from "../../invoices/pdf/InvoicePdfs.ts"
import type * as Slots from "../../limits/Slots.ts"
import * as Throttling from "../middleware/Throttling.ts"
import * as FileResponse from "./FileResponse.ts"

const messages = {
  form: "This invoice has no PDF: its document is not FA (2), FA (3) or FA_RR (1). Download the document instead.",
  length:
    "This invoice has no PDF: it is too long. A PDF has at most 20,000 rows, 120,000 lines of text in columns, and 400,000 letters of different words. Download the document instead."
} as const

/** Makes the function that responds to a request for a PDF. */
export const make = Effect.gen(function* () {
  const pdfs = yield* InvoicePdfs
  return Effect.fnUntraced(function* (
    owner: Slots.Owner,
    invoice: Invoice.Invoice,
    { xml }: { readonly xml: Uint8Array },
    ifNoneMatch: string | undefined
  ) {
    const bytes = yield* pdfs.draw(owner, invoice, xml).pipe(
      Effect.catchTags({
        PdfNotAvailable: ({ reason }) => Problems.fail("pdf_not_available", { message: messages[reason] }),
        PdfNotDrawn: () => Throttling.failWithoutTurn
      })
    )
    const file = {
      bytes,
      sha256: createHash("sha256").update(bytes).digest(),
      contentType: "application/pdf",
      headers: {
        "content-disposition": `attachment; filename="invoice-${invoice.id}.pdf"`,
        "cache-control": "private, no-cache"
      }
    }
    return FileResponse.respond(file, ifNoneMatch)
  })
})
