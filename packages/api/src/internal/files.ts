/** The request headers and the responses of operations that return a file of an invoice: receipt (UPO), document, PDF, QR code. */
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"

/** The request headers. */
export const headers = {
  "if-none-match": Schema.optionalKey(
    Schema.String.annotate({ description: "The `ETag` of a file that was downloaded before." })
  )
}

const file = (contentType: string, description: string) =>
  Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType })).annotate({ description })

const etag = Schema.String.annotate({ description: "A strong validator for `If-None-Match`." })

const unchanged = HttpApiSchema.Empty(304).annotate({ description: "The file has the `ETag` of `If-None-Match`." })

const xml = (description: string, name: string) =>
  [
    HttpApiSchema.WithHeaders(file("application/xml", description), {
      etag,
      "content-disposition": Schema.String.annotate({ description: `Names the file \`${name}\`.` })
    }),
    unchanged
  ] as const

/** The responses with a receipt. */
export const upo = xml("The receipt (UPO).", "upo-{id}.xml")

/** The responses with a document. */
export const document = xml("The document, byte for byte.", "invoice-{id}.xml")

/** The responses with a PDF. */
export const pdf = [
  HttpApiSchema.WithHeaders(file("application/pdf", "The PDF: A4 pages."), {
    etag,
    "content-disposition": Schema.String.annotate({ description: "Names the file `invoice-{id}.pdf`." }),
    "cache-control": Schema.String.annotate({
      description: "`private, no-cache`: the file changes when the invoice gets its official number."
    })
  }),
  unchanged
] as const

/** What the operations with a PDF do. */
export const pdfDescription =
  "Draws what the document says, in Polish and English, with the QR codes of the invoice. The PDF is a visualization; the invoice is the document. An invoice has no PDF if its document is not FA (2), FA (3) or FA_RR (1), or is too long: it has more than 20,000 rows, for example."

/** The query parameters of a QR code. */
export const qrQuery = {
  code: Schema.optionalKey(
    Schema.Literals(["1", "2"]).annotate({
      description:
        "`1` (the default) for the code with which anybody can check the invoice (KOD I), `2` for that of the certificate of an invoice issued offline (KOD II)."
    })
  ),
  format: Schema.optionalKey(
    Schema.Literals(["svg", "png"]).annotate({ description: "The format of the image. Defaults to `svg`." })
  ),
  label: Schema.optionalKey(
    Schema.Literals(["true", "false"]).annotate({
      description: "Whether the text that belongs below the code is part of the image. Defaults to `true`."
    })
  )
}

const cacheControl = Schema.String.annotate({
  description: "`private, no-cache`: the label changes when the invoice gets its official number."
})

/** The responses with a QR code. The document adds `image/png`: Effect has one content type for a response with headers. */
export const qr = [
  HttpApiSchema.WithHeaders(file("image/svg+xml", "The code: black on white, with the margin that scanners need."), {
    etag,
    "cache-control": cacheControl
  }),
  unchanged
] as const

/** What the operations with a QR code do. */
export const qrDescription =
  "Draws a code that the seller prints on the invoice (ISO/IEC 18004), with the text that belongs below it: the official number, `OFFLINE` until there is one, or `CERTYFIKAT` below the second code. An SVG image, or a PNG image with `format=png`."
