import { assert, describe, it } from "@effect/vitest"
import { randomBytes } from "node:crypto"
import * as KeyRing from "../../src/crypto/KeyRing.ts"

const key = (id: string) => ({ id, bytes: new Uint8Array(randomBytes(32)) })
const place = { column: "webhook_endpoints.secret", row: "we_1" } as const

describe("KeyRing", () => {
  const [first, second] = [key("first"), key("second")]
  const ring = KeyRing.make([first, second])

  it("decrypts any text that it encrypted", () => {
    for (const plain of ["", "a", "zażółć 𝄞", "x".repeat(10_000)]) {
      assert.strictEqual(ring.open(ring.seal(plain, place), place), plain)
    }
  })

  it("encrypts the same text to a different ciphertext each time", () => {
    const sealed = Array.from({ length: 1000 }, () => Buffer.from(ring.seal("whsec_secret", place)).toString("latin1"))
    assert.strictEqual(new Set(sealed).size, 1000)
    assert.isFalse(sealed.some((text) => text.includes("whsec")))
  })

  it("decrypts no value of another row or column", () => {
    const sealed = ring.seal("a", place)
    assert.throws(() => ring.open(sealed, { ...place, row: "we_2" }))
    assert.throws(() => ring.open(sealed, { ...place, column: "organizations.credential" }))
  })

  const opens = (sealed: Uint8Array): boolean => {
    try {
      ring.open(sealed, place)
      return true
    } catch {
      return false
    }
  }

  it("decrypts no value with a changed bit or a missing byte", () => {
    for (const sealed of [ring.seal("whsec_secret", place), ring.seal("", place)]) {
      for (let bit = 0; bit < sealed.length * 8; bit++) {
        const changed = new Uint8Array(sealed)
        changed[bit >> 3]! ^= 1 << (bit & 7)
        assert.isFalse(opens(changed), `bit ${bit}`)
      }
      for (let length = 0; length < sealed.length; length++) {
        assert.isFalse(opens(sealed.slice(0, length)), `${length} bytes`)
      }
    }
  })

  it("decrypts with every key, encrypts with the first, and names the key of a value", () => {
    const old = KeyRing.make([second]).seal("a", place)
    assert.strictEqual(ring.open(old, place), "a")
    assert.isFalse(ring.isCurrent(old))
    assert.isTrue(ring.isCurrent(ring.seal("a", place)))
    assert.throws(() => KeyRing.make([first]).open(old, place), "GOVOICE_ENCRYPTION_KEYS lacks the key")
  })

  it("does not decrypt with another key of the same id", () => {
    assert.throws(() => KeyRing.make([key("first")]).open(ring.seal("a", place), place))
  })
})
