/**
 * The HTTP contract of the developer API for invoices.
 *
 * @since 0.1.0
 */
import { Invoice } from "@govoice/core"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { DeveloperAuthorization } from "./DeveloperAuthorization.ts"
import * as Problems from "./Problems.ts"
import { Submission, submissionHeaders } from "./Submission.ts"
import { SubmissionHeaders } from "./SubmissionHeaders.ts"
import { BodyReading, SubmissionValidation } from "./Validation.ts"

const params = { id: Schema.String.annotate({ description: "The identifier of an invoice, `inv_…`." }) }

const Upo = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/xml" })).annotate({
  description: "The receipt."
})

/**
 * Endpoints under `/v1/invoices`.
 *
 * @category models
 * @since 0.1.0
 */
export class InvoicesApi extends HttpApiGroup.make("invoices")
  .add(
    HttpApiEndpoint.post("submit", "/v1/invoices", {
      headers: submissionHeaders,
      payload: Submission,
      success: HttpApiSchema.WithHeaders(Invoice.Invoice.pipe(HttpApiSchema.status(201)), {
        location: Schema.String.annotate({ description: "The path of the invoice." }),
        "idempotent-replayed": Schema.optionalKey(
          Schema.Literal("true").annotate({ description: "Present when this answer was given before." })
        )
      }),
      error: Problems.errors("idempotency_conflict", "live_mode_unavailable")
    })
      .middleware(SubmissionValidation)
      .middleware(BodyReading)
      .middleware(SubmissionHeaders)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Submit an invoice",
          description:
            "Accepted means durable: when the 201 arrives, the invoice, its first event and the deliveries of that event are stored. Sending the same request with the same `Idempotency-Key` again returns the first answer and makes nothing new."
        })
      ),
    HttpApiEndpoint.get("get", "/v1/invoices/:id", {
      params,
      success: Invoice.Invoice,
      error: Problems.errors("invoice_not_found")
    }).annotateMerge(OpenApi.annotations({ summary: "Show an invoice" })),
    HttpApiEndpoint.get("upo", "/v1/invoices/:id/upo", {
      params,
      headers: {
        "if-none-match": Schema.optionalKey(
          Schema.String.annotate({ description: "The `ETag` of the receipt that the caller has already." })
        )
      },
      success: [
        HttpApiSchema.WithHeaders(Upo, {
          etag: Schema.String.annotate({ description: "A strong validator for `If-None-Match`." }),
          "content-disposition": Schema.String.annotate({ description: "Names the file `upo-{id}.xml`." })
        }),
        HttpApiSchema.Empty(304).annotate({ description: "The caller has this receipt already." })
      ],
      error: Problems.errors("invoice_not_found", "upo_not_available")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Download the official receipt (UPO)",
        description: "The receipt as it was stored, byte for byte. Answers 304 when `If-None-Match` names its `ETag`."
      })
    )
  )
  .middleware(DeveloperAuthorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Invoices", description: "Submit invoices, follow them, download receipts." })
  ) {}
