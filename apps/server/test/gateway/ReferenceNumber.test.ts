import { assert, describe, it } from "@effect/vitest"
import * as ReferenceNumber from "../../src/gateway/sandbox/ReferenceNumber.ts"

// From the OpenAPI document of the national system, one of each kind; some other examples there are made up.
const documented: ReadonlyArray<readonly [kind: ReferenceNumber.Kind, number: string]> = [
  ["session", "20250625-SO-2C3E6C8000-B675CF5D68-07"],
  ["session", "20250925-SO-2F67776000-97273B191A-65"],
  ["invoice", "20250625-EE-319D7EE000-B67F415CDC-2C"],
  ["invoice", "20250626-EE-2F20AD2000-242386DF86-52"],
  ["token", "20251010-EC-1DCE3E3000-12ECB5B36E-45"],
  ["token", "20251001-EC-220B0CE000-E228129563-96"]
]

describe("ReferenceNumber", () => {
  it.each(documented)("makes the %s number %s of its parts", (kind, number) => {
    const [day = "", , first = "", second = ""] = number.split("-")
    assert.strictEqual(ReferenceNumber.make(kind, { day, serial: first + second }), number)
    assert.strictEqual(number.length, 36)
    assert.isTrue(ReferenceNumber.isValid(number))
  })

  it("notices any one character that is wrong", () => {
    const [, number] = documented[0] ?? ["", ""]
    for (let index = 0; index < number.length; index++) {
      const wrong = number[index] === "7" ? "8" : "7"
      assert.isFalse(ReferenceNumber.isValid(number.slice(0, index) + wrong + number.slice(index + 1)), `at ${index}`)
    }
  })

  it("takes as much of the serial as it needs", () => {
    assert.strictEqual(
      ReferenceNumber.make("session", { day: "20250625", serial: "2c3e6c8000b675cf5d68ffff" }),
      "20250625-SO-2C3E6C8000-B675CF5D68-07"
    )
  })
})
