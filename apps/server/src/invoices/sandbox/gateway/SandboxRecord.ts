/**
 * The sandbox's record of an invoice: reference, official number, receipt.
 *
 * All of it is derived from the invoice, so nothing is stored, and the same invoice always has the same number and the same
 * receipt, byte for byte. A field that the document lacks is replaced by a value of the right type.
 */
import { KsefNumber, Nip, PolishTime, ReferenceNumber, Upo } from "@govoice/ksef/format"
import { createHash } from "node:crypto"
import type { GatewayInvoice } from "./InvoiceGateway.ts"

/** The part of an invoice that the record is derived from. */
export type Source = Pick<GatewayInvoice, "createdAt" | "id" | "summary">

/**
 * The receiving entity of a sandbox receipt. KSeF's schema allows the plain name only, and its test environments break it
 * in the same way.
 */
export const receivingEntity = "Ministerstwo Finansów - sandbox Govoice (dokument testowy, bez mocy prawnej)"

/** Returns the reference number of the invoice. */
export const reference = (source: Source): string => referenceOf("invoice", source)

/** Returns the official number of the invoice. */
export const officialNumber = (source: Source): string =>
  KsefNumber.make({
    nip: nipOf(source),
    day: PolishTime.compactDay(source.createdAt),
    serial: serial("number", source, 12)
  })

/** Returns the receipt of the invoice, in UTF-8, without a signature. */
export const receipt = (source: Source): Uint8Array => {
  const { summary } = source
  const day = PolishTime.day(source.createdAt)
  const issueDate = summary.issueDate !== null && summary.issueDate >= firstIssueDate ? summary.issueDate : day
  const formCode = summary.formCode ?? "FA (3)"
  const schemaVersion = summary.schemaVersion ?? "1-0E"
  const timestamp = PolishTime.timestamp(source.createdAt)
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
          invoiceNumber: summary.invoiceNumber ?? "brak numeru",
          issueDate,
          sentAt: timestamp,
          numberedAt: timestamp,
          documentHash: Buffer.from(summary.sha256).toString("base64"),
          // KSeF calls an invoice offline that is dated before the day it arrives.
          mode: issueDate < day ? "Offline" : "Online"
        }
      ]
    })
  )
}

// The first date that the schema of the receipt allows.
const firstIssueDate = "2006-01-01"

const nipOf = ({ summary }: Source): string => summary.sellerNip ?? Nip.absent

const referenceOf = (kind: ReferenceNumber.Kind, source: Source): string =>
  ReferenceNumber.make(kind, { day: PolishTime.compactDay(source.createdAt), serial: serial(kind, source, 20) })

// The id distinguishes invoices, the use distinguishes the numbers of one invoice.
const serial = (use: string, { id }: Source, length: number): string =>
  createHash("sha256").update(`${use} of ${id}`).digest("hex").slice(0, length)
