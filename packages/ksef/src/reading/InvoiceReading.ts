/**
 * The content of an invoice document for a person: FA (2), FA (3) and FA_RR (1).
 *
 * Nothing is judged or computed. What stands in no section of its own is in the section `other`; only marks that every invoice has,
 * and that say no, are left out. Reading takes time in proportion to the document.
 *
 * @since 0.1.0
 */
import { collapsed } from "../format/whiteSpace.ts"
import { formCodes } from "../protocol/FormCode.ts"
import * as StrictXml from "../xml/StrictXml.ts"
import * as Labels from "./Labels.ts"

export type { Label } from "./Labels.ts"

/**
 * One value of the document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fact {
  /** The name of its element. */
  readonly name: string
  readonly label: Labels.Label
  /** As the document has it, white space collapsed, at most `maxValueLength` characters. */
  readonly value: string
  /** What the value of a code list means. */
  readonly meaning?: Labels.Label | undefined
  /** What the value is where it is no text. */
  readonly type?: Labels.ValueType | undefined
}

/**
 * A column of a table.
 *
 * @category models
 * @since 0.1.0
 */
export interface Column {
  readonly label: Labels.Label
  readonly isNumber: boolean
}

/**
 * A row of a table: a cell for each column, and the facts that have no column.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly cells: ReadonlyArray<Cell>
  readonly facts: ReadonlyArray<Fact>
  /** A row of sums below the others. */
  readonly isSum?: boolean
}

/**
 * A cell: text of the document, words in both languages, or nothing.
 *
 * @category models
 * @since 0.1.0
 */
export type Cell = string | Labels.Label | undefined

/**
 * A table.
 *
 * @category models
 * @since 0.1.0
 */
export interface Table {
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<Row>
}

/**
 * What belongs together below a heading.
 *
 * @category models
 * @since 0.1.0
 */
export interface Group {
  readonly label: Labels.Label
  readonly facts: ReadonlyArray<Fact>
  /** Text of the document that runs over the whole width. */
  readonly paragraphs: ReadonlyArray<string>
  readonly tables: ReadonlyArray<Table>
  readonly groups: ReadonlyArray<Group>
}

/**
 * A party of the invoice.
 *
 * @category models
 * @since 0.1.0
 */
export interface Party {
  /** Its role: seller, buyer, or the role that the document names. */
  readonly label: Labels.Label
  readonly name: string | undefined
  readonly address: ReadonlyArray<string>
  readonly facts: ReadonlyArray<Fact>
}

/**
 * The sections, in the order in which they are read.
 *
 * @category models
 * @since 0.1.0
 */
export type SectionId =
  | "corrections"
  | "advances"
  | "lines"
  | "taxes"
  | "totals"
  | "settlement"
  | "payment"
  | "annotations"
  | "order"
  | "terms"
  | "notes"
  | "registers"
  | "attachments"
  | "other"

/**
 * A section. A section that the document has nothing for is absent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Section extends Group {
  readonly id: SectionId
}

/**
 * An invoice.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reading {
  readonly form: string
  readonly kind: Fact | undefined
  readonly number: string | undefined
  readonly currency: string | undefined
  /** The amount due, in the digits of the document. */
  readonly total: string | undefined
  /** Dates, place, period, exchange rate. */
  readonly details: ReadonlyArray<Fact>
  readonly parties: ReadonlyArray<Party>
  readonly sections: ReadonlyArray<Section>
  /** How many rows all tables have. */
  readonly rowCount: number
}

/**
 * The longest value, in characters. The schemas allow 3,500.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxValueLength = 4000

/**
 * Reads a document. Returns `undefined` for one that is not well-formed or of another form.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (xml: string): Reading | undefined => {
  const root = parse(xml)
  const form = root && forms.get(root.namespace)
  return form === undefined ? undefined : toReading(form, root!)
}

const forms: ReadonlyMap<string, string> = new Map(
  (["FA (2)", "FA (3)", "FA_RR (1)"] as const).map((form) => [formCodes[form].namespace, form])
)

/** An element that has not been placed yet. */
interface Node {
  readonly name: string
  readonly parent: string
  readonly children: Array<Node>
  text: string
}

