/**
 * The HTTP contract of the developer API for invoices.
 *
 * @since 0.1.0
 */
import { Invoice, InvoiceState } from "@govoice/core"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { DeveloperAuthorization } from "./DeveloperAuthorization.ts"
import * as Lists from "./Lists.ts"
import * as Problems from "./Problems.ts"
import { submissionHeaders, SubmissionRequest } from "./Submission.ts"
import { SubmissionHeaders } from "./SubmissionHeaders.ts"
import * as Files from "./internal/files.ts"
import { invoiceFilters } from "./internal/invoiceFilters.ts"
import { BodyReading, MetadataFilter, ParameterValidation } from "./Validation.ts"

const params = { id: Schema.String.annotate({ description: "The identifier of an invoice, `inv_…`." }) }

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
      payload: SubmissionRequest,
      success: HttpApiSchema.WithHeaders(Invoice.Invoice.pipe(HttpApiSchema.status(201)), {
        location: Schema.String.annotate({ description: "The path of the invoice." }),
        "idempotent-replayed": Schema.optionalKey(
          Schema.Literal("true").annotate({ description: "Present if the response was replayed." })
        )
      }),
      error: Problems.errors(
        "invalid_invoice_xml",
        "invalid_metadata",
        "unknown_parameter",
        "invalid_parameter",
        "idempotency_conflict",
        "live_mode_unavailable",
        "offline_not_available"
      )
    })
      .middleware(BodyReading)
      .middleware(SubmissionHeaders)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Submit an invoice",
          description:
            "The 201 means that the invoice, its first event and the deliveries of that event are stored. The same request with the same `Idempotency-Key` returns the first response and creates nothing."
        })
      ),
    HttpApiEndpoint.get("list", "/v1/invoices", {
      query: {
        ...Lists.pageQuery,
        ...Lists.orderQuery,
        status: Schema.optionalKey(InvoiceState.Status.annotate({ description: "Only invoices with this status." })),
        ...Lists.timeQuery,
        ...invoiceFilters,
        ...Lists.metadataQuery
      },
      success: Lists.page("InvoiceList", Invoice.Invoice),
      error: Problems.errors()
    })
      .middleware(ParameterValidation)
      .middleware(MetadataFilter)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List invoices",
          description:
            "The invoices of the organization and the mode of the API key, newest first. With `order=asc` or `created_after`, the list shows an invoice only once no older one can appear, so a reader who follows it misses none: by the `next_cursor` of an ascending list, or by the newest `created_at` as the next `created_after`."
        })
      ),
    HttpApiEndpoint.get("get", "/v1/invoices/:id", {
      params,
      success: Invoice.Invoice,
      error: Problems.errors("invoice_not_found")
    }).annotateMerge(OpenApi.annotations({ summary: "Get an invoice" })),
    HttpApiEndpoint.get("upo", "/v1/invoices/:id/upo", {
      params,
      headers: Files.headers,
      success: Files.upo,
      error: Problems.errors("invoice_not_found", "upo_not_available")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Download the official receipt (UPO)",
        description: "Returns the stored bytes, or 304 if `If-None-Match` has its `ETag`."
      })
    ),
    HttpApiEndpoint.get("document", "/v1/invoices/:id/document", {
      params,
      headers: Files.headers,
      success: Files.document,
      error: Problems.errors("invoice_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Download the document",
        description: "Returns the XML as it was submitted, byte for byte, or 304 if `If-None-Match` has its `ETag`."
      })
    ),
    HttpApiEndpoint.get("pdf", "/v1/invoices/:id/pdf", {
      params,
      headers: Files.headers,
      success: Files.pdf,
      error: Problems.errors("invoice_not_found", "pdf_not_available")
    }).annotateMerge(OpenApi.annotations({ summary: "Draw an invoice as a PDF", description: Files.pdfDescription })),
    HttpApiEndpoint.get("qr", "/v1/invoices/:id/qr", {
      params,
      query: Files.qrQuery,
      headers: Files.headers,
      success: Files.qr,
      error: Problems.errors("invoice_not_found", "verification_not_available")
    })
      .middleware(ParameterValidation)
      .annotateMerge(OpenApi.annotations({ summary: "Draw a QR code of an invoice", description: Files.qrDescription }))
  )
  .middleware(DeveloperAuthorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Invoices", description: "Submit invoices, follow them, download receipts." })
  ) {}
