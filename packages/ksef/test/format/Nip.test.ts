import { assert, describe, it } from "@effect/vitest"
import { Nip } from "@govoice/ksef/format"
import * as fc from "fast-check"

const nineDigits = fc.stringMatching(/^[1-9][0-9][1-9][0-9]{6}$/)

describe("Nip", () => {
  it.each(["5265877635", "5555555555", "1111111111", "9999999999"])("%s is valid", (nip) => {
    assert.isTrue(Nip.isValid(nip))
  })

  it.each([
    ["with a wrong checksum", "5265877634"],
    ["with a remainder of 10", "1000000010"],
    ["that is too short", "526587763"],
    ["that is too long", "52658776350"],
    ["that begins with 0", "0265877635"],
    ["of an office that ends with 00", "5005877635"],
    ["with hyphens", "526-587-76-35"],
    ["with a country", "PL5265877635"],
    ["in other digits", "٥٢٦٥٨٧٧٦٣٥"],
    ["with a line break", "5265877635\n"],
    ["of ten zeros", Nip.absent]
  ])("a number %s is invalid", (_, nip) => {
    assert.isFalse(Nip.isValid(nip))
  })

  it("has at most one checksum for each nine digits", () => {
    fc.assert(
      fc.property(nineDigits, (body) => {
        const valid = Array.from({ length: 10 }, (_, digit) => Nip.isValid(`${body}${digit}`)).filter(Boolean)
        assert.isAtMost(valid.length, 1)
      })
    )
  })

  it("with any one digit changed is invalid", () => {
    fc.assert(
      fc.property(nineDigits, fc.nat({ max: 9 }), fc.nat({ max: 9 }), (body, at, digit) => {
        const nip = Array.from({ length: 10 }, (_, last) => `${body}${last}`).find((nip) => Nip.isValid(nip))
        fc.pre(nip !== undefined && nip[at] !== String(digit))
        assert.isFalse(Nip.isValid(nip.slice(0, at) + digit + nip.slice(at + 1)))
      })
    )
  })
})
