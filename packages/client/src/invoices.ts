/**
 * The operations of the developer API.
 *
 * @module
 * @since 0.1.0
 */
import type { Connection } from "./connection.ts"
import { assertMatches, callOptions, checkOptions } from "./internal/checkOptions.ts"
import { jsonParts } from "./internal/jsonParts.ts"
import { withoutBody } from "./internal/operation.ts"
import { paced } from "./internal/paced.ts"
import * as Schemas from "./internal/schemas.ts"
import { type InvoiceNames, type List, list, type ListOptions } from "./list.ts"
import type { CallOptions } from "./options.ts"
import type { Invoice, InvoiceStatus, InvoicingMode, Known, Me, SandboxScenario } from "./records.ts"
import { type Download, qr, type QrOptions, readFile } from "./download.ts"

declare const crypto: { randomUUID(): string }

/**
 * An invoice to submit.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvoiceSubmission {
  /** A well-formed XML document without DOCTYPE, at most 1,000,000 bytes of UTF-8, 3,000,000 with attachments. Stored unchanged. */
  readonly invoiceXml: string

  /** Strings by name: at most 50 keys of at most 40 characters, values of at most 500. */
  readonly metadata?: Readonly<Record<string, string>> | undefined

  /**
   * `"offline"` for an invoice that the buyer gets before the national system has it. The result has the second QR code, which the
   * certificate of the organization signs.
   *
   * @default "online"
   */
  readonly invoicingMode?: Known<InvoicingMode> | undefined

  /**
   * For a technical correction: the rejected invoice, issued offline, whose place this one takes. Requires `invoicingMode`
   * `"offline"`.
   */
  readonly correctsInvoiceId?: string | undefined

  /**
   * The sandbox scenario of the invoice. Ignored for live keys.
   *
   * @default "accepted"
   */
  readonly sandboxScenario?: Known<SandboxScenario> | undefined

  /**
   * With `"schema"`, the document of a test key is checked like one of a live key in production: form, national rules, XML
   * schema. A violation is an `ApiError` with code `invalid_invoice_xml` that names line and column. Ignored for live keys.
   */
  readonly checks?: "schema" | undefined
}

/**
 * The options of a submission.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubmitOptions extends CallOptions {
  /**
   * Submissions with the same key are the same submission: 1 to 255 printable ASCII characters. The default is one new key
   * for all attempts of the call. The result and every error contain the key.
   *
   * @default crypto.randomUUID()
   */
  readonly idempotencyKey?: string | undefined
}

/**
 * A submitted invoice and its idempotency key.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubmittedInvoice extends Invoice {
  readonly idempotencyKey: string
}

/**
 * The filters and options of a list of submitted invoices.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubmittedInvoiceListOptions extends ListOptions, InvoiceNames {
  /**
   * `"asc"` for the oldest first. The last page then has a `nextCursor` too.
   *
   * @default "desc"
   */
  readonly order?: "asc" | "desc" | undefined
  /** Only invoices with this status. */
  readonly status?: Known<InvoiceStatus> | undefined
  /** Only invoices that were created at this time or later, ISO 8601 in UTC. */
  readonly createdAfter?: string | undefined
  /** Only invoices that were created before this time, ISO 8601 in UTC. */
  readonly createdBefore?: string | undefined
}

/**
 * Returns the API key of the connection and its organization.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `missing_api_key` if the key is not valid.
 * @category developer API
 * @since 0.1.0
 */
export const getMe: (connection: Connection, options?: CallOptions) => Promise<Me> = /* @__PURE__ */ withoutBody(
  "me",
  Schemas.me
)

/**
 * Submits an invoice: a string is the document. Resolves after the service has stored it.
 *
 * **Details**
 *
 * Retries use the same `Idempotency-Key`, so the call creates one invoice. To continue after a crash of your process, pass a
 * key of your own and submit the same invoice again: the service returns the first response.
 *
 * @throws {AnyGovoiceError} with the `idempotencyKey`, such as an `ApiError` with code `invalid_invoice_xml`.
 * @throws {TypeError} if an option is unknown or invalid, among them an `idempotencyKey` with characters other than printable
 * ASCII, or if a member of the invoice is in snake_case or belongs in the options.
 * @category developer API
 * @since 0.1.0
 */
export const submitInvoice = async (
  connection: Connection,
  submission: InvoiceSubmission | string,
  options: SubmitOptions = {}
): Promise<SubmittedInvoice> => {
  const { checks, sandboxScenario, ...body }: InvoiceSubmission =
    typeof submission === "string" ? { invoiceXml: submission } : { ...submission }
  const { idempotencyKey = crypto.randomUUID() } = checkOptions(options, `idempotencyKey ${callOptions}`)
  if ("idempotencyKey" in body)
    throw new TypeError("idempotencyKey belongs in the options: submit({ invoiceXml }, { idempotencyKey }).")
  // `fetch` rejects other characters in a header with an error that quotes the value.
  assertMatches(idempotencyKey, /^[ -~]+$/, "idempotencyKey must have 1 to 255 printable ASCII characters.")
  const parts = jsonParts(body, {
    "idempotency-key": idempotencyKey,
    ...(checks && { "gov-sandbox-checks": checks }),
    ...(sandboxScenario && { "gov-sandbox-scenario": sandboxScenario })
  })
  if (typeof body.invoiceXml !== "string")
    throw new TypeError("invoiceXml must be a string: the document of the invoice.")
  const invoice = await paced(connection["~send"])<Invoice>(
    "POST",
    "invoices",
    Schemas.invoice,
    { ...options, idempotencyKey },
    parts
  )
  return { ...invoice, idempotencyKey }
}

