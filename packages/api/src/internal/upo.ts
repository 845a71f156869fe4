/** The request headers and the responses of operations that return a receipt (UPO). */
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"

/** The request headers. */
export const headers = {
  "if-none-match": Schema.optionalKey(
    Schema.String.annotate({ description: "The `ETag` of a receipt that was downloaded before." })
  )
}

const document = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/xml" })).annotate({
  description: "The receipt (UPO)."
})

/** The responses. */
export const success = [
  HttpApiSchema.WithHeaders(document, {
    etag: Schema.String.annotate({ description: "A strong validator for `If-None-Match`." }),
    "content-disposition": Schema.String.annotate({ description: "Names the file `upo-{id}.xml`." })
  }),
  HttpApiSchema.Empty(304).annotate({ description: "The receipt has the `ETag` of `If-None-Match`." })
] as const
