/**
 * Handwritten records in wire format.
 */

/** An invoice that was accepted and has its receipt. */
export const acceptedInvoice = {
  id: "inv_01m7q5cqg0e6786ptds43fm4k3",
  object: "invoice",
  mode: "test",
  status: "accepted",
  scenario: "accepted",
  metadata: { order: "2026/11/0042", buyer: "Zażółć gęślą jaźń" },
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
  verification: {
    url: "https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U",
    label: "5265877635-20261120-0100A0B1C2D3-5F",
    certificate_url: null
  },
  invoicing_mode: "online",
  official_mode: "online",
  send_by: null,
  corrects: null,
  warnings: [
    {
      code: "total_differs",
      message:
        "Faktura/Fa/P_15: the amount due is 123.00, and the net values and taxes by rate (P_13, P_14) add up to 124.00.",
      line: 2,
      column: 1130
    },
    { code: "system_warning", message: "[W1] FA (3) ends soon.", line: null, column: null }
  ],
  official_number: "5265877635-20261120-0100A0B1C2D3-5F",
  rejection: null,
  failure: null,
  upo_available: true,
  attempt_count: 1,
  next_attempt_at: null,
  created_at: "2026-11-20T09:00:00.000Z",
  updated_at: "2026-11-20T09:00:03.021Z",
  submitted_at: "2026-11-20T09:00:01.007Z",
  completed_at: "2026-11-20T09:00:02.013Z"
}

/** The same invoice when it was submitted. */
export const queuedInvoice = {
  ...acceptedInvoice,
  status: "queued",
  document: null,
  verification: null,
  official_mode: null,
  warnings: [],
  official_number: null,
  upo_available: false,
  attempt_count: 0,
  updated_at: "2026-11-20T09:00:00.000Z",
  submitted_at: null,
  completed_at: null
}

/** An invoice in every status. */
export const invoices = [
  queuedInvoice,
  { ...queuedInvoice, status: "submitting", attempt_count: 1 },
  {
    ...queuedInvoice,
    status: "retrying",
    scenario: "temporary_failure",
    attempt_count: 1,
    failure: { code: "gateway_unavailable", message: "The gateway was unavailable." },
    next_attempt_at: "2026-11-20T09:00:02.000Z"
  },
  { ...queuedInvoice, status: "submitted", attempt_count: 1, submitted_at: "2026-11-20T09:00:01.007Z" },
  { ...queuedInvoice, mode: "live", scenario: null, metadata: {} },
  acceptedInvoice,
  {
    ...acceptedInvoice,
    status: "rejected",
    verification: {
      ...acceptedInvoice.verification,
      label: "OFFLINE",
      certificate_url:
        "https://qr-test.ksef.mf.gov.pl/certificate/Nip/5265877635/5265877635/01F20A5D352AE590/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U/signature"
    },
    invoicing_mode: "offline",
    official_mode: null,
    send_by: "2026-11-23",
    corrects: "inv_01m7q5cqg0e6786ptds43fm4k4",
    scenario: "rejected",
    official_number: null,
    upo_available: false,
    rejection: { code: "sandbox_rejected", message: "The invoice was rejected." }
  },
  {
    ...acceptedInvoice,
    status: "failed",
    scenario: "temporary_failure",
    official_mode: null,
    official_number: null,
    upo_available: false,
    attempt_count: 3,
    submitted_at: null,
    failure: { code: "gateway_unavailable", message: "The gateway was unavailable." }
  }
]

/** The body of a webhook request. */
export const acceptedEvent = {
  id: "evt_01m7q5cqg0e6786ptds43fm4k3",
  object: "event",
  type: "invoice.accepted",
  mode: "test",
  created_at: "2026-11-20T09:00:02.013Z",
  data: { invoice: { ...acceptedInvoice, upo_available: false, updated_at: "2026-11-20T09:00:02.013Z" } }
}
