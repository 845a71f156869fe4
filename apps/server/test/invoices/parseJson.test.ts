import { assert, describe, it } from "vitest"
import * as fc from "fast-check"
import { parseJson } from "../../src/invoices/parseJson.ts"

// JSON with every character of a string escaped.
const escapedText = (text: string): string =>
  `"${Array.from({ length: text.length }, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`).join("")}"`

const entriesOf = (value: unknown) => Object.entries(value as object)

describe("parseJson", () => {
  it.each([
    ["\\", "\n"],
    ["\\", '"'],
    ["\\u", "łączna"],
    ["\\u0142", "ł"]
  ])("reads the name %j first, and then the right name for %j", (first, second) => {
    for (const name of ["order", "customer"]) {
      parseJson(JSON.stringify({ [name]: "1", [first]: "2" }))
      JSON.parse(JSON.stringify({ [name]: "1", [first]: "2" }))
      const text = `{"${name}":"1",${escapedText(second)}:"2"}`
      assert.deepStrictEqual(entriesOf(parseJson(text)), [
        [name, "1"],
        [second, "2"]
      ])
    }
  })

  it.each<[text: string, entries: ReadonlyArray<[string, unknown]>]>([
    ['{"a":1,"\\u0061":2}', [["a", 2]]],
    ['{"\\u005f_proto__":{"x":1}}', [["__proto__", { x: 1 }]]],
    [
      '{"\\n":1,"10":2,"2":3}',
      [
        ["2", 3],
        ["10", 2],
        ["\n", 1]
      ]
    ],
    [
      '{"invoice_xml" : "<a b=\\"1\\">,\\"x\\":</a>", "m\\u0065tadata"\n:\t{}}',
      [
        ["invoice_xml", '<a b="1">,"x":</a>'],
        ["metadata", {}]
      ]
    ]
  ])("reads %s like the standard", (text, expected) => {
    assert.deepStrictEqual(entriesOf(parseJson(text)), [...expected])
  })

  it("reads any JSON like the standard, with names escaped or not", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.boolean(), (value, isEscaped) => {
        const text = JSON.stringify(value)
        const given = isEscaped
          ? text.replaceAll(/("[^"\\]*(?:\\.[^"\\]*)*")(:)?/gs, (whole, token: string, colon?: string) =>
              colon === undefined ? whole : `${escapedText(JSON.parse(token) as string)}:`
            )
          : text
        assert.strictEqual(JSON.stringify(parseJson(given)), text)
      }),
      { numRuns: 3000 }
    )
  })

  it.each(["", "{", '{"\\n"}', '{"\\n":}', '{"\\x":1}', '{"\\u00":1}', '{"a\\":1}', "{'\\n':1}", '{"\\n":1,}'])(
    "throws a SyntaxError for %j",
    (text) => {
      assert.throws(() => parseJson(text), SyntaxError)
    }
  )

  // In time that grows with the square of the text, a megabyte takes many times the limit of a test.
  it.each([
    ["in a name", `{"${'\\"'.repeat(500_000)}`],
    ["in a value", `{"\\n":"${'\\"'.repeat(500_000)}`],
    ["in many names", `{"\\n":1,${'"a'.repeat(500_000)}`]
  ])("refuses a megabyte of quotes that end no string, %s", (_place, text) => {
    assert.throws(() => parseJson(text), SyntaxError)
  })

  it("reads a megabyte of escapes", () => {
    const xml = "\n".repeat(400_000)
    assert.deepStrictEqual(parseJson(JSON.stringify({ invoice_xml: xml, "\n": "1" })), { invoice_xml: xml, "\n": "1" })
  })
})