const parse = (xml: string): (Node & { readonly namespace: string }) | undefined => {
  const open: Array<Node> = []
  let root: Node | undefined
  let namespace = ""
  const fault = StrictXml.read(xml, {
    open: (element) => {
      const parent = open.at(-1)
      const node: Node = { name: element.name, parent: parent?.name ?? "", children: [], text: "" }
      parent?.children.push(node)
      open.push(node)
      if (root !== undefined) return
      root = node
      namespace = element.namespace
    },
    text: (text) => {
      const node = open.at(-1)
      // Longer than any value can be shown: white space is collapsed later.
      if (node !== undefined && node.text.length <= 4 * maxValueLength) node.text += text
    },
    close: () => void open.pop()
  })
  return fault === undefined && root !== undefined ? Object.assign(root, { namespace }) : undefined
}

const valueOf = (node: Node | undefined): string => {
  const value = collapsed(node?.text ?? "")
  return value.length > maxValueLength ? `${value.slice(0, maxValueLength - 1).toWellFormed()}…` : value
}

/** Takes elements out of their parent, so that what remains at the end has had no place. */
interface Source {
  readonly one: (name: string) => Node | undefined
  readonly all: (...names: ReadonlyArray<string>) => ReadonlyArray<Node>
  readonly rest: () => ReadonlyArray<Node>
}

const source = (nodes: ReadonlyArray<Node>): Source => {
  const byName = new Map<string, Array<Node>>()
  for (const node of nodes) {
    const same = byName.get(node.name)
    if (same === undefined) byName.set(node.name, [node])
    else same.push(node)
  }
  const all: Source["all"] = (...names) =>
    names.flatMap((name) => {
      const found = byName.get(name) ?? []
      byName.delete(name)
      return found
    })
  return {
    all,
    one: (name) => {
      const found = byName.get(name)
      if (found === undefined) return undefined
      // A second one that the schema does not allow stays for the section `other`.
      if (found.length === 1) byName.delete(name)
      else byName.set(name, found.slice(1))
      return found[0]
    },
    rest: () => [...byName.values()].flat()
  }
}

const toFact = (node: Node): Fact => {
  const { name, parent } = node
  const value = valueOf(node)
  return {
    name,
    label: Labels.of(name, parent),
    value,
    meaning: Labels.ofValue(name, value),
    type: Labels.typeOf(name, parent)
  }
}

const isLeaf = ({ children }: Node): boolean => children.length === 0

const isFilled = (node: Node): boolean => valueOf(node) !== ""

const facts = (nodes: ReadonlyArray<Node>): ReadonlyArray<Fact> => nodes.filter(isFilled).map(toFact)

// What reads as one fact: an address, and a term such as 14 days from the delivery.
const addressParts: ReadonlyArray<string> = ["AdresL1", "AdresL2", "KodKraju"]
const joined: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ...["Adres", "AdresKoresp", "AdresPrzewoznika", "WysylkaZ", "WysylkaPrzez", "WysylkaDo"].map(
    (name) => [name, addressParts] as const
  ),
  ["TerminOpis", ["Ilosc", "Jednostka", "ZdarzeniePoczatkowe"]]
])

// Their values say what they are without a heading.
const flat: ReadonlySet<string> = new Set([...joined.keys(), "TerminPlatnosci"])

const partsOf = (
  node: Node,
  names: ReadonlyArray<string>
): { readonly lines: ReadonlyArray<string>; readonly facts: ReadonlyArray<Fact> } => {
  const { all, rest } = source(node.children)
  const lines = all(...names)
    .map(valueOf)
    .filter(Boolean)
  return { lines, facts: [...ownText(node), ...factsBelow(rest())] }
}

/** The facts of elements and of all elements inside of them. */
const factsBelow = (nodes: ReadonlyArray<Node>): ReadonlyArray<Fact> =>
  nodes.flatMap((node) => {
    if (isLeaf(node)) return facts([node])
    const names = joined.get(node.name)
    if (names === undefined) return [...ownText(node), ...factsBelow(node.children)]
    const parts = partsOf(node, names)
    const { name, parent } = node
    const value = parts.lines.join(names === addressParts ? ", " : " ")
    return [...(value === "" ? [] : [{ name, label: Labels.of(name, parent), value }]), ...parts.facts]
  })

