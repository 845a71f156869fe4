import { assert, describe, it } from "@effect/vitest"
import * as OfficialNumber from "../../src/gateway/sandbox/OfficialNumber.ts"
import { upoSamples } from "./samples.ts"

const published = Array.from(upoSamples.values()).flatMap((xml) =>
  Array.from(xml.matchAll(/<NumerKSeFDokumentu>([^<]*)</g), ([, number]) => number ?? "")
)

// From the documentation and the OpenAPI document of the national system.
const documented = [
  "5555555555-20250828-010080615740-E4",
  "5265877635-20250925-010020A0A242-0A",
  "5265877635-20250626-010080DD2B5E-26"
]

describe("OfficialNumber", () => {
  it("is tried on samples of the national system", () => {
    assert.isAtLeast(new Set(published).size, 5)
  })

  it.each([...new Set([...published, ...documented])])("finds %s valid, and makes it again of its parts", (number) => {
    assert.isTrue(OfficialNumber.isValid(number))
    const [nip = "", day = "", serial = ""] = number.split("-")
    assert.strictEqual(OfficialNumber.make({ nip, day, serial }), number)
    assert.strictEqual(OfficialNumber.make({ nip, day, serial: serial.toLowerCase() }), number)
    assert.strictEqual(number.length, 35)
  })

  it("notices any one character that is wrong", () => {
    const [number = ""] = documented
    for (let index = 0; index < number.length; index++) {
      for (const character of "0123456789ABCDEF-x") {
        if (character === number[index]) continue
        assert.isFalse(OfficialNumber.isValid(number.slice(0, index) + character + number.slice(index + 1)))
      }
    }
  })

  it.each([
    "",
    "5265877635-20250626-010080DD2B5E",
    "5265877635-20250626-010080-DD2B5E-26",
    "5265877635-20250626-010080DD2B5E-26\n"
  ])("does not take %j for one", (text) => {
    assert.isFalse(OfficialNumber.isValid(text))
  })
})
