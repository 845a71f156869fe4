/**
 * The developer API: submitting invoices, following them, downloading receipts.
 *
 * @module
 */
import type { CallOptions, Connection } from "./connection.ts"
import { DecodeError } from "./error.ts"
import type { ByteStream, FetchResponse } from "./fetch.ts"
import { jsonParts } from "./internal/jsonParts.ts"
import * as Kinds from "./internal/kinds.ts"
import { must } from "./internal/must.ts"
import { withoutBody } from "./internal/operation.ts"
import type { Invoice, Known, Me, SandboxScenario } from "./records.ts"

declare const crypto: { randomUUID(): string }
declare const Response: new (body: Uint8Array) => { readonly body: unknown; text(): Promise<string> }

/** An invoice to submit. */
export interface InvoiceSubmission {
  /** The invoice as a well-formed XML document without DOCTYPE, at most 1,000,000 bytes of UTF-8. Stored exactly. */
  readonly invoiceXml: string

  /** Your own notes, strings by name: at most 50 keys of at most 40 characters, values of at most 500. */
  readonly metadata?: Readonly<Record<string, string>> | undefined

  /**
   * How the sandbox treats the invoice. A live key ignores it.
   *
   * @default "accepted"
   */
  readonly sandboxScenario?: Known<SandboxScenario> | undefined
}

/** Bounds of a submission, and its key. */
export interface SubmitOptions extends CallOptions {
  /**
   * What makes two submissions the same one: 1 to 255 printable ASCII characters. Made here where it is left out, once
   * for all attempts; the result and every error have it.
   *
   * @default crypto.randomUUID()
   */
  readonly idempotencyKey?: string | undefined
}

/** An invoice that was submitted, and the key that it was submitted with. */
export interface SubmittedInvoice extends Invoice {
  readonly idempotencyKey: string
}

/** The official receipt of an invoice. It was read whole, so that nothing here can fail. */
export interface Upo {
  /** The document as text. */
  text(): Promise<string>
  /** The document, byte for byte as the service stored it. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>
  /** The bytes of the document as a `ReadableStream`. */
  stream(): ByteStream
}

/** Shows the API key that the connection has, and its organization. */
export const getMe: (connection: Connection, options?: CallOptions) => Promise<Me> = /* @__PURE__ */ withoutBody(
  "me",
  Kinds.me
)

/**
 * Submits an invoice. When it resolves, the service has stored the invoice for good.
 *
 * **Details**
 *
 * A failed attempt is repeated with the same `Idempotency-Key`, so that there is one invoice, however many attempts it
 * took. To go on after the process died, give a key of your own and submit the same again: the service answers with the
 * invoice of the first time.
 *
 * @throws {AnyGovoiceError} with the `idempotencyKey`; an `ApiError` such as `invalid_invoice_xml` when it was refused.
 * @throws {TypeError} when the key has other characters than printable ASCII.
 */
export const submitInvoice = async (
  connection: Connection,
  { sandboxScenario, ...body }: InvoiceSubmission,
  options: SubmitOptions = {}
): Promise<SubmittedInvoice> => {
  const { idempotencyKey = crypto.randomUUID() } = options
  // `fetch` would refuse other characters in a header too, and quote them.
  must("idempotencyKey", idempotencyKey, /^[ -~]+$/)
  const invoice = await connection["~send"]<Invoice>(
    "POST",
    "invoices",
    Kinds.invoice,
    { ...options, idempotencyKey },
    jsonParts(body, {
      "idempotency-key": idempotencyKey,
      ...(sandboxScenario && { "gov-sandbox-scenario": sandboxScenario })
    })
  )
  return { ...invoice, idempotencyKey }
}

/**
 * Shows where an invoice stands.
 *
 * @throws {AnyGovoiceError} an `ApiError` `invoice_not_found` when there is none with this identifier.
 */
export const getInvoice: (connection: Connection, id: string, options?: CallOptions) => Promise<Invoice> =
  /* @__PURE__ */ withoutBody("invoices/*", Kinds.invoice)

const readUpo = async (response: FetchResponse): Promise<Upo> => {
  if (!/xml/.test(response.headers.get("content-type")!)) throw new DecodeError("No valid XML")
  const bytes = new Uint8Array(await response.arrayBuffer())
  return {
    text: () => new Response(bytes).text(),
    bytes: async () => bytes,
    stream: () => new Response(bytes).body as ByteStream
  }
}

/**
 * Downloads the official receipt (UPO).
 *
 * **Details**
 *
 * It is read whole before this resolves, within the bounds of the call: a connection that breaks in the middle is an
 * attempt that failed, and no half receipt.
 *
 * @throws {AnyGovoiceError} an `ApiError` `upo_not_available` when there is none, or not yet: see `waitForUpo`.
 */
export const downloadUpo: (connection: Connection, id: string, options?: CallOptions) => Promise<Upo> =
  /* @__PURE__ */ withoutBody("invoices/*/upo", readUpo)
