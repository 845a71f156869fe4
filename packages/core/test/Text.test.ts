import { assert, describe, it } from "@effect/vitest"
import { Text } from "../src/index.ts"
import { codeUnits, hostileText, thorough } from "./arbitraries.ts"

// An independent check: it throws for an unpaired surrogate.
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
    it("rejects NUL and unpaired surrogates only", () => {
      const refused = everyUnit.filter((text) => !Text.isStorable(text)).map((text) => text.charCodeAt(0))
      assert.deepStrictEqual(refused, [0, ...Array.from({ length: 0x800 }, (_, index) => 0xd800 + index)])
    })

    it("accepts a surrogate pair, and rejects one in the wrong order", () => {
      assert.isTrue(Text.isStorable("\ud83d\ude00"))
      assert.isFalse(Text.isStorable("\ude00\ud83d"))
      assert.isFalse(Text.isStorable("\ud83d\ud83d\ude00"))
    })

    it.prop(
      "agrees with an independent check",
      [codeUnits],
      ([text]) => {
        assert.strictEqual(Text.isStorable(text), isWellFormed(text) && text.split("\0").length === 1)
      },
      { arbitrary: { runs: 5000 } }
    )
  })

  describe("truncate", () => {
    it("cuts no surrogate pair in two", () => {
      assert.strictEqual(Text.truncate("a😀b", 2), "a😀")
      assert.strictEqual(Text.truncate("a😀b", 3), "a😀b")
      assert.strictEqual(Text.truncate("a😀b", 0), "")
      assert.strictEqual(Text.truncate("\ud83dab", 2), "\ud83da")
    })

    it.prop(
      "returns the longest beginning that has at most the given number of code points",
      [codeUnits],
      ([text]) => {
        const points = Array.from(text)
        for (let length = 0; length <= points.length + 1; length++) {
          assert.strictEqual(Text.truncate(text, length), points.slice(0, length).join(""))
        }
      },
      { arbitrary: { runs: 1000 } }
    )
  })

  describe("codePoints", () => {
    it.prop(
      "agrees with the length of an array of code points",
      [codeUnits],
      ([text]) => {
        assert.strictEqual(Text.codePoints(text), Array.from(text).length)
      },
      thorough
    )

    it("counts an emoji once, and each code point of a sequence", () => {
      assert.strictEqual(Text.codePoints("😀"), 1)
      assert.strictEqual(Text.codePoints("👩‍💻"), 3)
      assert.strictEqual(Text.codePoints("e\u0301"), 2)
      assert.strictEqual(Text.codePoints(""), 0)
    })
  })

  describe("utf8Bytes", () => {
    it("agrees with Node on every code unit, alone and between others", () => {
      const differs = (text: string): boolean => Text.utf8Bytes(text) !== Buffer.byteLength(text, "utf8")
      const texts = everyUnit.flatMap((unit) => [unit, `a${unit}é`, `${unit}\ude00`, `\ud83d${unit}`])
      assert.isAbove(texts.length, 200_000)
      // One assertion for all of them: an assertion for each takes seconds.
      assert.deepStrictEqual(texts.filter(differs), [])
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
      "is additive over whole characters",
      [hostileText],
      ([text]) => {
        const sum = Array.from(text).reduce((sum, character) => sum + Text.utf8Bytes(character), 0)
        assert.strictEqual(Text.utf8Bytes(text), sum)
      },
      thorough
    )
  })
})
