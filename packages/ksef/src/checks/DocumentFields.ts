/**
 * The fields of a document that rules look at, and where they are.
 *
 * @since 0.1.0
 */
import { collapsed } from "../format/XmlValues.ts"
import type * as StrictXml from "../xml/StrictXml.ts"
import { checkedForms } from "./InvoiceForms.ts"

/**
 * A field: the text of an element.
 *
 * @category models
 * @since 0.1.0
 */
export interface Field {
  readonly path: string
  /** White space is collapsed. */
  readonly text: string
  /** Where the tag of the element begins in the text of the document. */
  readonly index: number
}

/**
 * The fields of a document.
 *
 * @category models
 * @since 0.1.0
 */
export interface DocumentFields {
  readonly root: { readonly name: string; readonly namespace: string; readonly index: number }
  readonly issueDate: Field | undefined
  /** The tax numbers of the parties, and the internal identifiers of third ones, in their order. */
  readonly identifiers: ReadonlyArray<Field>
}

/**
 * A visitor for `StrictXml` that collects the fields.
 *
 * @category models
 * @since 0.1.0
 */
export interface FieldsVisitor extends StrictXml.Visitor {
  readonly fields: () => DocumentFields
}

/**
 * Makes a visitor. The first one of a field counts, except for identifiers, of which every one does.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeVisitor = (): FieldsVisitor => {
  const path: Array<string> = []
  const identifiers: Array<MutableField & { readonly party: string; readonly occurrence: number }> = []
  // How often each child of the root has occurred.
  const counts = new Map<string, number>()
  let root: DocumentFields["root"] = { name: "", namespace: "", index: 0 }
  let issueDate: MutableField | undefined
  let current: MutableField | undefined

  const open = (element: StrictXml.Element): void => {
    if (path.length === 0) root = { name: element.name, namespace: element.namespace, index: element.index() }
    path.push(element.name)
    current = undefined
    if (path.length === 2) counts.set(element.name, (counts.get(element.name) ?? 0) + 1)
    if (!names.has(element.name) || path.length > maxFieldDepth) return
    const place = path.slice(1).join("/")
    if (issueDates.has(place) && issueDate === undefined) {
      current = issueDate = { path: path.join("/"), text: "", index: element.index() }
    } else if (identifierPlaces.has(place)) {
      const party = path[1]!
      const field = { path: path.join("/"), text: "", index: element.index(), party, occurrence: counts.get(party)! }
      identifiers.push(field)
      current = field
    }
  }

  return {
    open,
    text: (text) => {
      if (current !== undefined) current.text += text
    },
    close: () => {
      path.pop()
      current = undefined
    },
    fields: () => ({
      root,
      issueDate: issueDate && { ...issueDate, text: collapsed(issueDate.text) },
      identifiers: identifiers.map(({ index, occurrence, party, path, text }) => {
        const numbered = counts.get(party) === 1 ? path : path.replace(party, `${party}[${occurrence}]`)
        return { index, path: numbered, text: collapsed(text) }
      })
    })
  }
}

interface MutableField extends Field {
  text: string
}

const issueDates: ReadonlySet<string> = new Set(checkedForms.map(({ issueDate }) => issueDate))

const identifierPlaces: ReadonlySet<string> = new Set([
  ...["Podmiot1", "Podmiot2", "Podmiot3", "PodmiotUpowazniony"].map((party) => `${party}/DaneIdentyfikacyjne/NIP`),
  "Podmiot3/DaneIdentyfikacyjne/IDWew"
])

// With the root.
const maxFieldDepth = 4

const names: ReadonlySet<string> = new Set(
  [...issueDates, ...identifierPlaces].map((place) => place.split("/").at(-1)!)
)
