import { inspect } from "node:util"
import { createPrivateKey } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { SigningCredential } from "@govoice/ksef/xades"
import * as Result from "effect/Result"
import { makePair, type Options, types } from "../support/certificates.ts"

const now = Date.parse("2026-11-20T12:00:00Z")
const valid = { from: now - 1000, until: now + 1000 }

const read = (options: Options, source: Partial<SigningCredential.Source> = {}, when = now) => {
  const { certificate, privateKey } = makePair({ ...valid, ...options })
  return SigningCredential.read({ certificate, privateKey, ...source }, when)
}

const reason = (result: ReturnType<typeof read>) => (Result.isFailure(result) ? result.failure.reason : "usable")

describe("SigningCredential", () => {
  it.each<[what: string, options: Options]>([
    ["RSA of 2048 bits", { key: "rsa" }],
    ["EC on P-256", { key: "P-256" }],
    ["a key usage of both kinds", { keyUsage: ["digitalSignature", "nonRepudiation"] }],
    ["no key usage", { keyUsage: "absent" }]
  ])("takes a certificate with %s", (_, options) => {
    assert.strictEqual(reason(read(options)), "usable")
  })

  it.each<[what: string, options: Options, wanted: string]>([
    ["RSA of 1024 bits", { key: "rsa-1024" }, "key-unsupported"],
    ["EC on P-384", { key: "P-384" }, "key-unsupported"],
    ["the key usage of an Offline certificate", { keyUsage: ["nonRepudiation"] }, "offline-certificate"],
    ["another key usage", { keyUsage: ["keyEncipherment"] }, "key-usage"],
    ["a validity that ended", { from: now - 2000, until: now - 1000 }, "expired"],
    ["a validity that has not begun", { from: now + 1000, until: now + 2000 }, "not-yet-valid"]
  ])("refuses a certificate with %s", (_, options, wanted) => {
    assert.strictEqual(reason(read(options)), wanted)
  })

  it("says what an Offline certificate is, and which one to use", () => {
    const result = read({ keyUsage: ["nonRepudiation"] })
    assert.match(Result.isFailure(result) ? result.failure.message : "", /Offline certificate.*Authentication/)
  })

  it("refuses what it cannot read, and a key of another certificate", () => {
    assert.strictEqual(reason(read({}, { certificate: "" })), "certificate-unreadable")
    assert.strictEqual(reason(read({}, { certificate: makePair().privateKey })), "certificate-unreadable")
    assert.strictEqual(
      reason(read({}, { privateKey: "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----" })),
      "key-unreadable"
    )
    assert.strictEqual(
      reason(read({ key: "P-256" }, { privateKey: makePair({ key: "rsa" }).privateKey })),
      "key-mismatch"
    )
  })

  it("opens a key with its password only", () => {
    const encrypted = createPrivateKey(makePair().privateKey)
      .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" })
      .toString()
    assert.strictEqual(reason(read({}, { privateKey: encrypted, password: "secret" })), "usable")
    assert.strictEqual(reason(read({}, { privateKey: encrypted, password: "other" })), "key-unreadable")
    assert.strictEqual(reason(read({}, { privateKey: encrypted })), "key-unreadable")
  })

  it("shows no key when it is printed or serialized, nor does its error", () => {
    const result = read({})
    assert.isTrue(Result.isSuccess(result))
    const printed = inspect(result, { depth: null, showHidden: true }) + JSON.stringify(result)
    assert.notMatch(printed, /PRIVATE|PrivateKeyObject/)
    const { privateKey } = makePair()
    const failed = read({}, { privateKey: privateKey.replace("PRIVATE", "PUBLIC") })
    assert.notInclude(inspect(failed, { depth: null }), privateKey.slice(100, 140))
  })

  it("reads a certificate with a name that is not only text", () => {
    assert.strictEqual(
      reason(
        read({
          subject: [
            [types.country, "PL"],
            [types.commonName, "ż"]
          ]
        })
      ),
      "usable"
    )
  })
})
