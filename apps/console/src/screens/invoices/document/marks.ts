/**
 * The places of a document that a fault or a warning names, and the document in pieces of a readable length.
 */

/** A place, and what is said about it. Line and column count from 1, the column in code points. KSeF names a line alone. */
export interface Mark {
  readonly line: number
  readonly column: number | undefined
  readonly message: string
  readonly tone: "bad" | "warn"
}

// The server names a place before what is said about it, KSeF behind it.
const placed = /\bline (\d+), column (\d+)|\(wiersz (\d+)\)/gi

/** Returns the places that the message of a rejection names: `line 3, column 5, Faktura/Fa/P_1: …`, or `… (wiersz 3)`. */
export const marksOfMessage = (message: string): ReadonlyArray<Mark> => {
  const places = [...message.matchAll(placed)]
  return places.map((place, index) => {
    const [all, line, column, lineOfKsef] = place
    if (lineOfKsef !== undefined) {
      const before = places[index - 1]
      const said = message.slice(before === undefined ? 0 : before.index + before[0].length, place.index)
      const text = said.replace(/^.*?\bKSeF: /s, "").trim()
      return { line: Number(lineOfKsef), column: undefined, message: text || message, tone: "bad" }
    }
    const rest = message.slice(place.index + all.length, places[index + 1]?.index)
    // Without the number of the next violation.
    const text = rest
      .replace(/^[,:;.)\s]+/, "")
      .replace(/\(\d{1,3}\) $/, "")
      .trimEnd()
    return { line: Number(line), column: Number(column), message: text || message, tone: "bad" }
  })
}

/** A part of a line. */
export interface Piece {
  /** The line that begins here. */
  readonly line: number | undefined
  readonly text: string
  readonly marks: ReadonlyArray<Mark>
}

const longLine = 400

const longest = 2000

// A document that has no line breaks is divided between its tags.
const divide = (line: string): ReadonlyArray<string> => {
  if (line.length <= longLine) return [line]
  const parts: Array<string> = []
  let start = 0
  while (start < line.length) {
    const between = line.indexOf("><", start)
    const end = Math.min(between === -1 ? line.length : between + 1, start + longest)
    parts.push(line.slice(start, end))
    start = end
  }
  return parts
}

const columnOf = ({ column }: Mark): number => column ?? 1

/** Divides a document into pieces, each with the marks that begin in it. */
export const toPieces = (xml: string, marks: ReadonlyArray<Mark>): ReadonlyArray<Piece> => {
  const byLine = Map.groupBy(marks, ({ line }) => line)
  return xml
    .replace(/^\uFEFF/, "")
    .replace(/\r?\n$/, "")
    .split(/\r\n?|\n/)
    .flatMap((line, index) => {
      const number = index + 1
      let rest = (byLine.get(number) ?? []).toSorted((a, b) => columnOf(a) - columnOf(b))
      let column = 1
      const parts = divide(line)
      return parts.map((text, part) => {
        // Columns are counted where there is something to find.
        if (rest.length > 0) column += Array.from(text).length
        const here = part === parts.length - 1 ? rest : rest.filter((mark) => columnOf(mark) < column)
        rest = rest.slice(here.length)
        return { line: part === 0 ? number : undefined, text, marks: here }
      })
    })
}

const piecesPerPage = 1000

// Of a usual document, a thousand lines have half of it. Each of its tags is an element of the page.
const charactersPerPage = 100_000

/** Divides the pieces into pages that a browser lays out in a moment. Returns where each begins. */
export const toPages = (pieces: ReadonlyArray<Piece>): ReadonlyArray<number> => {
  const starts = [0]
  let characters = 0
  for (const [index, { text }] of pieces.entries()) {
    characters += text.length
    if (index - starts.at(-1)! < piecesPerPage && characters <= charactersPerPage) continue
    if (index > 0) starts.push(index)
    characters = text.length
  }
  return starts
}
