import { assert, describe, it } from "@effect/vitest"
import { KsefNumber } from "@govoice/ksef/format"
import * as fc from "fast-check"
import { openApi, upoSamples } from "../fixtures.ts"

const inSamples = Array.from(upoSamples.values()).flatMap((xml) =>
  Array.from(xml.matchAll(/<NumerKSeFDokumentu>([^<]*)</g), ([, number]) => number ?? "")
)
const inOpenApi = openApi.match(/\b\d{10}-\d{8}-[0-9A-F]{12}-[0-9A-F]{2}\b/g) ?? []
const published = [...new Set([...inSamples, ...inOpenApi])]

const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`))
const parts = fc.record({ nip: digits(10), day: digits(8), serial: fc.stringMatching(/^[0-9A-F]{12}$/) })

describe("KsefNumber", () => {
  it("is tested with at least eight published numbers of KSeF", () => {
    assert.isAtLeast(published.length, 8)
  })

  it.each(published)("%s is valid, and is built again from its parts", (number) => {
    assert.isTrue(KsefNumber.isValid(number))
    const [nip = "", day = "", serial = ""] = number.split("-")
    assert.deepStrictEqual(KsefNumber.parse(number), { nip, day, serial })
    assert.strictEqual(KsefNumber.make({ nip, day, serial }), number)
    assert.strictEqual(KsefNumber.make({ nip, day, serial: serial.toLowerCase() }), number)
  })

  it("has the parts that it was built from", () => {
    fc.assert(
      fc.property(parts, (given) => {
        const number = KsefNumber.make(given)
        assert.strictEqual(number.length, 35)
        assert.deepStrictEqual(KsefNumber.parse(number), given)
      })
    )
  })

  it("with any one character changed is invalid", () => {
    fc.assert(
      fc.property(parts, fc.nat({ max: 34 }), fc.stringMatching(/^[0-9A-Fa-fxZ -]$/), (given, at, character) => {
        const number = KsefNumber.make(given)
        fc.pre(number[at] !== character)
        assert.isUndefined(KsefNumber.parse(number.slice(0, at) + character + number.slice(at + 1)))
      })
    )
  })

  it.each([
    "",
    "5265877635-20250626-010080DD2B5E",
    "5265877635-20250626-010080-DD2B5E-26",
    "5265877635-20250626-010080DD2B5E-26\n",
    " 5265877635-20250626-010080DD2B5E-26"
  ])("%j is invalid", (text) => {
    assert.isFalse(KsefNumber.isValid(text))
  })
})
