/** The national schemas and samples, and an invoice for tests of the sandbox. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { schemaFile } from "@govoice/ksef/schemas"
import type { GatewayInvoice } from "../../../../src/invoices/sandbox/gateway/InvoiceGateway.ts"
import * as InvoiceDocument from "../../../../src/invoices/xml/InvoiceDocument.ts"

const at = (path: string): URL => new URL(path, import.meta.url)
const text = (url: URL): string => readFileSync(url, "utf8")

const ksef = at("../../../../../../packages/ksef/test/fixtures/")

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
export const invoiceXml = text(at("../../../../../../examples/invoices/fa3-vat23.xml"))

export const summaryOf = (xml: string): InvoiceDocument.Summary =>
  InvoiceDocument.summarize(createHash("sha256").update(xml).digest(), InvoiceDocument.read(xml).header)

/** An invoice as the gateway sees it. */
export const invoice: GatewayInvoice = {
  id: "inv_01kakd3zz0e5ksv2c8f4n6q9rt",
  organizationId: "org_01kakd3zz0e5ksv2c8f4n6q9rt",
  mode: "test",
  scenario: "accepted",
  summary: summaryOf(invoiceXml),
  createdAt: Date.parse("2026-11-20T08:15:30.045Z"),
  attempt: 1,
  interrupted: false,
  reference: null
}

/** An invoice whose document has these parts. */
export const withXml = (parts: { nip?: string; p1?: string; p2?: string; form?: string }): GatewayInvoice => ({
  ...invoice,
  summary: summaryOf(
    `<Faktura xmlns="urn:x"><Naglowek>${parts.form ?? ""}</Naglowek>${
      parts.nip === undefined
        ? ""
        : `<Podmiot1><DaneIdentyfikacyjne><NIP>${parts.nip}</NIP></DaneIdentyfikacyjne></Podmiot1>`
    }<Fa>${parts.p1 === undefined ? "" : `<P_1>${parts.p1}</P_1>`}${parts.p2 === undefined ? "" : `<P_2>${parts.p2}</P_2>`}</Fa></Faktura>`
  )
})
