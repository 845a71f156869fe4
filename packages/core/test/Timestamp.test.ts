import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Timestamp } from "../src/index.ts"
import { thorough } from "./arbitraries.ts"

const isTimestamp = Schema.is(Timestamp.Timestamp)

// Years 0 to 9999: four digits.
const Millis = Schema.Int.check(Schema.isBetween({ minimum: -62_167_219_200_000, maximum: 253_402_300_799_999 }))

describe("Timestamp", () => {
  it.prop(
    "accepts every date that JSON.stringify writes",
    [Millis],
    ([millis]) => {
      assert.isTrue(isTimestamp(JSON.parse(JSON.stringify(new Date(millis)))))
    },
    thorough
  )

  it.each([
    "2026-11-20",
    "2026-11-20T09:00:00Z",
    "2026-11-20T09:00:00.00Z",
    "2026-11-20T09:00:00.0000Z",
    "2026-11-20T09:00:00.000",
    "2026-11-20T09:00:00.000z",
    "2026-11-20t09:00:00.000Z",
    "2026-11-20 09:00:00.000Z",
    "2026-11-20T09:00:00.000+00:00",
    "2026-11-20T10:00:00.000+01:00",
    "+002026-11-20T09:00:00.000Z",
    " 2026-11-20T09:00:00.000Z",
    "2026-11-20T09:00:00.000Z\n",
    "2026-00-20T09:00:00.000Z",
    "2026-13-20T09:00:00.000Z",
    "2026-11-00T09:00:00.000Z",
    "2026-11-31T09:00:00.000Z",
    "2026-02-29T09:00:00.000Z",
    "2026-11-20T24:00:00.000Z",
    "2026-11-20T09:60:00.000Z",
    "2026-11-20T23:59:60.000Z",
    "٢٠٢٦-11-20T09:00:00.000Z",
    "",
    "now"
  ])("rejects %j", (text) => {
    assert.isFalse(isTimestamp(text))
  })

  it("accepts February 29 in leap years only", () => {
    assert.isTrue(isTimestamp("2028-02-29T09:00:00.000Z"))
    assert.isTrue(isTimestamp("2000-02-29T09:00:00.000Z"))
    assert.isFalse(isTimestamp("2100-02-29T09:00:00.000Z"))
  })

  it("rejects values that are not strings", () => {
    for (const value of [null, undefined, 1_795_000_000_000, new Date(0)]) assert.isFalse(isTimestamp(value))
  })

  // Nothing else notices a part that is missing from the OpenAPI document.
  it("has its format, its pattern and a valid example in its JSON Schema", () => {
    const { schema } = Schema.toJsonSchemaDocument(Timestamp.Timestamp)
    assert.strictEqual(schema["type"], "string")
    assert.strictEqual(schema["format"], "date-time")
    const pattern = new RegExp(schema["pattern"] as string, "u")
    for (const example of schema["examples"] as ReadonlyArray<string>) {
      assert.isTrue(isTimestamp(example))
      assert.match(example, pattern)
    }
    assert.notMatch("2026-11-20T09:00:00Z", pattern)
  })
})
