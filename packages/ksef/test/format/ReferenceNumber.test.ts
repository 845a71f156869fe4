import { assert, describe, it } from "@effect/vitest"
import { ReferenceNumber } from "@govoice/ksef/format"
import * as fc from "fast-check"
import { openApi } from "../fixtures.ts"

const published = [...new Set(openApi.match(/\b\d{8}-[A-Z]{2}-[0-9A-F]{10}-[0-9A-F]{10}-[0-9A-F]{2}\b/g) ?? [])]

// Examples of the OpenAPI document with the checksum; three others there do not have it.
const documented: ReadonlyArray<readonly [kind: ReferenceNumber.Kind, number: string]> = [
  ["challenge", "20250514-CR-226FB7B000-3ACF9BE4C0-10"],
  ["authentication", "20250514-AU-2DFC46C000-3AC6D5877F-D4"],
  ["session", "20250625-SO-2C3E6C8000-B675CF5D68-07"],
  ["session", "20250925-SO-2F67776000-97273B191A-65"],
  ["invoice", "20250625-EE-319D7EE000-B67F415CDC-2C"],
  ["invoice", "20250626-EE-2F20AD2000-242386DF86-52"],
  ["token", "20251010-EC-1DCE3E3000-12ECB5B36E-45"],
  ["token", "20251001-EC-220B0CE000-E228129563-96"]
]

const kind = fc.constantFrom(...(Object.keys(ReferenceNumber.kinds) as Array<ReferenceNumber.Kind>))
const parts = fc.record({
  day: fc.stringMatching(/^[0-9]{8}$/),
  serial: fc.stringMatching(/^[0-9a-f]{20,40}$/)
})

describe("ReferenceNumber", () => {
  it.each(documented)("the %s number %s is built from its parts", (kind, number) => {
    const [day = "", , first = "", second = ""] = number.split("-")
    assert.strictEqual(ReferenceNumber.make(kind, { day, serial: first + second }), number)
    assert.isTrue(ReferenceNumber.isValid(number))
  })

  it("has kinds whose letters all occur in published numbers", () => {
    const letters = new Set(published.map((number) => number.slice(9, 11)))
    assert.includeMembers([...letters], Object.values(ReferenceNumber.kinds))
  })

  it("has the form of every published example, and the checksum of most", () => {
    assert.isAtLeast(published.length, 20)
    assert.isTrue(published.every((number) => ReferenceNumber.hasForm(number)))
    const valid = published.filter((number) => ReferenceNumber.isValid(number))
    assert.isAtLeast(valid.length, published.length - 4)
  })

  it("has 36 characters, and is valid", () => {
    fc.assert(
      fc.property(kind, parts, (kind, given) => {
        const number = ReferenceNumber.make(kind, given)
        assert.strictEqual(number.length, 36)
        assert.strictEqual(number.slice(9, 11), ReferenceNumber.kinds[kind])
        assert.isTrue(ReferenceNumber.isValid(number))
      })
    )
  })

  it("with any one character changed is invalid", () => {
    fc.assert(
      fc.property(kind, parts, fc.nat({ max: 35 }), fc.stringMatching(/^[0-9A-Fx-]$/), (kind, given, at, character) => {
        const number = ReferenceNumber.make(kind, given)
        fc.pre(number[at] !== character)
        assert.isFalse(ReferenceNumber.isValid(number.slice(0, at) + character + number.slice(at + 1)))
      })
    )
  })

  it.each(["../../../x", "20250625-SO-2C3E6C8000-B675CF5D68-07/..", "20250625-SO-2C3E6C8000-B675CF5D68-07\n"])(
    "%j does not have the form",
    (text) => {
      assert.isFalse(ReferenceNumber.hasForm(text))
    }
  )
})
