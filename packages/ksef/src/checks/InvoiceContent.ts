/**
 * The members of an invoice that the rules of accounting look at, and where they are.
 *
 * @since 0.1.0
 */
import { collapsed } from "../format/XmlValues.ts"
import type * as StrictXml from "../xml/StrictXml.ts"
import type { Field } from "./DocumentFields.ts"

/**
 * A group of members: a party, a line, a corrected invoice, or the invoice itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Group {
  readonly path: string
  /** Where its tag begins in the text of the document. */
  readonly index: number
  /** By the names of their elements. The first one of a name counts. */
  readonly fields: ReadonlyMap<string, Field>
}

/**
 * The content of an invoice.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvoiceContent {
  /** `Fa`, or `FakturaRR` of an invoice of a flat-rate farmer. */
  readonly invoice: Group | undefined
  readonly buyer: Group | undefined
  readonly thirdParties: ReadonlyArray<Group>
  readonly lines: ReadonlyArray<Group>
  readonly correctedInvoices: ReadonlyArray<Group>
  readonly accounts: ReadonlyArray<Group>
}

/**
 * A visitor for `StrictXml` that collects the content.
 *
 * @category models
 * @since 0.1.0
 */
export interface ContentVisitor extends StrictXml.Visitor {
  readonly content: () => InvoiceContent
}

/**
 * Makes a visitor.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeVisitor = (): ContentVisitor => {
  const groups = new Map<string, Array<OpenGroup>>()
  const path: Array<string> = []
  // The groups that are open, the innermost last.
  const open: Array<OpenGroup> = []
  let current: { path: string; text: string; index: number } | undefined

  const of = (kind: string): ReadonlyArray<Group> => {
    const found = groups.get(kind) ?? []
    return found.map(({ fields, index, path }, position) => {
      const numbered = found.length > 1 ? `${path}[${position + 1}]` : path
      const texts = Array.from(
        fields,
        ([name, field]) => [name, { ...field, path: `${numbered}${field.path}`, text: collapsed(field.text) }] as const
      )
      return { path: numbered, index, fields: new Map(texts) }
    })
  }

  return {
    open: (element) => {
      path.push(element.name)
      current = undefined
      const group = open.at(-1)
      // Names are compared first: a path costs its length.
      if (groupNames.has(element.name) && path.length <= 4 && groupPlaces.has(path.slice(1).join("/"))) {
        const opened = { path: path.join("/"), depth: path.length, index: element.index(), fields: new Map() }
        const kind = path.at(-1)!
        const siblings = groups.get(kind) ?? []
        siblings.push(opened)
        groups.set(kind, siblings)
        open.push(opened)
      } else if (
        group !== undefined &&
        members.has(element.name) &&
        isMember(path, group.depth) &&
        !group.fields.has(element.name)
      ) {
        current = { path: `/${path.slice(group.depth).join("/")}`, text: "", index: element.index() }
        group.fields.set(element.name, current)
      }
    },
    text: (text) => {
      if (current !== undefined) current.text += text
    },
    close: () => {
      if (open.at(-1)?.depth === path.length) open.pop()
      path.pop()
      current = undefined
    },
    content: () => ({
      invoice: of("Fa")[0] ?? of("FakturaRR")[0],
      buyer: of("Podmiot2")[0],
      thirdParties: of("Podmiot3"),
      lines: [...of("FaWiersz"), ...of("FakturaRRWiersz")],
      correctedInvoices: of("DaneFaKorygowanej"),
      accounts: of("RachunekBankowy")
    })
  }
}

interface OpenGroup extends Group {
  /** How many elements are open inside of it. */
  readonly depth: number
  readonly fields: Map<string, { path: string; text: string; index: number }>
}

const groupPlaces: ReadonlySet<string> = new Set([
  "Podmiot2",
  "Podmiot3",
  "Fa",
  "Fa/FaWiersz",
  "Fa/DaneFaKorygowanej",
  "Fa/Platnosc/RachunekBankowy",
  "FakturaRR",
  "FakturaRR/FakturaRRWiersz",
  "FakturaRR/DaneFaKorygowanej"
])

const groupNames: ReadonlySet<string> = new Set(Array.from(groupPlaces, (place) => place.split("/").at(-1)!))

const members: ReadonlySet<string> = new Set(
  `KodUE NrVatUE KodKraju NrID JST GV Rola KodWaluty P_1 P_4B P_15 RodzajFaktury KursWalutyZ P_17
  P_13_1 P_13_2 P_13_3 P_13_4 P_13_5 P_13_6_1 P_13_6_2 P_13_6_3 P_13_7 P_13_8 P_13_9 P_13_10 P_13_11
  P_14_1 P_14_2 P_14_3 P_14_4 P_14_5 P_11_1 P_11_2 P_12_1
  NrWierszaFa P_8 P_10 P_11 P_11A P_12 KursWaluty StanPrzed DataWystFaKorygowanej NrKSeFN NrRB SWIFT`.split(/\s+/)
)

// The children of a group, and the identifiers of a party.
const isMember = (path: ReadonlyArray<string>, depth: number): boolean =>
  path.length === depth + 1 || (path.length === depth + 2 && nested.has(path[depth]!))

const nested: ReadonlySet<string> = new Set(["DaneIdentyfikacyjne", "Adnotacje"])
