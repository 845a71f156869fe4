/**
 * The sandbox's record of an invoice: official number and receipt.
 *
 * All of it is derived from the invoice, so nothing is stored, and the same invoice always has the same number and the same
 * receipt, byte for byte. A field that the document lacks is replaced by a value of the right type.
 */
import { KsefNumber, Nip, PolishTime, ReferenceNumber, Upo } from "@govoice/ksef/format"
import { createHash } from "node:crypto"
import type { ClaimedInvoice } from "../ClaimedInvoice.ts"

/** The columns of an invoice and its document that the record is derived from. */
export type Source = Pick<
  ClaimedInvoice,
  | "created_at"
  | "form_code"
  | "id"
  | "invoice_number"
  | "invoicing_mode"
  | "issue_date"
  | "schema_version"
  | "seller_nip"
  | "sha256"
>

/**
 * The receiving entity of a sandbox receipt. KSeF's schema allows the plain name only, and its test environments break it
 * in the same way.
 */
export const receivingEntity = "Ministerstwo Finansów - sandbox Govoice (dokument testowy, bez mocy prawnej)"

/** Returns the official number of the invoice. */
export const officialNumber = (source: Source): string =>
  KsefNumber.make({
    nip: nipOf(source),
    day: PolishTime.compactDay(source.created_at.getTime()),
    serial: serial("number", source, 12)
  })

/** Returns the receipt of the invoice, in UTF-8, without a signature. */
export const receipt = (source: Source): Uint8Array => {
  const issueDate = issueDateOf(source)
  const formCode = source.form_code ?? "FA (3)"
  const schemaVersion = source.schema_version ?? "1-0E"
  const timestamp = PolishTime.timestamp(source.created_at.getTime())
  return new TextEncoder().encode(
    Upo.write({
      receivingEntity,
      sessionReference: referenceOf("session", source),
      context: { type: "Nip", value: nipOf(source) },
      tokenReference: referenceOf("token", source),
      loginDocumentHash: undefined,
      logicalStructure: `Schemat_${formCode.replaceAll(" ", "")}_v${schemaVersion}.xsd`,
      formCode,
      invoices: [
        {
          sellerNip: nipOf(source),
          ksefNumber: officialNumber(source),
          invoiceNumber: source.invoice_number ?? "brak numeru",
          issueDate,
          sentAt: timestamp,
          numberedAt: timestamp,
          documentHash: Buffer.from(source.sha256).toString("base64"),
          mode: isOffline(source) ? "Offline" : "Online"
        }
      ]
    })
  )
}

/** Returns whether the invoice is offline for KSeF: issued so, or dated before the day it arrives. */
export const isOffline = (source: Source): boolean =>
  source.invoicing_mode === "offline" || issueDateOf(source) < PolishTime.day(source.created_at.getTime())

const issueDateOf = ({ created_at, issue_date }: Source): string =>
  issue_date !== null && issue_date >= firstIssueDate ? issue_date : PolishTime.day(created_at.getTime())

// The first date that the schema of the receipt allows.
const firstIssueDate = "2006-01-01"

const nipOf = ({ seller_nip }: Source): string => seller_nip ?? Nip.absent

const referenceOf = (kind: ReferenceNumber.Kind, source: Source): string =>
  ReferenceNumber.make(kind, {
    day: PolishTime.compactDay(source.created_at.getTime()),
    serial: serial(kind, source, 20)
  })

// The id distinguishes invoices, the use distinguishes the numbers of one invoice.
const serial = (use: string, { id }: Source, length: number): string =>
  createHash("sha256").update(`${use} of ${id}`).digest("hex").slice(0, length)
