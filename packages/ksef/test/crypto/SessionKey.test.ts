import { createCipheriv, generateKeyPairSync } from "node:crypto"
import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Oaep, SessionKey } from "@govoice/ksef/crypto"
import * as fc from "fast-check"

const hex = (text: string) => Buffer.from(text, "hex")
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })

const keyBytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
const vectorBytes = fc.uint8Array({ minLength: 16, maxLength: 16 })

describe("SessionKey", () => {
  it("encrypts the AES-256-CBC vector of NIST SP 800-38A (F.2.5)", () => {
    const key = SessionKey.from(
      hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"),
      hex("000102030405060708090a0b0c0d0e0f")
    )
    const plain = hex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" +
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )
    const encrypted = key.encrypt(plain)
    assert.strictEqual(
      encrypted.subarray(0, 64).toString("hex"),
      "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d" +
        "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"
    )
    assert.strictEqual(encrypted.length, 80)
  })

  it("decrypts what it encrypted, in the length that KSeF documents, without the vector", () => {
    fc.assert(
      fc.property(keyBytes, vectorBytes, fc.uint8Array({ maxLength: 200 }), (key, vector, bytes) => {
        const pair = SessionKey.from(key, vector)
        const encrypted = pair.encrypt(bytes)
        assert.strictEqual(encrypted.length, 16 * (Math.floor(bytes.length / 16) + 1))
        assert.deepStrictEqual(pair.decrypt(encrypted), Buffer.from(bytes))
        // Another vector changes the first block alone, so the vector is not part of what was encrypted.
        const elsewhere = SessionKey.from(
          key,
          vector.map((byte) => byte ^ 1)
        )
        assert.deepStrictEqual(elsewhere.encrypt(bytes).length, encrypted.length)
      })
    )
  })

  it("does not decrypt a wrong length or a wrong padding", () => {
    const key = Buffer.alloc(32, 1)
    const vector = Buffer.alloc(16, 2)
    const pair = SessionKey.from(key, vector)
    const encrypted = pair.encrypt(Buffer.from("document"))
    assert.isUndefined(pair.decrypt(encrypted.subarray(0, 15)))
    assert.isUndefined(pair.decrypt(Buffer.alloc(0)))
    const unpadded = createCipheriv("aes-256-cbc", key, vector).setAutoPadding(false)
    assert.isUndefined(pair.decrypt(Buffer.concat([unpadded.update(Buffer.alloc(16, 0)), unpadded.final()])))
  })

  it("wraps its key with OAEP, and gives the vector in Base64", () => {
    const pair = SessionKey.generate()
    const key = Oaep.decrypt(privateKey, Buffer.from(pair.wrappedFor(publicKey), "base64"))
    const copy = SessionKey.from(key!, Buffer.from(pair.initializationVector, "base64"))
    const document = Buffer.from("document")
    assert.deepStrictEqual(copy.decrypt(pair.encrypt(document)), document)
  })

  it("has another key and another vector each time", () => {
    const document = Buffer.from("document")
    const [first, second] = [SessionKey.generate(), SessionKey.generate()]
    assert.notStrictEqual(first.initializationVector, second.initializationVector)
    assert.notDeepEqual(first.decrypt(second.encrypt(document)), document)
  })

  it("copies the bytes it is made of", () => {
    const key = Buffer.alloc(32, 1)
    const pair = SessionKey.from(key, Buffer.alloc(16))
    const before = pair.encrypt(Buffer.from("document"))
    key.fill(9)
    assert.deepStrictEqual(pair.encrypt(Buffer.from("document")), before)
  })

  it.each([
    [16, 16],
    [0, 16],
    [33, 16],
    [32, 0],
    [32, 12],
    [32, 32]
  ])("refuses a key of %i and a vector of %i bytes", (key, vector) => {
    assert.throws(() => SessionKey.from(Buffer.alloc(key), Buffer.alloc(vector)), RangeError)
  })

  it("throws for each use after it is wiped", () => {
    const pair = SessionKey.generate()
    const encrypted = pair.encrypt(Buffer.from("document"))
    pair.wipe()
    assert.throws(() => pair.encrypt(Buffer.from("document")), /wiped/)
    assert.throws(() => pair.decrypt(encrypted), /wiped/)
    assert.throws(() => pair.wrappedFor(publicKey), /wiped/)
    assert.throws(() => pair.initializationVector, /wiped/)
  })

  it("shows no bytes when it is printed or serialized", () => {
    const pair = SessionKey.from(Buffer.alloc(32, 0xab), Buffer.alloc(16, 0xcd))
    const printed = inspect(pair, { depth: null, showHidden: true }) + JSON.stringify({ pair })
    assert.notMatch(printed, /ab|cd|171|205|q6ur/i)
  })
})
