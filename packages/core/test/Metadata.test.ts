import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { Metadata } from "../src/index.ts"
import { hostileText, record, thorough } from "./arbitraries.ts"

const { fault, limits } = Metadata

const withKeys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, ""]))

// Text with a length near the limits, in characters of one, two and three UTF-16 code units.
const near = (length: number) =>
  Arbitrary.map(
    Arbitrary.all([
      Arbitrary.schema(Schema.Literals(["a", "é", "😀"])),
      Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: length - 2, maximum: length + 2 }))),
      hostileText
    ]),
    ([character, count, tail]) => character.repeat(Math.max(0, count - Array.from(tail).length)) + tail
  )

const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

// An independent definition of valid text.
const isGood = (text: string, length: number): boolean =>
  !text.includes("\0") && !loneSurrogate.test(text) && Array.from(text).length <= length

describe("Metadata", () => {
  it("has the limits of the contract", () => {
    assert.deepStrictEqual(limits, { keys: 50, keyLength: 40, valueLength: 500 })
  })

  describe("fault", () => {
    it.each<[what: string, value: unknown]>([
      ["no keys", {}],
      ["an empty key", { "": "x" }],
      ["an empty value", { x: "" }],
      ["50 keys", withKeys(50)],
      ["a key of 40 characters", { ["k".repeat(40)]: "x" }],
      ["a key of 40 emoji", { ["😀".repeat(40)]: "x" }],
      ["a value of 500 characters", { x: "v".repeat(500) }],
      ["a value of 500 emoji", { x: "😀".repeat(500) }],
      ["keys that objects have anyway", { constructor: "x", toString: "y", hasOwnProperty: "z" }],
      ["__proto__ with text", JSON.parse('{"__proto__":"x"}')],
      ["an object without a prototype", Object.assign(Object.create(null), { x: "y" })]
    ])("returns undefined for %s", (_, value) => {
      assert.isUndefined(fault(value))
    })

    it.each<[what: string, value: unknown, sentence: string]>([
      ["nothing", undefined, "metadata must be an object whose values are strings."],
      ["null", null, "metadata must be an object whose values are strings."],
      ["text", "order=1", "metadata must be an object whose values are strings."],
      ["a number", 1, "metadata must be an object whose values are strings."],
      ["true", true, "metadata must be an object whose values are strings."],
      ["a list", [], "metadata must be an object whose values are strings."],
      ["a list of text", ["a"], "metadata must be an object whose values are strings."],
      ["51 keys", withKeys(51), "metadata may have at most 50 keys."],
      ["a key of 41 characters", { ["k".repeat(41)]: "x" }, "A metadata key may have at most 40 characters."],
      ["a key of 41 emoji", { ["😀".repeat(41)]: "x" }, "A metadata key may have at most 40 characters."],
      [
        "a value of 501 characters",
        { x: "v".repeat(501) },
        'The metadata value of "x" may have at most 500 characters.'
      ],
      ["a value of 501 emoji", { x: "😀".repeat(501) }, 'The metadata value of "x" may have at most 500 characters.'],
      ["a number as a value", { x: 1 }, 'The metadata value of "x" must be a string.'],
      ["null as a value", { x: null }, 'The metadata value of "x" must be a string.'],
      ["an object as a value", { x: { y: "z" } }, 'The metadata value of "x" must be a string.'],
      ["a list as a value", { x: ["y"] }, 'The metadata value of "x" must be a string.'],
      [
        "__proto__ with an object",
        JSON.parse('{"__proto__":{"a":"b"}}'),
        'The metadata value of "__proto__" must be a string.'
      ],
      ["__proto__ with null", JSON.parse('{"__proto__":null}'), 'The metadata value of "__proto__" must be a string.'],
      ["NUL in a key", { "a\0b": "x" }, "A metadata key contains a NUL or an unpaired surrogate."],
      ["half a pair in a key", { "\ud83d": "x" }, "A metadata key contains a NUL or an unpaired surrogate."],
      ["NUL in a value", { x: "a\0b" }, 'The metadata value of "x" contains a NUL or an unpaired surrogate.'],
      ["half a pair in a value", { x: "\ude00" }, 'The metadata value of "x" contains a NUL or an unpaired surrogate.'],
      ["a quote in the key at fault", { 'a"b': 1 }, 'The metadata value of "a\\"b" must be a string.'],
      ["a fault after good keys", { a: "1", b: "2", c: 3 }, 'The metadata value of "c" must be a string.']
    ])("returns a sentence for %s", (_, value, sentence) => {
      assert.strictEqual(fault(value), sentence)
    })

    it.prop(
      "agrees with an independent definition of the limits",
      [Arbitrary.array(Arbitrary.all([near(40), near(500)]), { maxLength: 2 })],
      ([entries]) => {
        const metadata = record(entries)
        const good = Object.entries(metadata).every(([key, value]) => isGood(key, 40) && isGood(value, 500))
        assert.strictEqual(fault(metadata) === undefined, good)
      },
      thorough
    )

    it.prop(
      "returns a sentence without the value at fault",
      [hostileText, Schema.Literals(["\0", "\ud800", "v".repeat(501)])],
      ([key, flaw]) => {
        const value = `secret-7c1f${flaw}`
        assert.notInclude(fault(record([[key, value]]))!, "7c1f")
      },
      thorough
    )

    it.prop(
      "accepts 50 keys and rejects 51, whatever their names",
      [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))],
      ([count]) => {
        assert.strictEqual(fault(withKeys(count)) === undefined, count <= 50)
      },
      thorough
    )
  })

  describe("the schema", () => {
    const decode = Schema.decodeUnknownSync(Metadata.Metadata)
    const encode = Schema.encodeSync(Metadata.Metadata)

    it("keeps __proto__ as an own key when decoding and encoding", () => {
      const metadata = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>
      const there = decode(metadata)
      assert.strictEqual(JSON.stringify(there), '{"__proto__":"x","constructor":"y"}')
      assert.strictEqual(JSON.stringify(encode(there)), '{"__proto__":"x","constructor":"y"}')
      assert.strictEqual(Object.getPrototypeOf(there), Object.prototype)
    })

    it.prop(
      "keeps text unchanged",
      [Arbitrary.array(Arbitrary.all([hostileText, hostileText]), { maxLength: 5 })],
      ([entries]) => {
        const metadata = record(entries)
        assert.deepStrictEqual(Object.entries(encode(decode(metadata))), Object.entries(metadata))
      },
      thorough
    )

    it("rejects values that are not strings", () => {
      for (const value of [{ x: 1 }, { x: null }, { x: {} }, JSON.parse('{"__proto__":{}}'), [], null, "x"]) {
        assert.throws(() => decode(value))
      }
    })
  })
})
