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
        assert.isTrue(Sha256.isBase64(text))
      })
    )
  })

  it.each([
    "",
    "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0",
    "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa1=",
    "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0=",
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\n"
  ])("rejects %j as a hash in Base64", (text) => {
    assert.isFalse(Sha256.isBase64(text))
  })
})
