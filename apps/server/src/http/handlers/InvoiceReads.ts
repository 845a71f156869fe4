/** Reads one invoice and its files, for an API key or for the owner of its organization. */
import { Problems } from "@govoice/api"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Invoices, type InvoiceScope } from "../../invoices/Invoices.ts"
import type * as InvoiceCodes from "../../invoices/qr/InvoiceCodes.ts"
import type * as Slots from "../../limits/Slots.ts"
import * as FileResponse from "./FileResponse.ts"
import * as PdfResponse from "./PdfResponse.ts"
import * as QrResponse from "./QrResponse.ts"

/** Whose invoice it is, and the mode if the caller has access to one only. */
export type Reader = InvoiceScope & Slots.Owner

type Request = HttpServerRequest.HttpServerRequest

const known = ({ headers }: Request): string | undefined => headers["if-none-match"]

/** Makes the functions, from the answer where there is no such invoice. */
export const make = Effect.fnUntraced(function* (
  notFound: () => Effect.Effect<never, Problems.Problem<"invoice_not_found">>
) {
  const invoices = yield* Invoices
  const respondWithPdf = yield* PdfResponse.make

  const find = (reader: Reader, id: string) => Effect.catchTag(invoices.find(reader, id), "InvoiceNotFound", notFound)

  const readDocument = (reader: Reader, id: string) =>
    Effect.catchTag(FileResponse.read(reader, invoices.document(reader, id)), "InvoiceNotFound", notFound)

  return {
    find,

    upo: Effect.fnUntraced(function* (reader: Reader, id: string, request: Request) {
      const receipt = yield* FileResponse.read(reader, invoices.receipt(reader, id)).pipe(
        Effect.catchTags({
          InvoiceNotFound: notFound,
          ReceiptNotAvailable: () => Problems.fail("upo_not_available")
        })
      )
      return FileResponse.respond(FileResponse.xml(`upo-${id}`, receipt), known(request))
    }),

    document: Effect.fnUntraced(function* (reader: Reader, id: string, request: Request) {
      const document = yield* readDocument(reader, id)
      return FileResponse.respond(FileResponse.xml(`invoice-${id}`, document), known(request))
    }),

    pdf: Effect.fnUntraced(function* (reader: Reader, id: string, request: Request) {
      const [invoice, document] = yield* Effect.all([find(reader, id), readDocument(reader, id)])
      return yield* respondWithPdf(reader, invoice, document, known(request))
    }),

    qr: Effect.fnUntraced(function* (reader: Reader, id: string, code: InvoiceCodes.CodeRequest, request: Request) {
      return yield* QrResponse.respond(yield* find(reader, id), code, known(request))
    })
  }
})
