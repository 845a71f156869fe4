/**
 * The sample invoice of each event type.
 *
 * @module
 */
import type { InvoiceEventType } from "../event.ts"
import { differences } from "./sampleDifferences.ts"

const verificationUrl =
  "https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U"

/** Returns the invoice for an event of this type and time, or `undefined` for an unknown type. */
export const sampleInvoice = (type: string, id: string, now: number) => {
  const samples = differences((seconds) => new Date(now - 3000 + seconds * 1000).toISOString())
  if (!Object.hasOwn(samples, type)) return undefined
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
    ...samples[type as InvoiceEventType]
  }
}
