import { inspect } from "node:util"
import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { LoginDocument, SigningCredential } from "@govoice/ksef/xades"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { makePair, type Options, types } from "../support/certificates.ts"

const now = Date.parse("2026-11-20T12:00:00Z")
const valid = { from: now - 1000, until: now + 1000 }

const read = (options: Options, source: Partial<SigningCredential.Source> = {}, when = now) => {
  const { certificate, privateKey } = makePair({ ...valid, ...options })
  return SigningCredential.read({ certificate, privateKey, ...source }, when)
}

const reason = (result: ReturnType<typeof read>) => (Result.isFailure(result) ? result.failure.reason : "usable")

const encrypt = (key: KeyObject, passphrase: string) =>
  key.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase }).toString()

const seeded = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

// Changes, removes or repeats a few bytes of the DER in the PEM.
const mutate = (pem: string, random: () => number): string => {
  const [, head = "", content = "", tail = ""] = /^(-----[^\n]+-----\n)([^-]+)(-----[^\n]+-----)/.exec(pem) ?? []
  const der = [...Buffer.from(content, "base64")]
  for (let times = 1 + Math.floor(random() * 3); times > 0; times--) {
    const at = Math.floor(random() * (random() < 0.5 ? Math.min(80, der.length) : der.length))
    const length = Math.floor(random() * 4)
    const replacement = random() < 0.5 ? [Math.floor(random() * 256)] : der.slice(at, at + length)
    der.splice(at, length, ...replacement)
  }
  return `${head}${Buffer.from(der).toString("base64").replaceAll(/.{64}/g, "$&\n")}\n${tail}\n`
}

