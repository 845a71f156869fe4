import { InternalId } from "@govoice/ksef/format"
import { assert, describe, it } from "vitest"

describe("InternalId", () => {
  it("accepts the example of the API", () => {
    assert.isTrue(InternalId.isValid("6824515772-12343"))
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 0].map((digit) => `5265877635-1234${digit}`))(
    "has one check digit for each unit: %s",
    (text) => {
      // 5 + 6 + 6 + 15 + 8 + 21 + 7 + 18 + 3 + 15, and 1 + 6 + 3 + 12 of the unit.
      assert.strictEqual(InternalId.isValid(text), text === "5265877635-12346")
    }
  )

  it.each([
    ["a wrong NIP", "5265877634-12343"],
    ["another separator", "6824515772 12343"],
    ["a digit too few", "6824515772-1234"],
    ["a letter", "6824515772-1234a"],
    ["more behind it", "6824515772-12343\n"]
  ])("refuses %s", (_, text) => {
    assert.isFalse(InternalId.isValid(text))
  })
})