// An element that contains elements should have no text. If it does, it is shown.
const ownText = (node: Node): ReadonlyArray<Fact> => (isLeaf(node) || !isFilled(node) ? [] : [toFact(node)])

const emptyGroup = { facts: [], paragraphs: [], tables: [], groups: [] }

/** An element as a group: its values, and a group for each element that has some itself. */
const toGroup = (node: Node): Group => ({
  ...emptyGroup,
  label: Labels.of(node.name, node.parent),
  ...contentOf(node.children, ownText(node))
})

const contentOf = (nodes: ReadonlyArray<Node>, before: ReadonlyArray<Fact> = []): Pick<Group, "facts" | "groups"> => {
  const isPlain = (node: Node): boolean => isLeaf(node) || flat.has(node.name)
  return {
    facts: [...before, ...factsBelow(nodes.filter(isPlain))],
    groups: nodes.filter((node) => !isPlain(node)).map(toGroup)
  }
}

const supplier: Labels.Label = { pl: "Dostawca (rolnik ryczałtowy)", en: "Supplier (flat-rate farmer)" }

const toParty = (node: Node, isFarmers = false): Party => {
  const own = source(node.children)
  const [identity, ...otherIdentities] = own.all("DaneIdentyfikacyjne")
  const identification = source(identity?.children ?? [])
  const name = identification.one("Nazwa")
  const [first, ...otherAddresses] = own.all("Adres")
  const address = first && partsOf(first, addressParts)
  const role = own.one(node.name === "PodmiotUpowazniony" ? "RolaPU" : "Rola")
  const roleLabel = role && Labels.ofValue(role.name, valueOf(role))
  return {
    label: roleLabel ?? (isFarmers && node.name === "Podmiot1" ? supplier : Labels.of(node.name, node.parent)),
    name: valueOf(name) || undefined,
    address: address?.lines ?? [],
    facts: [
      ...ownText(node),
      ...(identity === undefined ? [] : ownText(identity)),
      ...(role !== undefined && roleLabel === undefined ? facts([role]) : []),
      ...factsBelow(identification.rest()),
      ...(address?.facts ?? []),
      ...factsBelow([...otherIdentities, ...otherAddresses, ...own.rest()]).filter((fact) => !isSilent(fact))
    ]
  }
}

/** Lines: columns for what the lines have of `names`, and facts for the rest. */
const lineTable = (lines: ReadonlyArray<Node>, names: ReadonlyArray<string>): Table => {
  const used = new Set(lines.flatMap(({ children }) => children.filter(isFilled).map(({ name }) => name)))
  const parent = lines[0]!.name
  const columns = names.filter((name) => used.has(name))
  return {
    columns: columns.map((name) => ({
      label: Labels.of(name, parent),
      isNumber: Labels.typeOf(name, parent) === "number"
    })),
    rows: lines.map((line) => {
      const own = source(line.children)
      const cells = columns.map((name) => {
        const node = own.one(name)
        const value = valueOf(node)
        return ratesInPercent.has(name) && /^\d+$/.test(value) ? `${value}%` : value || undefined
      })
      return { cells, facts: [...ownText(line), ...factsBelow(own.rest())] }
    })
  }
}

const ratesInPercent: ReadonlySet<string> = new Set(["P_12", "P_12Z"])

const columnsOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  FaWiersz: ["NrWierszaFa", "P_7", "P_8B", "P_8A", "P_9A", "P_9B", "P_10", "P_12", "P_11", "P_11Vat", "P_11A"],
  FakturaRRWiersz: ["NrWierszaFa", "P_5", "P_6B", "P_6A", "P_6C", "P_7", "P_8", "P_9", "P_10", "P_11"],
  ZamowienieWiersz: ["NrWierszaZam", "P_7Z", "P_8BZ", "P_8AZ", "P_9AZ", "P_12Z", "P_11NettoZ", "P_11VatZ"]
}

