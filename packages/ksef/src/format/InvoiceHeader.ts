/**
 * The fields of an invoice document that are read before KSeF judges it.
 *
 * @since 0.1.0
 */
import * as StrictXml from "../xml/StrictXml.ts"
import * as XmlValues from "./XmlValues.ts"

/**
 * The fields. One that is missing or empty is `undefined`; none of them is checked. White space is collapsed as in an
 * `xsd:token`.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvoiceHeader {
  /** The namespace of the root element, empty where it has none. */
  readonly namespace: string
  /** `Podmiot1/DaneIdentyfikacyjne/NIP`: the tax number of the seller. */
  readonly sellerNip: string | undefined
  /** `Podmiot1/DaneIdentyfikacyjne/Nazwa`. */
  readonly sellerName: string | undefined
  /**
   * The tax number of the buyer, of `Podmiot2/DaneIdentyfikacyjne`: `NIP`, else `KodUE` and `NrVatUE` together, else `NrID`.
   */
  readonly buyerTaxId: string | undefined
  /** `Podmiot2/DaneIdentyfikacyjne/Nazwa`. */
  readonly buyerName: string | undefined
  /** `Fa/P_1`, in an FA_RR `FakturaRR/P_4B`: the date of issue. */
  readonly issueDate: string | undefined
  /** `Fa/P_2`, in an FA_RR `FakturaRR/P_4C`: the number of the invoice. */
  readonly invoiceNumber: string | undefined
  /** `RodzajFaktury`: the kind of invoice, such as `VAT` or `KOR`. */
  readonly kind: string | undefined
  /** `KodWaluty`: the currency. */
  readonly currency: string | undefined
  /** `Fa/P_15`, in an FA_RR `FakturaRR/P_12_1`: the total with tax, in the digits of the document. */
  readonly total: string | undefined
  /** `Naglowek/KodFormularza/@kodSystemowy`: the form, such as `FA (3)`. */
  readonly formCode: string | undefined
  /** `Naglowek/KodFormularza/@wersjaSchemy`: the version of the form's schema, such as `1-0E`. */
  readonly schemaVersion: string | undefined
  /** Whether there is a `Zalacznik`: an attachment, with which KSeF takes a document in a batch alone. */
  readonly hasAttachment: boolean
}

/**
 * A visitor for `StrictXml` that collects the header.
 *
 * @category models
 * @since 0.1.0
 */
export interface HeaderVisitor extends StrictXml.Visitor {
  /** Returns the header, up to where the document was read. */
  readonly header: () => InvoiceHeader
}

/**
 * Makes a visitor, for a caller that needs the header and the verdict of `StrictXml` from one pass. Elements are found by
 * their path below the root, whatever their prefix, and the first one counts. The text of a field is what stands directly
 * inside of its element.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeVisitor = (): HeaderVisitor => {
  const path: Array<string> = []
  const texts = new Map<string, string>()
  let namespace = ""
  let formCode: string | undefined
  let schemaVersion: string | undefined
  let hasAttachment = false
  // The field that is open, and the number of elements that are.
  let field: string | undefined
  let fieldDepth = 0
  const textAt = (place: string): string | undefined => collapsed(texts.get(place))

  return {
    open: (element) => {
      if (path.length === 0) namespace = element.namespace
      path.push(element.name)
      if (!fieldNames.has(element.name) || path.length > maxFieldDepth) return
      const place = path.slice(1).join("/")
      if (texts.has(place)) return
      if (place === attachment) {
        hasAttachment = true
        return
      }
      if (place === form) {
        formCode = element.attribute("kodSystemowy")
        schemaVersion = element.attribute("wersjaSchemy")
      } else if (!fields.has(place)) return
      texts.set(place, "")
      field = place
      fieldDepth = path.length
    },
    text: (text) => {
      if (field !== undefined && path.length === fieldDepth) texts.set(field, texts.get(field) + text)
    },
    close: () => {
      if (path.length === fieldDepth) field = undefined
      path.pop()
    },
    header: () => ({
      namespace,
      sellerNip: textAt("Podmiot1/DaneIdentyfikacyjne/NIP"),
      sellerName: textAt("Podmiot1/DaneIdentyfikacyjne/Nazwa"),
      buyerTaxId:
        textAt(`${buyer}/NIP`) ??
        vatNumber(textAt(`${buyer}/KodUE`), textAt(`${buyer}/NrVatUE`)) ??
        textAt(`${buyer}/NrID`),
      buyerName: textAt(`${buyer}/Nazwa`),
      issueDate: textAt("Fa/P_1") ?? textAt("FakturaRR/P_4B"),
      invoiceNumber: textAt("Fa/P_2") ?? textAt("FakturaRR/P_4C"),
      kind: textAt("Fa/RodzajFaktury") ?? textAt("FakturaRR/RodzajFaktury"),
      currency: textAt("Fa/KodWaluty") ?? textAt("FakturaRR/KodWaluty"),
      total: textAt("Fa/P_15") ?? textAt("FakturaRR/P_12_1"),
      formCode: collapsed(formCode),
      schemaVersion: collapsed(schemaVersion),
      hasAttachment
    })
  }
}

/**
 * Reads the header of a document. A document that is not well-formed has none.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (xml: string): InvoiceHeader => {
  const visitor = makeVisitor()
  return StrictXml.read(xml, visitor) === undefined ? visitor.header() : makeVisitor().header()
}

const attachment = "Zalacznik"
const form = "Naglowek/KodFormularza"
const buyer = "Podmiot2/DaneIdentyfikacyjne"
const fields: ReadonlySet<string> = new Set([
  "Podmiot1/DaneIdentyfikacyjne/NIP",
  "Podmiot1/DaneIdentyfikacyjne/Nazwa",
  ...["NIP", "KodUE", "NrVatUE", "NrID", "Nazwa"].map((name) => `${buyer}/${name}`),
  ...["P_1", "P_2", "RodzajFaktury", "KodWaluty", "P_15"].map((name) => `Fa/${name}`),
  ...["P_4B", "P_4C", "RodzajFaktury", "KodWaluty", "P_12_1"].map((name) => `FakturaRR/${name}`)
])
const fieldNames: ReadonlySet<string> = new Set(
  [attachment, form, ...fields].map((place) => place.slice(place.lastIndexOf("/") + 1))
)
const maxFieldDepth = 4

const vatNumber = (country: string | undefined, digits: string | undefined): string | undefined =>
  digits === undefined ? undefined : `${country ?? ""}${digits}`

const collapsed = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : XmlValues.collapsed(text) || undefined
