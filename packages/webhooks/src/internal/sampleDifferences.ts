/**
 * The members in which the sample invoice of each event type differs from a received one.
 *
 * Generated from @govoice/core by `packages/client/test/support/generate.ts`. Do not edit.
 *
 * @module
 */
import type { InvoiceByEventType } from "../event.ts"

/** Returns the differences. `at` returns the time so many seconds after the creation of the invoice. */
export const differences = (at: (seconds: number) => string) =>
  ({
    "invoice.received": {},
    "invoice.submitted": { status: "submitted", attempt_count: 1, submitted_at: at(1), updated_at: at(1) },
    "invoice.accepted": {
      status: "accepted",
      verification: {
        url: "https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U",
        label: "5265877635-20261120-0100A0B1C2D3-32",
        certificate_url: null
      },
      official_number: "5265877635-20261120-0100A0B1C2D3-32",
      attempt_count: 1,
      submitted_at: at(1),
      completed_at: at(2),
      updated_at: at(2)
    },
    "invoice.upo_available": {
      status: "accepted",
      verification: {
        url: "https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U",
        label: "5265877635-20261120-0100A0B1C2D3-32",
        certificate_url: null
      },
      official_mode: "online",
      official_number: "5265877635-20261120-0100A0B1C2D3-32",
      upo_available: true,
      attempt_count: 1,
      submitted_at: at(1),
      completed_at: at(2),
      updated_at: at(3)
    },
    "invoice.rejected": {
      status: "rejected",
      scenario: "rejected",
      rejection: { code: "sandbox_rejected", message: "The sandbox rejected the invoice, as its scenario says." },
      attempt_count: 1,
      submitted_at: at(1),
      completed_at: at(2),
      updated_at: at(2)
    },
    "invoice.failed": {
      status: "failed",
      scenario: "temporary_failure",
      failure: { code: "gateway_unavailable", message: "The sandbox gateway was unavailable, as its scenario says." },
      attempt_count: 3,
      completed_at: at(3),
      updated_at: at(3)
    }
  }) as const satisfies { readonly [Type in keyof InvoiceByEventType]: Partial<InvoiceByEventType[Type]> }
