/**
 * The answers of KSeF about sessions and the invoices in them. Unknown members are ignored. Links with a signature of their
 * own are redacted, because they work without a login.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { nullable, Reference, Secret, SessionReference, Time } from "./Fields.ts"
import { Status } from "./LoginAnswers.ts"

/**
 * `openOnline`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const OnlineSessionOpened = Schema.Struct({ referenceNumber: SessionReference, validUntil: Time })

/**
 * How to upload one part of a batch.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PartUpload = Schema.Struct({
  ordinalNumber: Schema.Int,
  method: Schema.String,
  url: Secret,
  headers: Schema.Record(Schema.String, Schema.NullOr(Schema.String))
})

/**
 * How to upload one part of a batch, as a value.
 *
 * @category models
 * @since 0.1.0
 */
export type PartUpload = typeof PartUpload.Type

/**
 * `openBatch`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const BatchSessionOpened = Schema.Struct({
  referenceNumber: SessionReference,
  partUploadRequests: Schema.Array(PartUpload)
})

/**
 * `send`: the reference number of the invoice in its session.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InvoiceSent = Schema.Struct({ referenceNumber: Reference })

/**
 * `sessionStatus`. Counts are `null` rather than 0.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SessionStatus = Schema.Struct({
  status: Status,
  dateCreated: Time,
  dateUpdated: Time,
  validUntil: nullable(Time),
  invoiceCount: nullable(Schema.Int),
  successfulInvoiceCount: nullable(Schema.Int),
  failedInvoiceCount: nullable(Schema.Int),
  upo: nullable(
    Schema.Struct({
      pages: Schema.Array(
        Schema.Struct({
          referenceNumber: Reference,
          downloadUrl: Secret,
          downloadUrlExpirationDate: Time
        })
      )
    })
  )
})

/**
 * The status of an invoice. Of a duplicate, `extensions` name the original, but may be missing.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InvoiceVerdict = Schema.Struct({
  ...Status.fields,
  extensions: nullable(Schema.Record(Schema.String, Schema.NullOr(Schema.String)))
})

/**
 * `invoiceStatus`, and one entry of the lists of invoices.
 *
 * **Details**
 *
 * `invoiceHash` ties an entry to a document. `invoiceFileName` is given for batches. `permanentStorageDate` may follow
 * hours after the KSeF number.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InvoiceStatus = Schema.Struct({
  referenceNumber: Reference,
  invoiceHash: Schema.String,
  status: InvoiceVerdict,
  invoicingDate: Time,
  ksefNumber: nullable(Schema.String),
  invoiceFileName: nullable(Schema.String),
  acquisitionDate: nullable(Time),
  permanentStorageDate: nullable(Time),
  invoicingMode: nullable(Schema.String),
  upoDownloadUrl: nullable(Secret),
  upoDownloadUrlExpirationDate: nullable(Time)
})

/**
 * The status of an invoice, as a value.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoiceStatus = typeof InvoiceStatus.Type

/**
 * `sessionInvoices`. The continuation token asks for the next page; there is none on the last.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InvoicePage = Schema.Struct({
  continuationToken: nullable(Schema.String),
  invoices: Schema.Array(InvoiceStatus)
})
