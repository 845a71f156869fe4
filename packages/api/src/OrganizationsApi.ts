/**
 * The HTTP contract of organizations and their invoices.
 *
 * @since 0.1.0
 */
import { Invoice, InvoiceState, Mode } from "@govoice/core"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { AccountAuthorization } from "./AccountAuthorization.ts"
import * as Fields from "./Fields.ts"
import { GatewayCredential, GatewayCredentialRequest } from "./GatewayCredential.ts"
import * as Lists from "./Lists.ts"
import { LiveStatus } from "./LiveStatus.ts"
import { OfflineCertificate, OfflineCertificateRequest } from "./OfflineCertificate.ts"
import { Organization } from "./Organization.ts"
import * as Problems from "./Problems.ts"
import * as Files from "./internal/files.ts"
import { invoiceFilters } from "./internal/invoiceFilters.ts"
import { OrganizationOverview, Window } from "./Statistics.ts"
import { BodyReading, MetadataFilter, ParameterValidation } from "./Validation.ts"

const params = { org_id: Schema.String.annotate({ description: "The identifier of an organization, `org_…`." }) }

const invoiceParams = {
  ...params,
  invoice_id: Schema.String.annotate({ description: "The identifier of an invoice, `inv_…`." })
}

const Name = Schema.Struct({ name: Fields.text(1, 200) }).annotate({ identifier: "OrganizationName" })

/**
 * Endpoints under `/v1/control-plane/organizations`.
 *
 * @category models
 * @since 0.1.0
 */
