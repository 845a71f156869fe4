/**
 * Arranges an invoice on A4 pages: rows of cells, whose text is wrapped, that go on on the next page where they do not fit.
 *
 * A painter draws. The same arrangement is made twice: by a painter that draws nothing, to know how many pages there are, and by one
 * that writes each page out, so that no page is kept in memory.
 */
import type { InvoiceReading } from "@govoice/ksef/reading"
import { encode } from "uqr"

/** How text looks. */
export type Style = "heading" | "label" | "strong" | "text" | "title"

/** The size of each style, in points. */
export const sizes: Readonly<Record<Style, number>> = { heading: 10, label: 7.5, strong: 8.5, text: 8.5, title: 16 }

/** What draws. */
export interface Painter {
  /** The width of text, in points. */
  readonly widthOf: (text: string, style: Style) => number
  /** Draws text that fits on a line. `y` is its top. */
  readonly text: (text: string, style: Style, x: number, y: number) => void
  /** Draws a horizontal line. */
  readonly rule: (x: number, y: number, width: number) => void
  /** Fills the dark modules of a QR code, by row. */
  readonly code: (modules: ReadonlyArray<ReadonlyArray<boolean>>, x: number, y: number, moduleSize: number) => void
  /** Begins a page. */
  readonly page: () => void
}

/** A QR code and the text below it. */
export interface Code {
  readonly text: string
  readonly label: string
}

/** What is arranged. */
export interface Content {
  readonly reading: InvoiceReading.Reading
  /** The number of the national system. */
  readonly officialNumber: string | null
  readonly codes: ReadonlyArray<Code>
}

/** The page: A4, in points. */
export const page = { width: 595.28, height: 841.89, margin: 40 } as const

const left = page.margin
const width = page.width - 2 * page.margin
const top = page.margin
// The footer stands below.
const bottom = page.height - page.margin - 24

const lineHeight = 11
const maxRepeatedHeight = (bottom - top) / 3
// Letters without a width, such as accents, need no height.
const maxRepeatedLetters = 4000
// Text is not wider than the width that was computed from it.
const rounding = 0.01
// Of a QR code: 0.8 mm, which scanners of telephones read from paper.
const moduleSize = 2.3

interface Line {
  readonly text: string
  readonly style: Style
}

interface Cell {
  readonly x: number
  readonly width: number
  readonly lines: ReadonlyArray<Line>
  readonly isRight?: boolean
}

const both = ({ en, pl }: InvoiceReading.Label): string => (pl === en ? pl : `${pl} / ${en}`)

/** A number as Polish writes it, with the digits of the document. Other texts stay as they are. */
export const numberOf = (value: string): string => {
  const match = /^(-?)(\d{1,40})(?:\.(\d{1,20}))?$/.exec(value)
  if (match === null) return value
  const [, sign, whole = "", fraction] = match
  const first = whole.length % 3
  const groups = [whole.slice(0, first), ...(whole.slice(first).match(/\d{3}/g) ?? [])].filter(Boolean)
  return `${sign}${groups.join("\u00A0")}${fraction === undefined ? "" : `,${fraction}`}`
}

const valueOf = ({ meaning, type, value }: InvoiceReading.Fact): string =>
  meaning === undefined ? (type === "number" ? numberOf(value) : value) : both(meaning)

