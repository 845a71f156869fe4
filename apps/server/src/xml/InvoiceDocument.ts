/**
 * The invoice document as the service sees it: XML that is taken or refused as a whole, and a few fields to read.
 *
 * The document is stored and handed on as it came. No schema is applied: whether an invoice is right is the national
 * system's business.
 *
 * @since 0.1.0
 */
import { InvoiceXml } from "@govoice/core"
import * as StrictXml from "./StrictXml.ts"

/**
 * Says what is wrong with a value given as the document, or `undefined` when nothing is. The sentence is meant for the
 * sender and names line and column where there are any.
 *
 * @category guards
 * @since 0.1.0
 */
export const fault = (value: unknown): string | undefined => {
  const outside = InvoiceXml.fault(value)
  if (outside !== undefined) return outside
  const inside = StrictXml.read(value as string)
  return inside && `invoice_xml ${inside.message} (line ${inside.line}, column ${inside.column}).`
}

/**
 * What is read of a document. A field that is not there, or empty, is `undefined`; none of them is checked. White space
 * is collapsed as in an `xsd:token`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fields {
  /** The namespace of the root element, empty where it has none. */
  readonly namespace: string
  /** `Podmiot1/DaneIdentyfikacyjne/NIP`: the tax number of the seller. */
  readonly sellerNip: string | undefined
  /** `Fa/P_1`: the date of issue. */
  readonly issueDate: string | undefined
  /** `Fa/P_2`: the number that the seller gave the invoice. */
  readonly invoiceNumber: string | undefined
  /** `Naglowek/KodFormularza/@kodSystemowy`: the form, such as `FA (3)`. */
  readonly formCode: string | undefined
  /** `Naglowek/KodFormularza/@wersjaSchemy`: the version of the form's schema, such as `1-0E`. */
  readonly schemaVersion: string | undefined
}

/**
 * Reads the fields of a document. Elements are found by their path below the root, whatever their prefix, and the first
 * one counts. A document that is not well-formed is read up to its fault.
 *
 * @category parsing
 * @since 0.1.0
 */
export const fields = (xml: string): Fields => {
  const path: Array<string> = []
  const texts = new Map<string, string>()
  let namespace = ""
  let formCode: string | undefined
  let schemaVersion: string | undefined
  let open: string | undefined

  StrictXml.read(xml, {
    open: (element) => {
      if (path.length === 0) namespace = element.namespace
      path.push(element.name)
      const place = path.length <= deepest ? path.slice(1).join("/") : ""
      if (places.has(place) && !texts.has(place)) {
        texts.set(place, "")
        open = place
      }
      if (place === "Naglowek/KodFormularza") {
        formCode ??= element.attribute("kodSystemowy")
        schemaVersion ??= element.attribute("wersjaSchemy")
      }
    },
    text: (text) => {
      if (open !== undefined) texts.set(open, `${texts.get(open)}${text}`)
    },
    close: () => {
      path.pop()
      open = undefined
    }
  })

  const read = (place: string): string | undefined => collapsed(texts.get(place))
  return {
    namespace,
    sellerNip: read(nip),
    issueDate: read(date),
    invoiceNumber: read(number),
    formCode: collapsed(formCode),
    schemaVersion: collapsed(schemaVersion)
  }
}

const nip = "Podmiot1/DaneIdentyfikacyjne/NIP"
const date = "Fa/P_1"
const number = "Fa/P_2"
const places: ReadonlySet<string> = new Set([nip, date, number])
const deepest = 4

// What a schema does with an `xsd:token`. Two steps, because one expression for both ends takes quadratic time.
const collapsed = (text: string | undefined): string | undefined =>
  text?.replace(/[\t\n\r ]+/g, " ").replace(/^ | $/g, "") || undefined