export class OrganizationsApi extends HttpApiGroup.make("organizations")
  .add(
    HttpApiEndpoint.post("create", "/v1/control-plane/organizations", {
      payload: Name,
      success: Organization.pipe(HttpApiSchema.status(201)),
      error: Problems.errors("limit_reached")
    }).annotateMerge(OpenApi.annotations({ summary: "Create an organization" })),
    HttpApiEndpoint.patch("update", "/v1/control-plane/organizations/:org_id", {
      params,
      payload: Schema.Struct({ name: Schema.optionalKey(Fields.text(1, 200)) }).annotate({
        identifier: "OrganizationChange"
      }),
      success: Organization,
      error: Problems.errors("organization_not_found")
    }).annotateMerge(OpenApi.annotations({ summary: "Rename an organization" })),
    HttpApiEndpoint.put("putGatewayCredential", "/v1/control-plane/organizations/:org_id/gateway-credential", {
      params,
      payload: GatewayCredentialRequest,
      success: HttpApiSchema.NoContent,
      error: Problems.errors("organization_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Store the credential for the national system",
        description:
          "Replaces the one that is stored. Tokens and keys are encrypted at rest, and no response contains them. A certificate is checked at once: the key belongs to it, both are supported, and it is valid now."
      })
    )
  )
  .add(
    HttpApiEndpoint.put("putOfflineCertificate", "/v1/control-plane/organizations/:org_id/offline-certificate", {
      params,
      payload: OfflineCertificateRequest,
      success: HttpApiSchema.NoContent,
      error: Problems.errors("organization_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Store the certificate for issuing invoices offline",
        description:
          "Replaces the one that is stored; invoices keep the codes that they were issued with. The key is encrypted at rest, and no response contains it. The certificate is checked at once: it is of the type Offline, the key belongs to it, both are supported, and it is valid now."
      })
    )
  )
  .middleware(BodyReading)
  .add(
    HttpApiEndpoint.get("list", "/v1/control-plane/organizations", {
      query: Lists.pageQuery,
      success: Lists.page("OrganizationList", Organization),
      error: Problems.errors()
    }).annotateMerge(OpenApi.annotations({ summary: "List organizations" })),
    HttpApiEndpoint.get("getInvoiceQr", "/v1/control-plane/organizations/:org_id/invoices/:invoice_id/qr", {
      params: invoiceParams,
      query: Files.qrQuery,
      headers: Files.headers,
      success: Files.qr,
      error: Problems.errors("organization_not_found", "invoice_not_found", "verification_not_available")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Draw a QR code of an invoice of an organization",
        description: Files.qrDescription
      })
    ),
    HttpApiEndpoint.get("getOverview", "/v1/control-plane/organizations/:org_id/overview", {
      params,
      query: { window: Schema.optionalKey(Window) },
      success: OrganizationOverview,
      error: Problems.errors("organization_not_found", "rate_limit_exceeded")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Count the deliveries and invoices of an organization",
        description:
          "`window` of the deliveries defaults to `24h`. Counts of failures and of invoices are of 24 hours over any window. An account may ask for counts twice a second."
      })
    )
  )
  .middleware(ParameterValidation)
  .add(
    HttpApiEndpoint.get("listInvoices", "/v1/control-plane/organizations/:org_id/invoices", {
      params,
      query: {
        ...Lists.pageQuery,
        status: Schema.optionalKey(InvoiceState.Status.annotate({ description: "Only invoices with this status." })),
        mode: Schema.optionalKey(Mode.Mode.annotate({ description: "Only invoices of this mode." })),
        ...Lists.timeQuery,
        ...invoiceFilters,
        ...Lists.metadataQuery,
        event_id: Schema.optionalKey(
          Schema.String.check(Schema.isNonEmpty({ message: "must not be empty" })).annotate({
            description: "Only the invoice of this event, `evt_…`."
          })
        ),
        idempotency_key: Schema.optionalKey(
          Fields.text(1, 255, {
            description: "Only the invoice that was submitted with this `Idempotency-Key`. Requires `mode`."
          })
        )
      },
      success: Lists.page("InvoiceList", Invoice.Invoice),
      error: Problems.errors("organization_not_found")
    })
      .middleware(ParameterValidation)
      .middleware(MetadataFilter)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the invoices of an organization",
          description:
            "The invoices of the organization, newest first. With `created_after`, the list shows an invoice only once no older one can appear, so a reader who follows it by the newest `created_at` as the next `created_after` misses none."
        })
      ),
    HttpApiEndpoint.get("get", "/v1/control-plane/organizations/:org_id", {
      params,
      success: Organization,
      error: Problems.errors("organization_not_found")
    }).annotateMerge(OpenApi.annotations({ summary: "Get an organization" })),
    HttpApiEndpoint.get("getInvoice", "/v1/control-plane/organizations/:org_id/invoices/:invoice_id", {
      params: invoiceParams,
      success: Invoice.Invoice,
      error: Problems.errors("organization_not_found", "invoice_not_found")
    }).annotateMerge(
      OpenApi.annotations({ summary: "Get an invoice of an organization", description: "An invoice of either mode." })
    ),
    HttpApiEndpoint.get("getInvoiceUpo", "/v1/control-plane/organizations/:org_id/invoices/:invoice_id/upo", {
      params: invoiceParams,
      headers: Files.headers,
      success: Files.upo,
      error: Problems.errors("organization_not_found", "invoice_not_found", "upo_not_available")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Download the official receipt (UPO) of an invoice of an organization",
        description: "Returns the stored bytes, or 304 if `If-None-Match` has its `ETag`."
      })
    ),
    HttpApiEndpoint.get("getInvoiceDocument", "/v1/control-plane/organizations/:org_id/invoices/:invoice_id/document", {
      params: invoiceParams,
      headers: Files.headers,
      success: Files.document,
      error: Problems.errors("organization_not_found", "invoice_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Download the document of an invoice of an organization",
        description: "Returns the XML as it was submitted, byte for byte, or 304 if `If-None-Match` has its `ETag`."
      })
    ),
    HttpApiEndpoint.get("getInvoicePdf", "/v1/control-plane/organizations/:org_id/invoices/:invoice_id/pdf", {
      params: invoiceParams,
      headers: Files.headers,
      success: Files.pdf,
      error: Problems.errors("organization_not_found", "invoice_not_found", "pdf_not_available")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Draw an invoice of an organization as a PDF",
        description: Files.pdfDescription
      })
    ),
    HttpApiEndpoint.get("getLiveStatus", "/v1/control-plane/organizations/:org_id/live-status", {
      params,
      success: LiveStatus,
      error: Problems.errors("organization_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Describe the live mode of an organization",
        description:
          "The invoices that wait for the national system, those without a decision, and the calls used of its limits."
      })
    ),
    HttpApiEndpoint.get("getGatewayCredential", "/v1/control-plane/organizations/:org_id/gateway-credential", {
      params,
      success: GatewayCredential,
      error: Problems.errors("organization_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Describe the credential for the national system",
        description:
          "Whether a credential is stored, until when it is valid, and whether the national system accepts it. After it was stored, the server logs in with it, so that `state` is known within seconds."
      })
    ),
    HttpApiEndpoint.delete("deleteGatewayCredential", "/v1/control-plane/organizations/:org_id/gateway-credential", {
      params,
      success: HttpApiSchema.NoContent,
      error: Problems.errors("organization_not_found")
    }).annotateMerge(OpenApi.annotations({ summary: "Delete the credential for the national system" })),
    HttpApiEndpoint.get("getOfflineCertificate", "/v1/control-plane/organizations/:org_id/offline-certificate", {
      params,
      success: OfflineCertificate,
      error: Problems.errors("organization_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Describe the certificate for issuing invoices offline",
        description: "Whether a certificate is stored, whose it is, and until when it is valid."
      })
    ),
    HttpApiEndpoint.delete("deleteOfflineCertificate", "/v1/control-plane/organizations/:org_id/offline-certificate", {
      params,
      success: HttpApiSchema.NoContent,
      error: Problems.errors("organization_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Delete the certificate for issuing invoices offline",
        description:
          "Invoices that were issued with it keep their codes. No more are issued offline until another is stored."
      })
    )
  )
  .middleware(AccountAuthorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Organizations",
      description: "The owners of API keys, webhook endpoints and invoices."
    })
  ) {}