/** Arranges the pages. Returns how many there are. */
export const arrange = ({ codes, officialNumber, reading }: Content, painter: Painter): number => {
  let pages = 1
  let y: number = top
  // The head of the table that goes on on the next page.
  let repeated: (() => void) | undefined
  const widthOf = painter.widthOf

  const breakPage = (): void => {
    painter.page()
    pages++
    y = top
    repeated?.()
  }

  const need = (height: number): void => {
    if (y + height > bottom && y > top) breakPage()
  }

  // Breaks between words, and in a word that is too wide.
  const wrap = (text: string, style: Style, maxWidth: number): ReadonlyArray<Line> => {
    const lines: Array<Line> = []
    const space = widthOf(" ", style)
    let line = ""
    let lineWidth = 0
    const end = (): void => {
      if (line !== "") lines.push({ text: line, style })
      line = ""
      lineWidth = 0
    }
    for (const word of text.split(" ")) {
      const wordWidth = widthOf(word, style)
      if (line !== "" && lineWidth + space + wordWidth > maxWidth) end()
      if (wordWidth <= maxWidth) {
        lineWidth += wordWidth + (line === "" ? 0 : space)
        line += line === "" ? word : ` ${word}`
        continue
      }
      for (const character of word) {
        const characterWidth = widthOf(character, style)
        if (line !== "" && lineWidth + characterWidth > maxWidth) end()
        line += character
        lineWidth += characterWidth
      }
    }
    end()
    return lines
  }

  /** Draws cells beside each other. A row that is higher than the rest of the page goes on on the next one. */
  const row = (cells: ReadonlyArray<Cell>, height = lineHeight): void => {
    const count = cells.reduce((most, { lines }) => Math.max(most, lines.length), 0)
    need(Math.min(count, 4) * height)
    for (let first = 0; first < count;) {
      const last = Math.min(count, first + Math.max(1, Math.floor((bottom - y) / height)))
      for (const { isRight, lines, width, x } of cells) {
        for (const [index, { style, text }] of lines.slice(first, last).entries()) {
          const start = isRight === true ? x + Math.max(0, width - widthOf(text, style)) : x
          painter.text(text, style, start, y + index * height)
        }
      }
      y += (last - first) * height
      first = last
      if (first < count) breakPage()
    }
  }

  const paragraph = (text: string, style: Style = "text", x = left, maxWidth: number = width): void =>
    row([{ x, width: maxWidth, lines: wrap(text, style, maxWidth) }], style === "title" ? 20 : lineHeight)

  const heading = (label: InvoiceReading.Label): void => {
    // Not without what follows.
    need(5 * lineHeight)
    y += 10
    paragraph(both(label), "heading")
    y += 2
    painter.rule(left, y, width)
    y += 4
  }

  const factLines = (all: ReadonlyArray<InvoiceReading.Fact>, x: number, maxWidth: number): void => {
    const labelWidth = maxWidth * 0.42
    for (const fact of all) {
      row([
        { x, width: labelWidth - 8, lines: wrap(both(fact.label), "label", labelWidth - 8) },
        {
          x: x + labelWidth,
          width: maxWidth - labelWidth,
          lines: wrap(valueOf(fact), "text", maxWidth - labelWidth)
        }
      ])
    }
  }

  const textOf = (cell: InvoiceReading.Cell, isNumber: boolean): string => {
    if (cell === undefined) return ""
    if (typeof cell === "object") return both(cell)
    return isNumber ? numberOf(cell) : cell
  }

  const table = ({ columns, rows }: InvoiceReading.Table, style: Style = "text"): void => {
    const widths = columnWidths(columns, rows, style)
    const starts = widths.map((_, index) => left + widths.slice(0, index).reduce((sum, each) => sum + each, 0))
    const gap = 6
    const cellsOf = (linesOf: (index: number, maxWidth: number) => ReadonlyArray<Line>): ReadonlyArray<Cell> =>
      widths.map((each, index) => ({
        x: starts[index]!,
        width: each - gap,
        isRight: columns[index]!.isNumber,
        lines: linesOf(index, each - gap)
      }))
    // Wrapped once, and not on each page: its texts can be longer than all rows together.
    const headCells = cellsOf((index, maxWidth) => {
      const { en, pl } = columns[index]!.label
      return [...wrap(pl, "strong", maxWidth), ...(en === pl ? [] : wrap(en, "label", maxWidth))]
    })
    const head = (): void => {
      row(headCells)
      y += 2
      painter.rule(left, y, width)
      y += 3
    }
    need(6 * lineHeight)
    const before = pages
    const start = y
    head()
    // A head that is higher leaves too little room for rows.
    const letters = headCells.flatMap(({ lines }) => lines).reduce((sum, { text }) => sum + text.length, 0)
    if (pages === before && y - start <= maxRepeatedHeight && letters <= maxRepeatedLetters) repeated = head
    const main = Math.min(1, columns.length - 1)
    for (const { cells, facts, isSum } of rows) {
      const below = facts.map((fact) => `${fact.label.pl}: ${valueOf(fact)}`).join(" · ")
      row(
        cellsOf((index, maxWidth) => [
          ...wrap(textOf(cells[index], columns[index]!.isNumber), isSum === true ? "strong" : style, maxWidth),
          ...(index === main && below !== "" ? wrap(below, "label", maxWidth) : [])
        ])
      )
      y += 2
    }
    repeated = undefined
    y += 6
  }

  /** Narrow columns are as wide as their widest cell. The others share what remains, by their widths. */
  const columnWidths = (
    columns: ReadonlyArray<InvoiceReading.Column>,
    rows: ReadonlyArray<InvoiceReading.Row>,
    style: Style
  ): ReadonlyArray<number> => {
    const gap = 6
    const natural = columns.map(({ isNumber, label }, index) => {
      const headWidth = Math.max(widthOf(label.pl, "strong"), widthOf(label.en, "label"))
      const widest = rows.reduce(
        (most, { cells }) =>
          // No wider than the page: the rest of a long text does not count.
          Math.max(most, Math.min(width, widthOf(textOf(cells[index], isNumber).slice(0, 200), style))),
        Math.min(headWidth, 80)
      )
      return widest + gap + rounding
    })
    const sum = natural.reduce((total, each) => total + each, 0)
    if (sum <= width) {
      if (!columns.some(({ isNumber }) => isNumber)) return natural
      // The widest column takes the rest, so that numbers stand at the edge.
      const widest = natural.indexOf(Math.max(...natural))
      return natural.map((each, index) => (index === widest ? each + width - sum : each))
    }
    const narrow = natural.map((each) => each <= Math.min(80, width / columns.length))
    const taken = natural.reduce((total, each, index) => total + (narrow[index] === true ? each : 0), 0)
    const share = (width - taken) / (sum - taken)
    return natural.map((each, index) => (narrow[index] === true ? each : each * share))
  }

  const group = ({ facts, groups, paragraphs, tables }: InvoiceReading.Group): void => {
    for (const text of paragraphs) paragraph(text)
    factLines(facts, left, width)
    for (const each of tables) if (each.columns.length > 0) table(each)
    for (const inner of groups) {
      need(4 * lineHeight)
      y += 4
      paragraph(both(inner.label), "strong")
      group(inner)
    }
  }

  const party = ({ address, facts, label, name }: InvoiceReading.Party, maxWidth: number): ReadonlyArray<Line> => [
    ...wrap(both(label), "label", maxWidth),
    ...(name === undefined ? [] : wrap(name, "strong", maxWidth)),
    ...address.flatMap((line) => wrap(line, "text", maxWidth)),
    ...facts.flatMap((fact) => wrap(`${fact.label.pl}: ${valueOf(fact)}`, "text", maxWidth))
  ]

  const parties = (): void => {
    const columnWidth = width / 2
    for (let index = 0; index < reading.parties.length; index += 2) {
      y += 8
      row(
        reading.parties.slice(index, index + 2).map((each, column) => ({
          x: left + column * columnWidth,
          width: columnWidth - 12,
          lines: party(each, columnWidth - 12)
        }))
      )
    }
  }

  const { currency, details, form, kind, number, sections, total } = reading
  paragraph(kind === undefined ? form : both(kind.meaning ?? kind.label), "label")
  const amount = total === undefined ? "" : [numberOf(total), currency].filter(Boolean).join("\u00A0")
  const amountWidth = Math.min(width / 2, widthOf(amount, "title") + rounding)
  const besideAmount = width - amountWidth - 12
  row(
    [
      { x: left, width: besideAmount, lines: wrap(number ?? form, "title", besideAmount) },
      { x: left + width - amountWidth, width: amountWidth, isRight: true, lines: wrap(amount, "title", amountWidth) }
    ],
    20
  )
  if (officialNumber !== null) paragraph(`Numer KSeF / KSeF number: ${officialNumber}`, "strong")
  y += 6
  factLines(details, left, width)
  parties()
  for (const section of sections) {
    heading(section.label)
    group(section)
  }

  if (codes.length > 0) {
    const columnWidth = width / 2
    const drawn = codes.map(({ text }) => {
      const { data, size } = encode(text, { ecc: "M", border: 4 })
      return { data, size, module: Math.min(moduleSize, (columnWidth - 12) / size) }
    })
    const height = Math.max(...drawn.map(({ module, size }) => module * size))
    need(height + 10 * lineHeight)
    heading({ pl: "Weryfikacja", en: "Verification" })
    for (const [index, { data, module }] of drawn.entries()) {
      painter.code(data, left + index * columnWidth, y, module)
    }
    y += height + 2
    row(
      codes.map(({ label, text }, index) => ({
        x: left + index * columnWidth,
        width: columnWidth - 12,
        lines: [...wrap(label, "strong", columnWidth - 12), ...wrap(text, "label", columnWidth - 12)]
      }))
    )
  }
  return pages
}