// The rates of the sums P_13_… and P_14_….
const rates: ReadonlyArray<readonly [suffix: string, rate: Labels.Label]> = [
  ["1", { pl: "23% lub 22%", en: "23% or 22%" }],
  ["2", { pl: "8% lub 7%", en: "8% or 7%" }],
  ["3", { pl: "5%", en: "5%" }],
  ["4", { pl: "4% lub 3% (ryczałt dla taksówek)", en: "4% or 3% (flat rate of taxis)" }],
  ["5", { pl: "procedura szczególna OSS", en: "special scheme OSS" }],
  ["6_1", { pl: "0% (kraj)", en: "0% (domestic)" }],
  ["6_2", { pl: "0% (WDT)", en: "0% (intra-Community supply)" }],
  ["6_3", { pl: "0% (eksport)", en: "0% (export)" }],
  ["7", { pl: "zwolniona od podatku", en: "exempt" }],
  ["8", { pl: "poza terytorium kraju", en: "outside Poland" }],
  ["9", { pl: "usługi z art. 100 ust. 1 pkt 4", en: "services under Art. 100(1)(4)" }],
  ["10", { pl: "odwrotne obciążenie", en: "reverse charge" }],
  ["11", { pl: "procedura marży", en: "margin scheme" }]
]

const taxColumns: ReadonlyArray<readonly [prefix: string, suffix: string, label: Labels.Label]> = [
  ["P_13_", "", { pl: "Wartość netto", en: "Net value" }],
  ["P_14_", "", { pl: "Kwota VAT", en: "VAT" }],
  ["P_14_", "W", { pl: "Kwota VAT w PLN", en: "VAT in PLN" }]
]

const taxTable = (invoice: Source): Table | undefined => {
  const rows = rates
    .map(([rate, label]) => ({
      label,
      cells: taxColumns.map(([prefix, suffix]) => valueOf(invoice.one(`${prefix}${rate}${suffix}`)) || undefined)
    }))
    .filter(({ cells }) => cells.some((cell) => cell !== undefined))
  if (rows.length === 0) return undefined
  const used = taxColumns.map((_, index) => rows.some(({ cells }) => cells[index] !== undefined))
  return {
    columns: [
      { label: { pl: "Stawka", en: "Rate" }, isNumber: false },
      ...taxColumns.filter((_, index) => used[index]).map(([, , label]) => ({ label, isNumber: true }))
    ],
    rows: rows.map(({ cells, label }) => ({ cells: [label, ...cells.filter((_, index) => used[index])], facts: [] }))
  }
}

// Marks that the schemas require of every invoice, where they say that there is nothing.
const isSilent = ({ name, value }: Fact): boolean =>
  (value === "2" && noMarks.has(name)) || (value === "1" && emptyMarks.has(name))

const noMarks: ReadonlySet<string> = new Set(["JST", "GV", "P_16", "P_17", "P_18", "P_18A", "P_42_5", "P_23"])

const emptyMarks: ReadonlySet<string> = new Set(["P_19N", "P_22N", "P_PMarzyN"])

/** Keys and values, as the pairs of a table. */
const pairs = (nodes: ReadonlyArray<Node>, names: ReadonlyArray<string>): Table | undefined =>
  nodes.length === 0 ? undefined : lineTable(nodes, names)

/** A block of the attachment: its heading, keys and values, paragraphs, and tables. */
const toBlock = (node: Node): Group => {
  const own = source(node.children)
  const heading = valueOf(own.one("ZNaglowek"))
  const label = heading === "" ? Labels.of(node.name, node.parent) : { pl: heading, en: heading }
  const metadata = pairs(own.all("MetaDane"), ["ZKlucz", "ZWartosc"])
  const text = own.all("Tekst").flatMap(({ children }) => children)
  const tables = own.all("Tabela")
  const rest = contentOf([...text.filter(({ name }) => name !== "Akapit"), ...own.rest()], ownText(node))
  return {
    ...emptyGroup,
    label,
    facts: rest.facts,
    paragraphs: text.filter(({ name }) => name === "Akapit").map(valueOf),
    tables: metadata === undefined ? [] : [metadata],
    groups: [...tables.map(toTableGroup), ...rest.groups]
  }
}

