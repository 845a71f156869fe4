import { assert, describe, it } from "@effect/vitest"
import { Text } from "../src/index.ts"
import { codeUnits, hostileText, thorough } from "./arbitraries.ts"

// Refuses half a surrogate pair by throwing: an independent judge.
const isWellFormed = (text: string): boolean => {
  try {
    encodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const everyUnit = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit))

describe("Text", () => {
  describe("isStorable", () => {
    it("refuses NUL and half a surrogate pair, and nothing else", () => {
      const refused = everyUnit.filter((text) => !Text.isStorable(text)).map((text) => text.charCodeAt(0))
      assert.deepStrictEqual(refused, [0, ...Array.from({ length: 0x800 }, (_, index) => 0xd800 + index)])
    })

    it("takes a whole pair, and refuses one in the wrong order", () => {
      assert.isTrue(Text.isStorable("\ud83d\ude00"))
      assert.isFalse(Text.isStorable("\ude00\ud83d"))
      assert.isFalse(Text.isStorable("\ud83d\ud83d\ude00"))
    })

    it.prop(
      "agrees with an independent judge",
      [codeUnits],
      ([text]) => {
        assert.strictEqual(Text.isStorable(text), isWellFormed(text) && text.split("\0").length === 1)
      },
      { arbitrary: { runs: 5000 } }
    )
  })

  describe("codePoints", () => {
    it.prop(
      "counts as an array of characters does",
      [codeUnits],
      ([text]) => {
        assert.strictEqual(Text.codePoints(text), Array.from(text).length)
      },
      thorough
    )

    it("counts an emoji once and each part of a sequence", () => {
      assert.strictEqual(Text.codePoints("😀"), 1)
      assert.strictEqual(Text.codePoints("👩‍💻"), 3)
      assert.strictEqual(Text.codePoints("e\u0301"), 2)
      assert.strictEqual(Text.codePoints(""), 0)
    })
  })

  describe("utf8Bytes", () => {
    it("agrees with Node on every code unit, alone and between others", () => {
      for (const unit of everyUnit) {
        assert.strictEqual(Text.utf8Bytes(unit), Buffer.byteLength(unit, "utf8"))
        assert.strictEqual(Text.utf8Bytes(`a${unit}é`), Buffer.byteLength(`a${unit}é`, "utf8"))
        assert.strictEqual(Text.utf8Bytes(`${unit}\ude00`), Buffer.byteLength(`${unit}\ude00`, "utf8"))
        assert.strictEqual(Text.utf8Bytes(`\ud83d${unit}`), Buffer.byteLength(`\ud83d${unit}`, "utf8"))
      }
    })

    it.prop(
      "agrees with Node on any sequence of code units",
      [codeUnits],
      ([text]) => {
        assert.strictEqual(Text.utf8Bytes(text), Buffer.byteLength(text, "utf8"))
      },
      { arbitrary: { runs: 5000 } }
    )

    it.prop(
      "adds up over whole characters",
      [hostileText],
      ([text]) => {
        const sum = Array.from(text).reduce((sum, character) => sum + Text.utf8Bytes(character), 0)
        assert.strictEqual(Text.utf8Bytes(text), sum)
      },
      thorough
    )
  })
})
