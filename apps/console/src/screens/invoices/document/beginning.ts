/** The beginning of a document, for a page that shows no more at first than a browser lays out in a moment. */
import type { InvoiceReading } from "@govoice/ksef/reading"

/** How many values, rows and headings are shown at first. */
export const partsAtFirst = 5000

/** How many rows of a table are shown at first. */
export const rowsAtFirst = 200

/** What is shown at first, and whether that is the whole document but for the rows that its tables show on request. */
export interface Beginning {
  readonly reading: InvoiceReading.Reading
  readonly isWhole: boolean
}

/** Returns the beginning of a document. The rows that a table does not show at first are not counted. */
export const beginningOf = (reading: InvoiceReading.Reading): Beginning => {
  let left = partsAtFirst
  let isWhole = true

  const each = <A>(all: ReadonlyArray<A>, shorten: (one: A) => A): ReadonlyArray<A> => {
    const taken: Array<A> = []
    for (const one of all) {
      if (left <= 0) {
        isWhole = false
        break
      }
      left--
      taken.push(shorten(one))
    }
    return taken
  }
  const some = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> => each(all, (one) => one)

  const row = (of: InvoiceReading.Row): InvoiceReading.Row => {
    left -= of.cells.length
    return { ...of, facts: some(of.facts) }
  }
  const table = ({ columns, rows }: InvoiceReading.Table): InvoiceReading.Table => {
    const shown = { columns: some(columns), rows: each(rows.slice(0, rowsAtFirst), row) }
    return isWhole ? { ...shown, rows: [...shown.rows, ...rows.slice(rowsAtFirst)] } : shown
  }
  const group = <G extends InvoiceReading.Group>(of: G): G => ({
    ...of,
    paragraphs: some(of.paragraphs),
    facts: some(of.facts),
    tables: each(of.tables, table),
    groups: each(of.groups, group)
  })
  const party = (of: InvoiceReading.Party): InvoiceReading.Party => ({
    ...of,
    address: some(of.address),
    facts: some(of.facts)
  })

  const shortened = {
    ...reading,
    details: some(reading.details),
    parties: each(reading.parties, party),
    sections: each(reading.sections, group)
  }
  return { reading: shortened, isWhole }
}
