/**
 * What the sandbox's system keeps of an invoice it has taken: references, official number, receipt.
 *
 * Everything is derived from the invoice, so nothing is kept at all: the same invoice has the same number and the same
 * receipt, byte for byte, whenever and wherever they are asked for. What the document lacks is replaced by something
 * of the right type.
 *
 * @since 0.1.0
 */
import { createHash } from "node:crypto"
import * as InvoiceDocument from "../../xml/InvoiceDocument.ts"
import type { GatewayInvoice } from "../InvoiceGateway.ts"
import * as OfficialNumber from "./OfficialNumber.ts"
import * as PolishTime from "./PolishTime.ts"
import * as ReferenceNumber from "./ReferenceNumber.ts"
import * as Upo from "./Upo.ts"

/**
 * The part of an invoice that everything is derived from.
 *
 * @category models
 * @since 0.1.0
 */
export type Source = Pick<GatewayInvoice, "id" | "createdAt" | "invoiceXml">

/**
 * The reference number of the invoice.
 *
 * @category getters
 * @since 0.1.0
 */
export const reference = (source: Source): string => referenceOf("invoice", source)

/**
 * The official number of the invoice.
 *
 * @category getters
 * @since 0.1.0
 */
export const officialNumber = (source: Source): string => numberFor(source, InvoiceDocument.fields(source.invoiceXml))

/**
 * The receipt of the invoice, in UTF-8.
 *
 * @category getters
 * @since 0.1.0
 */
export const receipt = (source: Source): Uint8Array => {
  const fields = InvoiceDocument.fields(source.invoiceXml)
  const day = PolishTime.day(source.createdAt)
  const issueDate = isDate(fields.issueDate) ? fields.issueDate : day
  const formCode = shortened(fields.formCode, 50) ?? "FA (3)"
  const schemaVersion = shortened(fields.schemaVersion, 50) ?? "1-0E"
  const moment = PolishTime.timestamp(source.createdAt)
  return new TextEncoder().encode(
    Upo.render({
      sessionReference: referenceOf("session", source),
      contextNip: nipOf(fields),
      tokenReference: referenceOf("token", source),
      logicalStructure: `Schemat_${formCode.replaceAll(" ", "")}_v${schemaVersion}.xsd`,
      formCode,
      sellerNip: nipOf(fields),
      officialNumber: numberFor(source, fields),
      invoiceNumber: shortened(fields.invoiceNumber, 256) ?? "brak numeru",
      issueDate,
      sentAt: moment,
      numberedAt: moment,
      documentHash: createHash("sha256").update(source.invoiceXml, "utf8").digest("base64"),
      // The national system calls an invoice offline that is dated before the day it arrives.
      mode: issueDate < day ? "Offline" : "Online"
    })
  )
}

const nipOf = ({ sellerNip }: InvoiceDocument.Fields): string =>
  sellerNip !== undefined && /^[0-9]{10}$/.test(sellerNip) ? sellerNip : OfficialNumber.noNip

const numberFor = (source: Source, fields: InvoiceDocument.Fields): string =>
  OfficialNumber.make({
    nip: nipOf(fields),
    day: PolishTime.compactDay(source.createdAt),
    serial: serial("number", source, 12)
  })

const referenceOf = (kind: ReferenceNumber.Kind, source: Source): string =>
  ReferenceNumber.make(kind, { day: PolishTime.compactDay(source.createdAt), serial: serial(kind, source, 20) })

// The id alone tells invoices apart; what the digits are for keeps those of one invoice apart.
const serial = (use: string, { id }: Source, length: number): string =>
  createHash("sha256").update(`${use} of ${id}`).digest("hex").slice(0, length)

// A day that exists, in the range that the schema of the receipt allows.
const isDate = (text: string | undefined): text is string =>
  text !== undefined &&
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) &&
  text >= "2006-01-01" &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text)

// At most so many code points, and no space at the end that was inside before.
const shortened = (text: string | undefined, longest: number): string | undefined =>
  text && Array.from(text).slice(0, longest).join("").replace(/ $/, "")
