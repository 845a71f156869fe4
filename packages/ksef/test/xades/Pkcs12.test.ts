import { assert, describe, it } from "@effect/vitest"
import { Pkcs12, SigningCredential } from "@govoice/ksef/xades"
import * as Effect from "effect/Effect"
import { encryptedParts, file, legacy } from "../support/pkcs12.ts"

const now = Date.parse("2026-12-01T12:00:00Z")

const reasonOf = (bytes: Buffer, password: string) =>
  Effect.map(Effect.flip(Pkcs12.read(bytes, password)), ({ reason }) => reason)

describe("Pkcs12", () => {
  it.effect("reads the certificate of the key before the others, and the key", () =>
    Effect.gen(function* () {
      const { certificates, key } = yield* Pkcs12.read(file, "zażółć")
      assert.lengthOf(certificates.match(/BEGIN CERTIFICATE/g) ?? [], 2)
      assert.strictEqual(key.asymmetricKeyType, "ec")
      const credential = yield* SigningCredential.openPkcs12(file, "zażółć", now, "offline")
      assert.strictEqual(credential.certificate.serialNumber, "01F20A5D352AE590")
      assert.isTrue(credential.certificate.checkPrivateKey(credential.key()))
    })
  )

  it.effect("checks the pair for its purpose", () =>
    Effect.gen(function* () {
      const { reason } = yield* Effect.flip(SigningCredential.openPkcs12(file, "zażółć", now))
      assert.strictEqual(reason, "offline-certificate")
      const wrong = yield* Effect.flip(SigningCredential.openPkcs12(file, "zazolc", now, "offline"))
      assert.strictEqual(wrong.reason, "password")
    })
  )

  it.effect("refuses other passwords, other ciphers, and what is no such file", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reasonOf(file, ""), "password-wrong")
      assert.strictEqual(yield* reasonOf(legacy, "pw"), "password-wrong")
      for (const bytes of [Buffer.alloc(0), Buffer.from("-----BEGIN CERTIFICATE-----"), file.subarray(0, 500)]) {
        assert.strictEqual(yield* reasonOf(bytes, "zażółć"), "unreadable")
      }
    })
  )

  it.effect("refuses the iterations of all parts together before it begins", () =>
    Effect.gen(function* () {
      const start = process.cpuUsage()
      assert.strictEqual(yield* reasonOf(encryptedParts([300_000, 300_001]), "pw"), "too-costly")
      // So many iterations would take half a second in another thread of this process.
      const { system, user } = process.cpuUsage(start)
      assert.isBelow((user + system) / 1000, 200)
      // They cannot be decrypted.
      assert.strictEqual(yield* reasonOf(encryptedParts([1000, 1000]), "pw"), "password-wrong")
    })
  )

  it.effect("returns a pair or an error for mutated files, and never throws", () =>
    Effect.gen(function* () {
      const seen = new Set<string>()
      for (let at = 0; at < file.length; at += 7) {
        const mutated = Buffer.from(file)
        mutated[at]! ^= 0x41
        const result = yield* Effect.result(SigningCredential.openPkcs12(mutated, "zażółć", now, "offline"))
        seen.add(result._tag)
      }
      assert.sameMembers([...seen], ["Success", "Failure"])
    })
  )
})