describe("SigningCredential", () => {
  it.each<[what: string, options: Options]>([
    ["RSA of 2048 bits", { key: "rsa" }],
    ["EC on P-256", { key: "P-256" }],
    ["a key usage of both kinds", { keyUsage: ["digitalSignature", "nonRepudiation"] }],
    ["no key usage", { keyUsage: "absent" }]
  ])("accepts a certificate with %s", (_, options) => {
    assert.strictEqual(reason(read(options)), "usable")
  })

  it.each<[what: string, options: Options, wanted: string]>([
    ["RSA of 1024 bits", { key: "rsa-1024" }, "key-unsupported"],
    ["RSA of 4160 bits", { key: "rsa-4160" }, "key-unsupported"],
    ["EC on P-384", { key: "P-384" }, "key-unsupported"],
    ["the key usage of an Offline certificate", { keyUsage: ["nonRepudiation"] }, "offline-certificate"],
    ["another key usage", { keyUsage: ["keyEncipherment"] }, "key-usage"],
    ["a validity that ended", { from: now - 2000, until: now - 1000 }, "expired"],
    ["a validity that has not begun", { from: now + 1000, until: now + 2000 }, "not-yet-valid"]
  ])("refuses a certificate with %s", (_, options, wanted) => {
    assert.strictEqual(reason(read(options)), wanted)
  })

  it("refuses an Offline certificate with a message that names the kind to use", () => {
    const result = read({ keyUsage: ["nonRepudiation"] })
    assert.match(Result.isFailure(result) ? result.failure.message : "", /Offline certificate.*Authentication/)
  })

  it.each<[what: string, options: Options, wanted: string]>([
    ["accepts an Offline certificate", { keyUsage: ["nonRepudiation"] }, "usable"],
    ["accepts one with a key usage of both kinds", { keyUsage: ["digitalSignature", "nonRepudiation"] }, "usable"],
    ["refuses an Authentication certificate", { keyUsage: ["digitalSignature"] }, "authentication-certificate"],
    ["refuses another key usage", { keyUsage: ["keyEncipherment"] }, "key-usage"],
    ["refuses no key usage", { keyUsage: "absent" }, "key-usage"],
    ["refuses a validity that ended", { keyUsage: ["nonRepudiation"], from: 0, until: now - 1 }, "expired"],
    ["refuses EC on P-384", { keyUsage: ["nonRepudiation"], key: "P-384" }, "key-unsupported"]
  ])("%s for invoices that are issued offline", (_, options, wanted) => {
    const { certificate, privateKey } = makePair({ ...valid, ...options })
    const result = SigningCredential.read({ certificate, privateKey }, now, "offline")
    assert.strictEqual(reason(result), wanted)
    if (wanted === "authentication-certificate") {
      assert.match(Result.isFailure(result) ? result.failure.message : "", /Request .* of the type Offline/)
    }
  })

  it("refuses a key to sign codes with that is longer than those of KSeF certificates", () => {
    const options = { ...valid, keyUsage: ["nonRepudiation"] } as const
    const offline = (key: Options["key"]) => SigningCredential.read(makePair({ ...options, key: key! }), now, "offline")
    assert.strictEqual(reason(offline("rsa")), "usable")
    assert.strictEqual(reason(offline("rsa-2080")), "key-unsupported")
  })

  it("refuses an unreadable certificate or key, and the key of another certificate", () => {
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

  it.effect("opens a key with its password only", () =>
    Effect.gen(function* () {
      const { certificate, key } = makePair(valid)
      const privateKey = encrypt(key, "secret")
      const open = (password?: string) =>
        Effect.result(SigningCredential.open({ certificate, privateKey, password }, now))
      assert.strictEqual(reason(yield* open("secret")), "usable")
      assert.strictEqual(reason(yield* open("other")), "password")
      assert.strictEqual(reason(yield* open()), "password")
      assert.strictEqual(reason(SigningCredential.read({ certificate, privateKey }, now)), "key-unreadable")
    })
  )

  it.effect("signs with a key that was sent outside of the event loop", () =>
    Effect.gen(function* () {
      const { certificate, privateKey } = makePair({ ...valid, key: "rsa" })
      const opening = yield* Effect.forkChild(SigningCredential.open({ certificate, privateKey }, now), {
        startImmediately: true
      })
      assert.isUndefined(opening.pollUnsafe(), "the signature is not made at once")
      assert.strictEqual((yield* Fiber.join(opening)).certificate.toString(), certificate)
    })
  )

  it.effect("refuses a key whose private part belongs to another public key", () =>
    Effect.gen(function* () {
      const { certificate, key } = makePair({ ...valid, key: "P-256" })
      const { d: _, ...own } = key.export({ format: "jwk" })
      const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" })
      const mixed = createPrivateKey({ key: { ...other, ...own }, format: "jwk" })
      const privateKey = mixed.export({ type: "pkcs8", format: "pem" }).toString()
      assert.strictEqual(reason(SigningCredential.read({ certificate, privateKey }, now)), "key-mismatch")
      const opened = yield* Effect.result(SigningCredential.open({ certificate, privateKey }, now))
      assert.strictEqual(reason(opened), "key-mismatch")
    })
  )

  it.effect("returns a credential or an error for mutated certificates and keys, and never throws", () =>
    Effect.gen(function* () {
      const pairs = (["rsa", "P-256"] as const).map((key) => makePair({ ...valid, key }))
      const seen = new Set<string>()
      const random = seeded(20_261_122)
      for (let n = 0; n < 1500; n++) {
        const pair = pairs[n % 2]!
        const key = n % 8 < 2 ? encrypt(pair.key, "secret") : pair.privateKey
        const certificate = n % 3 === 0 ? mutate(pair.certificate, random) : pair.certificate
        const privateKey = n % 3 === 0 ? key : mutate(key, random)
        const result = yield* Effect.result(
          SigningCredential.open({ certificate, privateKey, password: "secret" }, now)
        )
        seen.add(reason(result))
        // A login reads the names of the certificate again.
        if (Result.isSuccess(result)) {
          LoginDocument.write(
            { challenge: "c", context: { type: "Nip", value: "5265877635" }, signingTime: now },
            result.success
          )
        }
      }
      assert.includeMembers(
        [...seen],
        ["usable", "certificate-unreadable", "key-unreadable", "key-mismatch", "password"]
      )
    })
  )

  it("shows no key when the credential or its error is printed or serialized", () => {
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