/** A table of the attachment, whose columns the document names. */
const toTableGroup = (node: Node): Group => {
  const own = source(node.children)
  const description = valueOf(own.one("Opis"))
  const metadata = pairs(own.all("TMetaDane"), ["TKlucz", "TWartosc"])
  const columnNodes = own.all("TNaglowek").flatMap(({ children }) => children)
  const heads = columnNodes
    .slice(0, maxColumns)
    .map((column) => valueOf(column.children.find(({ name }) => name === "NKom")))
  const rows = own.all("Wiersz").map((row) => toCells(row))
  const sums = own.all("Suma").map((row) => ({ ...toCells(row), isSum: true }))
  const width = [...rows, ...sums].reduce((widest, { cells }) => Math.max(widest, cells.length), heads.length)
  const columns = Array.from({ length: width }, (_, index) => {
    const head = heads[index] ?? ""
    return { label: { pl: head, en: head }, isNumber: false }
  })
  const rest = contentOf([...columnNodes.slice(maxColumns), ...own.rest()], ownText(node))
  return {
    ...emptyGroup,
    ...rest,
    label: description === "" ? Labels.of(node.name, node.parent) : { pl: description, en: description },
    tables: [
      ...(metadata === undefined ? [] : [metadata]),
      ...(width === 0 ? [] : [{ columns, rows: [...rows, ...sums] }])
    ]
  }
}

// As many as the schema allows. Each row of a table has a place for each column, so that one wide row would make all of them wide.
const maxColumns = 20

const toCells = (row: Node): Row => ({
  cells: row.children.slice(0, maxColumns).map((cell) => valueOf(cell) || undefined),
  facts: [...ownText(row), ...factsBelow(row.children.slice(maxColumns))]
})

