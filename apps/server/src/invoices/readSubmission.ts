/**
 * Reads the body of a submission: decodes and checks it, and computes all that is stored of it.
 *
 * This is everything that takes time in proportion to the body, in one function, so that a thread can do it. It depends on
 * nothing but the body.
 */
import {
  CanonicalRequest,
  type Invoice,
  InvoiceXml,
  Metadata,
  type Mode,
  type SandboxScenario,
  Text
} from "@govoice/core"
import { hash } from "node:crypto"
import { parseJson } from "./parseJson.ts"
import * as InvoiceDocument from "./xml/InvoiceDocument.ts"

/** The parts of a submission besides its body. */
export interface SubmissionContext {
  readonly mode: Mode.Mode
  /** The effective scenario of a test submission, `null` for a live one. */
  readonly scenario: SandboxScenario.Scenario | null
}

/** A submission that is valid. */
export interface ValidSubmission {
  readonly invoiceXml: string
  readonly metadata: Metadata.Metadata
  readonly invoicingMode: Invoice.InvoicingMode
  /** The invoice that this one corrects technically. */
  readonly correctsInvoiceId?: string
  readonly summary: InvoiceDocument.Summary
  /** The hash of the canonical request. */
  readonly requestHash: Uint8Array
}

/** The fault of a submission: an error code of the API, and the details that the catalog does not have. */
export interface SubmissionFault {
  readonly code:
    | "invalid_invoice_xml"
    | "invalid_metadata"
    | "invalid_parameter"
    | "invalid_request_body"
    | "unknown_parameter"
  readonly message?: string
  readonly param?: string
}

/** The result of reading. */
export type ReadSubmission =
  | { readonly _tag: "Valid"; readonly submission: ValidSubmission }
  | { readonly _tag: "Invalid"; readonly fault: SubmissionFault }

// For 4 MiB of small values, JSON.parse takes up to 90 MB of memory and 250 ms. A valid submission has a hundred values at most.
const maxValues = 250_000
const maxUncountedBytes = 64 * 1024

const quote = 0x22
const backslash = 0x5c
// { [ ,
const separators: ReadonlySet<number> = new Set([0x7b, 0x5b, 0x2c])

// Returns where a string ends whose first character is at `start`.
const endOfString = (json: Uint8Array, start: number): number => {
  for (let index = start; ;) {
    const end = json.indexOf(quote, index)
    if (end === -1) return json.length
    let backslashes = 0
    while (json[end - backslashes - 1] === backslash && end - backslashes - 1 >= index) backslashes++
    if (backslashes % 2 === 0) return end
    index = end + 1
  }
}

/** Returns whether JSON has more than `max` members, elements, objects and arrays. It is not checked otherwise. */
export const hasMoreValues = (json: Uint8Array, max: number): boolean => {
  let values = 0
  for (let index = 0; index < json.length; index++) {
    const byte = json[index]!
    if (byte === quote) index = endOfString(json, index + 1)
    else if (separators.has(byte) && ++values > max) return true
  }
  return false
}

const decoder = new TextDecoder("utf-8", { fatal: true })

const parseObject = (body: Uint8Array): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = parseJson(decoder.decode(body))
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}

const known: ReadonlySet<string> = new Set(["invoice_xml", "metadata", "invoicing_mode", "corrects_invoice_id"])

// The caller chooses the name: it can be as long as the body.
const unknownParameter = (name: string): SubmissionFault => {
  const shown = Text.truncate(name, 64)
  const param = shown === name ? name : `${shown}…`
  return {
    code: "unknown_parameter",
    param,
    message: `Unknown parameter ${JSON.stringify(param)}. Correct its name or remove it.`
  }
}

const invalidMode = (message: string): SubmissionFault => ({
  code: "invalid_parameter",
  param: "invoicing_mode",
  message
})

const invalidCorrection = (rule: string): SubmissionFault => ({
  code: "invalid_parameter",
  param: "corrects_invoice_id",
  message: `corrects_invoice_id: ${rule}`
})

const invalid = (fault: SubmissionFault): ReadSubmission => ({ _tag: "Invalid", fault })

const sha256 = (text: string): Uint8Array => hash("sha256", text, "buffer")

/** Reads a body. Cheap checks come first. */
export const readSubmission = (body: Uint8Array, { mode, scenario }: SubmissionContext): ReadSubmission => {
  if (body.byteLength > maxUncountedBytes && hasMoreValues(body, maxValues)) {
    return invalid({ code: "invalid_request_body", message: "The request body has more than 250,000 values." })
  }
  const members = parseObject(body)
  if (members === undefined) return invalid({ code: "invalid_request_body" })
  const unknown = Object.keys(members).find((name) => !known.has(name))
  if (unknown !== undefined) return invalid(unknownParameter(unknown))

  const { invoice_xml: given, invoicing_mode: givenMode, metadata: givenMetadata } = members
  const outerFault = InvoiceXml.fault(given)
  if (outerFault !== undefined) return invalid({ code: "invalid_invoice_xml", message: outerFault })
  // Null is the same as an absent member.
  const metadata = (givenMetadata ?? {}) as Metadata.Metadata
  const metadataFault = Metadata.fault(metadata)
  if (metadataFault !== undefined) return invalid({ code: "invalid_metadata", message: metadataFault })
  const invoicingMode = givenMode ?? "online"
  if (invoicingMode !== "online" && invoicingMode !== "offline") {
    return invalid(invalidMode('invoicing_mode: must be "online" or "offline".'))
  }
  const correctsInvoiceId = members["corrects_invoice_id"] ?? undefined
  if (correctsInvoiceId !== undefined && typeof correctsInvoiceId !== "string") {
    return invalid(invalidCorrection("must be the identifier of an invoice, inv_…."))
  }
  if (correctsInvoiceId !== undefined && invoicingMode !== "offline") {
    return invalid(invalidCorrection('requires invoicing_mode "offline".'))
  }
  const invoiceXml = given as string
  const { fault, header } = InvoiceDocument.read(invoiceXml)
  if (fault !== undefined) return invalid({ code: "invalid_invoice_xml", message: fault })
  const summary = InvoiceDocument.summarize(sha256(invoiceXml), header)
  if (correctsInvoiceId !== undefined && summary.hasAttachment) {
    return invalid(
      invalidCorrection(
        "allows no attachment (Zalacznik): KSeF accepts technical corrections only in interactive sessions."
      )
    )
  }
  if (invoicingMode === "offline" && (summary.sellerNip === null || summary.issueDate === null)) {
    return invalid(
      invalidMode(
        "invoicing_mode: offline requires a document with the NIP of the seller and the date of issue (P_1), which the QR codes contain."
      )
    )
  }

  return {
    _tag: "Valid",
    submission: {
      invoiceXml,
      metadata,
      invoicingMode,
      ...(correctsInvoiceId === undefined ? {} : { correctsInvoiceId }),
      summary,
      requestHash: CanonicalRequest.hash(
        { mode, scenario, invoiceXml, invoicingMode, correctsInvoiceId, metadata },
        sha256
      )
    }
  }
}
