/**
 * The places of a document that a fault or a warning names, and the document in pieces of a readable length.
 */

/** A place, and what is said about it. Line and column count from 1, the column in code points. */
export interface Mark {
  readonly line: number
  readonly column: number
  readonly message: string
  readonly tone: "bad" | "warn"
}

/** Returns the places that the message of a rejection names: `line 3, column 5, Faktura/Fa/P_1: …`. */
export const marksOfMessage = (message: string): ReadonlyArray<Mark> => {
  const places = [...message.matchAll(/\bline (\d+), column (\d+)/gi)]
  return places.map((place, index) => {
    const rest = message.slice(place.index + place[0].length, places[index + 1]?.index)
    // Without the number of the next violation.
    const text = rest
      .replace(/^[,:;.)\s]+/, "")
      .replace(/\(\d{1,3}\) $/, "")
      .trimEnd()
    return { line: Number(place[1]), column: Number(place[2]), message: text || message, tone: "bad" }
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

/** Divides a document into pieces, each with the marks that begin in it. */
export const toPieces = (xml: string, marks: ReadonlyArray<Mark>): ReadonlyArray<Piece> => {
  const byLine = Map.groupBy(marks, ({ line }) => line)
  return xml
    .replace(/^\uFEFF/, "")
    .replace(/\r?\n$/, "")
    .split(/\r\n?|\n/)
    .flatMap((line, index) => {
      const number = index + 1
      let rest = (byLine.get(number) ?? []).toSorted((a, b) => a.column - b.column)
      let column = 1
      const parts = divide(line)
      return parts.map((text, part) => {
        // Columns are counted where there is something to find.
        if (rest.length > 0) column += Array.from(text).length
        const here = part === parts.length - 1 ? rest : rest.filter((mark) => mark.column < column)
        rest = rest.slice(here.length)
        return { line: part === 0 ? number : undefined, text, marks: here }
      })
    })
}
