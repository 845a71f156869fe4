/**
 * The developer API as one object with methods.
 *
 * @module
 * @since 0.1.0
 */
import { type Connection, createConnection } from "./connection.ts"
import { bind } from "./internal/bind.ts"
import { paced } from "./internal/paced.ts"
import {
  downloadDocument,
  downloadPdf,
  downloadQr,
  downloadUpo,
  getInvoice,
  getMe,
  type InvoiceSubmission,
  listSubmittedInvoices,
  submitInvoice,
  type SubmitOptions,
  type SubmittedInvoice,
  type SubmittedInvoiceListOptions
} from "./invoices.ts"
import type { Download, QrOptions } from "./download.ts"
import type { List } from "./list.ts"
import type { CallOptions, DeveloperOptions } from "./options.ts"
import type { Invoice, Me } from "./records.ts"
import { submitAndWait, type SubmitAndWaitOptions, waitForUpo, waitUntilFinal, type WaitOptions } from "./waiting.ts"

/**
 * The developer API. The methods do not use `this`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Client extends Connection {
  /**
   * Returns the API key of the client and its organization.
   *
   * @throws {AnyGovoiceError} an `ApiError` with code `missing_api_key` if the key is not valid.
   */
  readonly me: (options?: CallOptions) => Promise<Me>

  readonly invoices: {
    /**
     * Submits an invoice: a string is the document. Resolves after the service has stored it.
     *
     * Retries use the same idempotency key, so the call creates one invoice. To continue after a crash of your process,
     * pass `idempotencyKey` and submit the same invoice again.
     *
     * @throws {AnyGovoiceError} with the `idempotencyKey`, such as an `ApiError` with code `invalid_invoice_xml`.
     * @throws {TypeError} if `idempotencyKey` has characters other than printable ASCII, or a member is in snake_case.
     */
    readonly submit: (submission: InvoiceSubmission | string, options?: SubmitOptions) => Promise<SubmittedInvoice>

    /**
     * Returns an invoice.
     *
     * @throws {AnyGovoiceError} an `ApiError` with code `invoice_not_found` if there is no such invoice for this API key.
     */
    readonly get: (id: string, options?: CallOptions) => Promise<Invoice>

    /**
     * Lists the invoices of the organization and the mode of the API key, newest first unless `order` is `"asc"`.
     *
     * Iterates over all pages: `for await (const invoice of client.invoices.list({ status: "rejected" }))`. `number`,
     * `officialNumber`, `buyerTaxId` and `sellerTaxId` are exact; `metadata` finds invoices that have all of its values. To miss no invoice, read the pages of `list({ order: "asc" })` with `page(cursor)`:
     * the `nextCursor` of the last one continues later.
     */
    readonly list: (options?: SubmittedInvoiceListOptions) => List<Invoice>

    /**
     * Waits until the status of an invoice is final. Resolves with the invoice: accepted, rejected or failed.
     *
     * Polls with increasing delays up to 5 s, for at most `deadlineMs` (10 minutes by default).
     *
     * @throws {TimeoutError} with the last known `invoice`. The call can be made again.
     * @throws {AnyGovoiceError} such as an `ApiError` with code `invoice_not_found`.
     */
    readonly waitUntilFinal: (id: string, options?: WaitOptions) => Promise<Invoice>

    /**
     * Waits until the official receipt (UPO) of an invoice can be downloaded. Resolves with the invoice.
     *
     * Polls with increasing delays up to 5 s, for at most `deadlineMs` (10 minutes by default).
     *
     * @throws {UpoUnavailableError} with the `invoice` if it is rejected or failed.
     * @throws {TimeoutError} with the last known `invoice`. The call can be made again.
     * @throws {AnyGovoiceError} such as an `ApiError` with code `invoice_not_found`.
     */
    readonly waitForUpo: (id: string, options?: WaitOptions) => Promise<Invoice>

    /**
     * Downloads the official receipt (UPO) of an invoice. Resolves after all of it was read.
     *
     * @throws {AnyGovoiceError} an `ApiError` with code `upo_not_available` if there is no receipt yet: call `waitForUpo`
     * first.
     */
    readonly downloadUpo: (id: string, options?: CallOptions) => Promise<Download>

    /**
     * Downloads the document of an invoice as it was submitted, byte for byte. Resolves after all of it was read.
     *
     * @throws {AnyGovoiceError} an `ApiError` with code `invoice_not_found` if there is no such invoice for this API key.
     */
    readonly document: (id: string, options?: CallOptions) => Promise<Download>

    /**
     * Draws an invoice as a PDF: what its document says, in Polish and English, with its QR codes. It is a visualization; the
     * invoice is the document.
     *
     * @throws {AnyGovoiceError} an `ApiError` with code `pdf_not_available` if no PDF is made of this document.
     */
    readonly pdf: (id: string, options?: CallOptions) => Promise<Download>

    /**
     * Draws a QR code that the seller prints on the invoice, with the text that belongs below it: SVG, or PNG with
     * `{ format: "png" }`.
     *
     * @throws {AnyGovoiceError} an `ApiError` with code `verification_not_available` if the invoice has no such code.
     */
    readonly qr: (id: string, options?: QrOptions) => Promise<Download>

    /**
     * Submits an invoice and waits until its status is final. Resolves with the invoice: accepted, rejected or failed.
     *
     * @throws {AnyGovoiceError} the errors of `submit` and `waitUntilFinal`, with the `idempotencyKey`. The same call with
     * this key continues.
     */
    readonly submitAndWait: (
      submission: InvoiceSubmission | string,
      options?: SubmitAndWaitOptions
    ) => Promise<SubmittedInvoice>
  }
}

/**
 * Creates a client of the developer API.
 *
 * **Example** (Submitting an invoice)
 *
 * ```ts
 * import { createClient } from "@govoice/client"
 *
 * const client = createClient({ apiKey: "sk_test_…", baseUrl: "https://api.example.com" })
 *
 * const { id } = await client.invoices.submit({ invoiceXml: "<Faktura>…</Faktura>" })
 * const { officialNumber, status } = await client.invoices.waitUntilFinal(id)
 * ```
 *
 * @throws {TypeError} if an option is unknown or invalid.
 * @category constructors
 * @since 0.1.0
 */
export const createClient = (options: DeveloperOptions): Client => {
  const connection: Connection = { "~send": paced(createConnection(options)["~send"]) }
  return {
    ...connection,
    me: bind(connection, getMe),
    invoices: {
      submit: bind(connection, submitInvoice),
      get: bind(connection, getInvoice),
      list: bind(connection, listSubmittedInvoices),
      waitUntilFinal: bind(connection, waitUntilFinal),
      waitForUpo: bind(connection, waitForUpo),
      downloadUpo: bind(connection, downloadUpo),
      document: bind(connection, downloadDocument),
      pdf: bind(connection, downloadPdf),
      qr: bind(connection, downloadQr),
      submitAndWait: bind(connection, submitAndWait)
    }
  }
}