const toReading = (form: string, root: Node): Reading => {
  const document = source(root.children)
  const header = source(document.one("Naglowek")?.children ?? [])
  // They say which form it is, as the namespace does.
  header.all("KodFormularza", "WariantFormularza")
  const node = document.one("Fa") ?? document.one("FakturaRR")
  const invoice = source(node?.children ?? [])
  const parties = document
    .all("Podmiot1", "Podmiot2", "Podmiot3", "PodmiotUpowazniony")
    .map((party) => toParty(party, form === "FA_RR (1)"))

  const kind = facts([...invoice.all("RodzajFaktury")])[0]
  const number = valueOf(invoice.one("P_2") ?? invoice.one("P_4C")) || undefined
  const currency = valueOf(invoice.one("KodWaluty")) || undefined
  const due = invoice.one("P_15") ?? invoice.one("P_12_1")
  const details = [
    ...factsBelow(invoice.all("P_1", "P_4B", "P_1M", "P_6", "P_4A", "OkresFa", "KursWalutyZ", "WZ")),
    ...factsBelow(header.all("DataWytworzeniaFa", "SystemInfo"))
  ]

  const sections: Array<Section> = []
  const add = (id: SectionId, name: string, content: Partial<Group>): void => {
    const section = { ...emptyGroup, ...content, id, label: sectionLabels[id] ?? Labels.of(name) }
    if (countOf(section) > 0) sections.push(section)
  }

  const corrected = [
    ...invoice.all("DaneFaKorygowanej").map(toGroup),
    ...invoice.all("Podmiot1K", "Podmiot2K").map(partyGroup)
  ]
  add("corrections", "", {
    facts: facts(
      invoice.all("PrzyczynaKorekty", "TypKorekty", "NrFaKorygowany", "OkresFaKorygowanej", "P_15ZK", "KursWalutyZK")
    ),
    groups: corrected
  })
  add("advances", "", { groups: invoice.all("FakturaZaliczkowa", "ZaliczkaCzesciowa").map(toGroup) })
  for (const name of ["FaWiersz", "FakturaRRWiersz"]) {
    const lines = invoice.all(name)
    if (lines.length > 0) add("lines", name, { tables: [lineTable(lines, columnsOf[name]!)] })
  }
  const taxes = taxTable(invoice)
  add("taxes", "", { tables: taxes === undefined ? [] : [taxes] })
  add("totals", "", {
    facts: facts([
      ...invoice.all("P_11_1", "P_11_1W", "P_11_2", "P_11_2W"),
      ...(due === undefined ? [] : [due]),
      ...invoice.all("P_12_1W", "P_12_2")
    ])
  })
  add("settlement", "Rozliczenie", contentOf(invoice.all("Rozliczenie").flatMap(({ children }) => children)))
  const payment = contentOf(invoice.all("Platnosc").flatMap(({ children }) => children))
  add("payment", "Platnosc", {
    ...payment,
    groups: [...payment.groups, ...invoice.all("DokumentZaplaty").map(toGroup)]
  })
  const annotations = factsBelow(invoice.all("Adnotacje", "FP", "TP", "ZwrotAkcyzy"))
  add("annotations", "Adnotacje", { facts: annotations.filter((fact) => !isSilent(fact)) })
  const order = source(invoice.all("Zamowienie").flatMap(({ children }) => children))
  const orderLines = order.all("ZamowienieWiersz")
  add("order", "Zamowienie", {
    ...contentOf(order.rest()),
    tables: orderLines.length === 0 ? [] : [lineTable(orderLines, columnsOf["ZamowienieWiersz"]!)]
  })
  add("terms", "WarunkiTransakcji", contentOf(invoice.all("WarunkiTransakcji").flatMap(({ children }) => children)))
  const footer = source(document.all("Stopka").flatMap(({ children }) => children))
  const footers = footer.all("Informacje").flatMap(({ children }) => children)
  const descriptions = pairs(invoice.all("DodatkowyOpis"), ["NrWiersza", "Klucz", "Wartosc"])
  add("notes", "", {
    ...contentOf(footers.filter(({ name }) => name !== "StopkaFaktury")),
    tables: descriptions === undefined ? [] : [descriptions],
    paragraphs: footers
      .filter(({ name }) => name === "StopkaFaktury")
      .map(valueOf)
      .filter(Boolean)
  })
  add("registers", "Rejestry", {
    groups: [],
    tables: registersTable(footer.all("Rejestry"))
  })
  const attachment = source(document.all("Zalacznik").flatMap(({ children }) => children))
  const blocks = attachment.all("BlokDanych").map(toBlock)
  const restOfAttachment = contentOf(attachment.rest())
  add("attachments", "Zalacznik", { ...restOfAttachment, groups: [...blocks, ...restOfAttachment.groups] })
  add("other", "", contentOf([...header.rest(), ...invoice.rest(), ...footer.rest(), ...document.rest()]))

  return {
    form,
    kind,
    number,
    currency,
    total: valueOf(due) || undefined,
    details,
    parties,
    sections,
    rowCount: sections.reduce((sum, section) => sum + rowsOf(section), 0)
  }
}

const partyGroup = (node: Node): Group => {
  const { address, facts, label, name } = toParty(node)
  return { ...emptyGroup, label, paragraphs: [name, ...address].filter((line) => line !== undefined), facts }
}

const registersTable = (registers: ReadonlyArray<Node>): ReadonlyArray<Table> =>
  registers.length === 0 ? [] : [lineTable(registers, ["PelnaNazwa", "KRS", "REGON", "BDO"])]

const sectionLabels: { readonly [id in SectionId]?: Labels.Label } = {
  corrections: { pl: "Korekta", en: "Correction" },
  advances: { pl: "Zaliczki", en: "Advance payments" },
  lines: { pl: "Pozycje", en: "Lines" },
  taxes: { pl: "Podsumowanie stawek podatku", en: "Tax by rate" },
  totals: { pl: "Razem", en: "Total" },
  terms: { pl: "Warunki transakcji", en: "Terms of the transaction" },
  notes: { pl: "Uwagi", en: "Notes" },
  other: { pl: "Pozostałe", en: "Other" }
}

const countOf = ({ facts, groups, paragraphs, tables }: Group): number =>
  facts.length + groups.length + paragraphs.length + tables.length

const rowsOf = ({ groups, tables }: Group): number =>
  tables.reduce((sum, { rows }) => sum + rows.length, 0) + groups.reduce((sum, group) => sum + rowsOf(group), 0)