/**
 * Lists the invoices of the organization and the mode of the API key, newest first unless `order` is `"asc"`.
 *
 * **Details**
 *
 * With `order: "asc"` or `createdAfter`, the list shows an invoice only once no older one can appear, so a reader who follows it
 * misses none. Without `status`, because a status changes.
 *
 * `number`, `officialNumber`, `buyerTaxId` and `sellerTaxId` are exact. `metadata` finds invoices that have all of its values. A
 * filter may leave a page with fewer records than `limit`, or none,
 * although there are more: iteration continues until the last page.
 *
 * **Example** (Reconciling a day)
 *
 * ```ts
 * import { createConnection, listSubmittedInvoices } from "@govoice/client"
 *
 * const connection = createConnection({ apiKey: "sk_test_…", baseUrl: "https://api.example.com" })
 *
 * const createdAfter = "2026-11-21T00:00:00Z"
 * for await (const { metadata, status } of listSubmittedInvoices(connection, { createdAfter })) {
 *   console.log(metadata["order"], status)
 * }
 * ```
 *
 * **Example** (Finding an invoice by its number)
 *
 * ```ts
 * import { createConnection, listSubmittedInvoices } from "@govoice/client"
 *
 * const connection = createConnection({ apiKey: "sk_test_…", baseUrl: "https://api.example.com" })
 *
 * for await (const { id, status } of listSubmittedInvoices(connection, { number: "FV/2026/11/0042" })) {
 *   console.log(id, status)
 * }
 * ```
 *
 * **Example** (Following all invoices)
 *
 * ```ts
 * import { createConnection, listSubmittedInvoices } from "@govoice/client"
 *
 * const connection = createConnection({ apiKey: "sk_test_…", baseUrl: "https://api.example.com" })
 *
 * // Reads what was created since the last call, and returns where the next one continues.
 * export const follow = async (cursor?: string): Promise<string> => {
 *   for (;;) {
 *     const page = await listSubmittedInvoices(connection, { order: "asc", limit: 100 }).page(cursor)
 *     for (const { id, status } of page.data) console.log(id, status)
 *     cursor = page.nextCursor!
 *     if (!page.hasMore) return cursor
 *   }
 * }
 * ```
 *
 * @category developer API
 * @since 0.1.0
 */
export const listSubmittedInvoices: (connection: Connection, options?: SubmittedInvoiceListOptions) => List<Invoice> =
  /* @__PURE__ */ list("invoices", Schemas.invoice)

/**
 * Returns an invoice.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `invoice_not_found` if there is no such invoice for this API key.
 * @category developer API
 * @since 0.1.0
 */
export const getInvoice: (connection: Connection, id: string, options?: CallOptions) => Promise<Invoice> =
  /* @__PURE__ */ withoutBody("invoices/*", Schemas.invoice)

/**
 * Downloads the official receipt (UPO) of an invoice. Resolves after all of it was read.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `upo_not_available` if there is no receipt yet: call `waitForUpo` first.
 * @category developer API
 * @since 0.1.0
 */
export const downloadUpo: (connection: Connection, id: string, options?: CallOptions) => Promise<Download> =
  /* @__PURE__ */ withoutBody("invoices/*/upo", readFile)

/**
 * Downloads the document of an invoice as it was submitted, byte for byte. Resolves after all of it was read.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `invoice_not_found` if there is no such invoice for this API key.
 * @category developer API
 * @since 0.1.0
 */
export const downloadDocument: (connection: Connection, id: string, options?: CallOptions) => Promise<Download> =
  /* @__PURE__ */ withoutBody("invoices/*/document", readFile)

/**
 * Draws an invoice as a PDF: what its document says, in Polish and English, with its QR codes. It is a visualization; the invoice is
 * the document.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `pdf_not_available` if no PDF is made of this document.
 * @category developer API
 * @since 0.1.0
 */
export const downloadPdf: (connection: Connection, id: string, options?: CallOptions) => Promise<Download> =
  /* @__PURE__ */ withoutBody("invoices/*/pdf", readFile)

/**
 * Draws a QR code that the seller prints on the invoice, with the text that belongs below it.
 *
 * **Example** (Saving an image for printing)
 *
 * ```ts
 * import { createConnection, downloadQr } from "@govoice/client"
 * import { writeFile } from "node:fs/promises"
 *
 * const connection = createConnection({ apiKey: "sk_test_…", baseUrl: "https://api.example.com" })
 *
 * export const saveCode = async (id: string) => {
 *   const image = await downloadQr(connection, id, { format: "png" })
 *   await writeFile(`${id}.png`, await image.bytes())
 * }
 * ```
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `verification_not_available` if the invoice has no such code.
 * @category developer API
 * @since 0.1.0
 */
export const downloadQr: (connection: Connection, id: string, options?: QrOptions) => Promise<Download> =
  /* @__PURE__ */ qr("invoices/*")
