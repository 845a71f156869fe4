/** The national schemas and samples, and an invoice for tests of the sandbox. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { schemaFile } from "@govoice/ksef/schemas"
import type { ClaimedInvoice } from "../../../src/invoices/ClaimedInvoice.ts"
import * as InvoiceDocument from "../../../src/invoices/xml/InvoiceDocument.ts"

const at = (path: string): URL => new URL(path, import.meta.url)
const text = (url: URL): string => readFileSync(url, "utf8")

const ksef = at("../../../../../packages/ksef/test/fixtures/")

/** The schema of the receipt. */
export const upoSchema = text(new URL("upo/upo-v4-3.xsd", ksef))

/** The receipts that the Ministry published as samples, by file name. */
export const upoSamples: ReadonlyMap<string, string> = new Map(
  readdirSync(new URL("upo/przyklady/", ksef)).map((file) => [file, text(new URL(`upo/przyklady/${file}`, ksef))])
)

/** The schema of the invoice, and what it imports, by the address it imports it from. */
export const invoiceSchema = schemaFile("schemat_FA(3)_v1-0E.xsd")
export const importedSchemas: ReadonlyMap<string, string> = new Map(
  (["ElementarneTypyDanych_v10-0E.xsd", "KodyKrajow_v10-0E.xsd", "StrukturyDanych_v10-0E.xsd"] as const).map((file) => [
    `http://crd.gov.pl/xml/schematy/dziedzinowe/mf/2022/01/05/eD/DefinicjeTypy/${file}`,
    schemaFile(file)
  ])
)

/** The invoice of the examples. */
export const invoiceXml = text(at("../../../../../examples/invoices/fa3-vat23.xml"))

/** The columns of a document. */
export const documentOf = (xml: string) => {
  const summary = InvoiceDocument.summarize(createHash("sha256").update(xml).digest(), InvoiceDocument.read(xml).header)
  return {
    sha256: summary.sha256,
    seller_nip: summary.sellerNip,
    issue_date: summary.issueDate,
    invoice_number: summary.invoiceNumber,
    form_code: summary.formCode,
    schema_version: summary.schemaVersion
  }
}

const createdAt = new Date("2026-11-20T08:15:30.045Z")

/** A new invoice as the worker reads it. */
export const invoice: ClaimedInvoice = {
  id: "inv_01kakd3zz0e5ksv2c8f4n6q9rt",
  organization_id: "org_01kakd3zz0e5ksv2c8f4n6q9rt",
  mode: "test",
  status: "queued",
  scenario: "accepted",
  metadata: {},
  document: null,
  verification_url: null,
  certificate_url: null,
  invoicing_mode: "online",
  official_mode: null,
  send_by: null,
  corrects: null,
  warnings: null,
  official_number: null,
  rejection: null,
  failure: null,
  upo_available: false,
  attempt_count: 0,
  next_attempt_at: null,
  created_at: createdAt,
  updated_at: createdAt,
  submitted_at: null,
  completed_at: null,
  traceparent: null,
  ...documentOf(invoiceXml)
}

/** An invoice whose document has these parts. */
export const withXml = (parts: { nip?: string; p1?: string; p2?: string; form?: string }): ClaimedInvoice => ({
  ...invoice,
  ...documentOf(
    `<Faktura xmlns="urn:x"><Naglowek>${parts.form ?? ""}</Naglowek>${
      parts.nip === undefined
        ? ""
        : `<Podmiot1><DaneIdentyfikacyjne><NIP>${parts.nip}</NIP></DaneIdentyfikacyjne></Podmiot1>`
    }<Fa>${parts.p1 === undefined ? "" : `<P_1>${parts.p1}</P_1>`}${parts.p2 === undefined ? "" : `<P_2>${parts.p2}</P_2>`}</Fa></Faktura>`
  )
})
