/** The places of a document that messages name, and the document in pieces. */
import { assert, describe, it } from "vitest"
import { type Mark, marksOfMessage, toPages, toPieces } from "../src/screens/invoices/document/marks.ts"

const mark = (line: number, column: number): Mark => ({ line, column, message: "x", tone: "bad" })

const marked = (xml: string, ...marks: ReadonlyArray<Mark>) =>
  toPieces(xml, marks).flatMap(({ marks, text }) => marks.map(({ column }) => [column, text]))

describe("the marks of a document", () => {
  it("are the places that a message names", () => {
    assert.deepStrictEqual(
      marksOfMessage(
        "invoice_xml is not a valid FA (3) document: 2 violations. (1) line 3, column 5, Faktura/Fa/P_1: is no date. (2) line 12, column 1: is missing."
      ).map(({ column, line, message }) => [line, column, message]),
      [
        [3, 5, "Faktura/Fa/P_1: is no date."],
        [12, 1, "is missing."]
      ]
    )
    assert.deepStrictEqual(
      marksOfMessage("The document is not well-formed (line 2, column 7).").map(({ message }) => message),
      ["The document is not well-formed (line 2, column 7)."]
    )
    assert.deepStrictEqual(marksOfMessage("The taxpayer is unknown."), [])
    assert.deepStrictEqual(
      marksOfMessage(
        "The document is wrong. KSeF: Element 'P_1': brak daty (FA). (wiersz 3) Element 'P_2': za długi. (wiersz 12)"
      ).map(({ column, line, message }) => [line, column, message]),
      [
        [3, undefined, "Element 'P_1': brak daty (FA)."],
        [12, undefined, "Element 'P_2': za długi."]
      ]
    )
  })

  it("stand at their lines, whatever ends a line", () => {
    assert.deepStrictEqual(marked("<a>\n<b/>\r\n<c/>\r<d/>\n</a>", mark(2, 1), mark(4, 2)), [
      [1, "<b/>"],
      [2, "<d/>"]
    ])
    assert.deepStrictEqual(
      toPieces("\uFEFF<a>\n</a>", []).map(({ line, text }) => [line, text]),
      [
        [1, "<a>"],
        [2, "</a>"]
      ]
    )
  })

  it("stand at the part of a long line that has their column, counted in code points", () => {
    const xml = `<a>${"<b>😀</b>".repeat(100)}</a>`
    const pieces = toPieces(xml, [])
    assert.strictEqual(pieces.map(({ text }) => text).join(""), xml)
    assert.isAbove(pieces.length, 100)
    // The second <b> begins after <a> and a <b> of eight characters.
    assert.deepStrictEqual(marked(xml, mark(1, 12), mark(1, 4)), [
      [4, "<b>😀</b>"],
      [12, "<b>😀</b>"]
    ])
    assert.deepStrictEqual(marked(xml, mark(1, 5000)), [[5000, "</a>"]])
  })

  it("divides a line without tags, too, in time in proportion to it", () => {
    const pieces = toPieces(`<a>${"x".repeat(3_000_000)}</a>`, [mark(1, 1_000_000)])
    assert.isAtMost(Math.max(...pieces.map(({ text }) => text.length)), 2000)
  })

  it("come in pages of a thousand lines, and of fewer where the lines are long", () => {
    const sizesOf = (xml: string) => {
      const pieces = toPieces(xml, [])
      const starts = toPages(pieces)
      return starts.map((start, page) => {
        const shown = pieces.slice(start, starts[page + 1])
        return [shown.length, shown.reduce((sum, { text }) => sum + text.length, 0)]
      })
    }
    assert.deepStrictEqual(sizesOf(""), [[1, 0]])
    assert.deepStrictEqual(
      sizesOf("<a/>\n".repeat(2500)).map(([lines]) => lines),
      [1000, 1000, 500]
    )
    const long = sizesOf("<a/>".repeat(99) + `\n${"<b/>".repeat(90)}`.repeat(2500))
    assert.isAbove(long.length, 5)
    for (const [, characters] of long) assert.isAtMost(characters!, 100_000)
    assert.strictEqual(
      long.reduce((sum, [lines]) => sum + lines!, 0),
      2501
    )
  })
})
