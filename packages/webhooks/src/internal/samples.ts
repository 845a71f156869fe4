/**
 * The sample invoice of each event type.
 *
 * @module
 */
import type { InvoiceByEventType, InvoiceEventType } from "../event.ts"

type Sample = { readonly [Type in InvoiceEventType]: Partial<InvoiceByEventType[Type]> }

const officialNumber = "5265877635-20261120-0100A0B1C2D3-32"
const verificationUrl =
  "https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U"
const verified = { url: verificationUrl, label: officialNumber, certificate_url: null }

/** The members that differ from a received invoice. `t` returns the time so many seconds after its creation. */
const samples = (t: (seconds: number) => string) =>
  ({
    "invoice.received": {},
    "invoice.submitted": { status: "submitted", attempt_count: 1, submitted_at: t(1), updated_at: t(1) },
    "invoice.accepted": {
      status: "accepted",
      verification: verified,
      official_number: officialNumber,
      attempt_count: 1,
      submitted_at: t(1),
      completed_at: t(2),
      updated_at: t(2)
    },
    "invoice.upo_available": {
      status: "accepted",
      verification: verified,
      official_mode: "online",
      official_number: officialNumber,
      upo_available: true,
      attempt_count: 1,
      submitted_at: t(1),
      completed_at: t(2),
      updated_at: t(3)
    },
    "invoice.rejected": {
      status: "rejected",
      scenario: "rejected",
      rejection: { code: "sandbox_rejected", message: "The sandbox rejected the invoice, as its scenario says." },
      attempt_count: 1,
      submitted_at: t(1),
      completed_at: t(2),
      updated_at: t(2)
    },
    "invoice.failed": {
      status: "failed",
      scenario: "temporary_failure",
      failure: { code: "gateway_unavailable", message: "The sandbox gateway was unavailable, as its scenario says." },
      attempt_count: 3,
      completed_at: t(3),
      updated_at: t(3)
    }
  }) as const satisfies Sample

/** Returns the invoice for an event of this type and time, or `undefined` for an unknown type. */
export const sampleInvoice = (type: string, id: string, now: number) => {
  const differences = samples((seconds) => new Date(now - 3000 + seconds * 1000).toISOString())
  if (!Object.hasOwn(differences, type)) return undefined
  const received = new Date(now - 3000).toISOString()
  return {
    id,
    object: "invoice",
    mode: "test" as "test" | "live",
    status: "queued",
    scenario: "accepted",
    metadata: { order: "FV/2026/11/0042", customer: "Zakłady Żółta Łódź" },
    document: {
      form: "FA (3)",
      kind: "VAT",
      number: "FV/2026/11/0042",
      issue_date: "2026-11-20",
      currency: "PLN",
      total: "123.00",
      seller: { tax_id: "5265877635", name: "Sprzedawca Testowy" },
      buyer: { tax_id: "5260250274", name: "Nabywca Testowy" }
    },
    verification: { url: verificationUrl, label: "OFFLINE", certificate_url: null },
    invoicing_mode: "online" as "online" | "offline",
    official_mode: null,
    send_by: null,
    corrects: null,
    warnings: [],
    official_number: null,
    rejection: null,
    failure: null,
    upo_available: false,
    attempt_count: 0,
    next_attempt_at: null,
    created_at: received,
    updated_at: received,
    submitted_at: null,
    completed_at: null,
    ...differences[type as InvoiceEventType]
  }
}
