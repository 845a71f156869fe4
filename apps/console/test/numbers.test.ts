/**
 * Counts, amounts and the scale of a chart.
 */
import { assert, describe, it } from "vitest"
import { scaleOf } from "../src/ui/Bars.tsx"
import { highlight } from "../src/ui/highlight.ts"
import { amount, count, number } from "../src/ui/numbers.ts"
import { dayOf } from "../src/ui/times.ts"

describe("numbers", () => {
  it("have separators, and an end where the server stops to count", () => {
    assert.strictEqual(number(12_000), "12,000")
    assert.strictEqual(count(999), "999")
    assert.strictEqual(count(1000), "1,000+")
    assert.strictEqual(count(1000, 10_000), "1,000")
  })

  it.each([
    ["1230.5", "PLN", "PLN\u00A01,230.50"],
    ["-0.12", "EUR", "-€0.12"],
    ["1230.123", null, "1,230.123"],
    ["12345678901234567890.12", null, "12,345,678,901,234,567,890.12"],
    ["about 5", "PLN", "about 5 PLN"]
  ])("write the amount %s of %s", (value, currency, shown) => {
    assert.strictEqual(amount(value, currency), shown)
  })

  it("write the day of a document without a time zone", () => {
    assert.strictEqual(dayOf("2026-11-20"), "20 November 2026")
    assert.strictEqual(dayOf("soon"), "soon")
  })
})

describe("the scale of a chart", () => {
  it.each([
    [0, 2],
    [2, 2],
    [3, 4],
    [5, 10],
    [21, 40],
    [105, 200],
    [1000, 1000]
  ])("of at most %i ends at %i", (most, end) => {
    assert.strictEqual(scaleOf(most), end)
    assert.strictEqual((end / 2) % 1, 0)
  })
})

describe("the highlighting of code", () => {
  it("finds strings, comments and keywords, and changes no character", () => {
    const code = 'import { a } from "b//c" // why\nconst d = `e${f}`\n'
    const parts = highlight(code)
    assert.strictEqual(parts.map(([, text]) => text).join(""), code)
    assert.deepStrictEqual(
      parts.filter(([kind]) => kind !== undefined),
      [
        ["keyword", "import"],
        ["keyword", "from"],
        ["string", '"b//c"'],
        ["comment", "// why"],
        ["keyword", "const"],
        ["string", "`e${f}`"]
      ]
    )
  })
})
