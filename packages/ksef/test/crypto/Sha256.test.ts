import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Sha256 } from "@govoice/ksef/crypto"
import * as fc from "fast-check"

describe("Sha256", () => {
  it("hashes the vector of FIPS 180-4", () => {
    assert.strictEqual(Sha256.base64(Buffer.from("abc")), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
  })

  it("returns 44 characters of Base64, like Node", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = Sha256.base64(bytes)
        assert.strictEqual(text, createHash("sha256").update(bytes).digest("base64"))
        assert.strictEqual(text.length, 44)
      })
    )
  })
})
