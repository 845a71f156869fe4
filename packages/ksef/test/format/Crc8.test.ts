import { assert, describe, it } from "@effect/vitest"
import { Crc8 } from "@govoice/ksef/format"
import * as fc from "fast-check"

const ascii = fc.string({ unit: fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code)) })

/** The remainder of the message polynomial, times x^8, by x^8 + x^2 + x + 1: long division over bits. */
const remainder = (text: string): number => {
  const bits = Array.from(text, (character) =>
    Array.from(character.charCodeAt(0).toString(2).padStart(8, "0"), Number)
  ).flat()
  const dividend = [...bits, 0, 0, 0, 0, 0, 0, 0, 0]
  const divisor = [1, 0, 0, 0, 0, 0, 1, 1, 1]
  for (let index = 0; index < bits.length; index++) {
    if (dividend[index] === 0) continue
    for (const [offset, bit] of divisor.entries()) dividend[index + offset]! ^= bit
  }
  return Number.parseInt(dividend.slice(-8).join(""), 2)
}

describe("Crc8", () => {
  it("has the check value of CRC-8/SMBUS", () => {
    assert.strictEqual(Crc8.checksum("123456789"), "F4")
  })

  it("equals the remainder of a division of polynomials", () => {
    fc.assert(
      fc.property(ascii, (text) => {
        assert.strictEqual(Number.parseInt(Crc8.checksum(text), 16), remainder(text))
      })
    )
  })

  it("has two uppercase hexadecimal digits", () => {
    fc.assert(fc.property(ascii, (text) => /^[0-9A-F]{2}$/.test(Crc8.checksum(text))))
  })
})
