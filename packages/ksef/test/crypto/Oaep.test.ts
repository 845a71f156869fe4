import { constants, createHash, generateKeyPairSync, publicEncrypt } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Oaep } from "@govoice/ksef/crypto"
import * as fc from "fast-check"

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const other = generateKeyPairSync("rsa", { modulusLength: 2048 })

const sha256 = (...parts: ReadonlyArray<Uint8Array>) => createHash("sha256").update(Buffer.concat(parts)).digest()

/** MGF1 of RFC 8017 (B.2.1) with SHA-256. */
const mask = (seed: Uint8Array, length: number): Buffer => {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, counter) => {
    const suffix = Buffer.alloc(4)
    suffix.writeUInt32BE(counter)
    return sha256(seed, suffix)
  })
  return Buffer.concat(blocks).subarray(0, length)
}

const xor = (left: Uint8Array, right: Uint8Array) => Buffer.from(left.map((byte, index) => byte ^ right[index]!))

/** EME-OAEP encoding of RFC 8017 (7.1.1) with SHA-256 for the label and for MGF1, encrypted without padding. */
const encryptByHand = (message: Uint8Array, seed: Uint8Array): Buffer => {
  const length = 256
  const zeros = Buffer.alloc(length - message.length - 2 * 32 - 2)
  const block = Buffer.concat([sha256(), zeros, Buffer.from([1]), message])
  const maskedBlock = xor(block, mask(seed, block.length))
  const maskedSeed = xor(seed, mask(maskedBlock, 32))
  const encoded = Buffer.concat([Buffer.from([0]), maskedSeed, maskedBlock])
  return publicEncrypt({ key: publicKey, padding: constants.RSA_NO_PADDING }, encoded)
}

const message = fc.uint8Array({ maxLength: 190 })
const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe("Oaep", () => {
  it("decrypts what it encrypted", () => {
    fc.assert(
      fc.property(message, (bytes) => {
        const encrypted = Oaep.encrypt(publicKey, bytes)
        assert.strictEqual(encrypted.length, 256)
        assert.deepStrictEqual(Oaep.decrypt(privateKey, encrypted), Buffer.from(bytes))
      }),
      { numRuns: 50 }
    )
  })

  it("decrypts what RFC 8017 encodes with SHA-256 for the hash and for MGF1", () => {
    fc.assert(
      fc.property(message, seed, (bytes, seed) => {
        assert.deepStrictEqual(Oaep.decrypt(privateKey, encryptByHand(bytes, seed)), Buffer.from(bytes))
      }),
      { numRuns: 50 }
    )
  })

  it("does not decrypt SHA-1, PKCS#1 v1.5, another key's text, or noise", () => {
    const bytes = Buffer.from("token|1")
    const padding = constants.RSA_PKCS1_OAEP_PADDING
    for (const encrypted of [
      publicEncrypt({ key: publicKey, padding }, bytes),
      publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, bytes),
      Oaep.encrypt(other.publicKey, bytes),
      Buffer.alloc(256, 7),
      Buffer.alloc(0),
      Buffer.alloc(255)
    ]) {
      assert.notDeepEqual(Oaep.decrypt(privateKey, encrypted), bytes)
    }
    assert.isUndefined(Oaep.decrypt(privateKey, publicEncrypt({ key: publicKey, padding }, bytes)))
  })

  it("throws where the bytes do not fit, and encrypts the longest token with its time", () => {
    assert.throws(() => Oaep.encrypt(publicKey, Buffer.alloc(191)))
    // A token of 160 characters, the separator, and milliseconds.
    assert.strictEqual(Oaep.encrypt(publicKey, Buffer.alloc(160 + 1 + 13)).length, 256)
  })
})
