import { assert, describe, it } from "@effect/vitest"
import { PrivateKeyFile } from "@govoice/ksef/xades"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createCipheriv, type KeyObject, pbkdf2Sync, randomBytes } from "node:crypto"
import { makePair } from "../support/certificates.ts"

const tlv = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const size = content.length < 0x80 ? [content.length] : [0x82, content.length >>> 8, content.length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => tlv(0x30, ...parts)
const octets = (content: Uint8Array) => tlv(0x04, content)
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, "hex"))
const integer = (value: number) => {
  const hex = value.toString(16)
  return tlv(0x02, Buffer.from(hex.length % 2 === 0 ? `00${hex}` : `000${hex}`, "hex"))
}

const oids = {
  pbes2: "2a864886f70d01050d",
  pbkdf2: "2a864886f70d01050c",
  scrypt: "2b06010401da47040b",
  sha512: "2a864886f70d020b",
  aes256: "60864801650304012a",
  tripleDes: "2a864886f70d0307",
  pbeSha1TripleDes: "2a864886f70d010c0103"
}

const pem = (label: string, der: Uint8Array) =>
  `-----BEGIN ${label}-----\n${Buffer.from(der).toString("base64")}\n-----END ${label}-----\n`

const encryptedPem = (algorithm: Uint8Array, content: Uint8Array) =>
  pem("ENCRYPTED PRIVATE KEY", sequence(algorithm, octets(content)))

const salt = randomBytes(16)

/** Encrypts a key with PBES2 (RFC 8018), and can state other iterations than it used. */
const pbes2 = (
  key: KeyObject,
  { digest, iterations, stated = iterations }: { digest: "sha1" | "sha512"; iterations: number; stated?: number },
  cipher: "aes-256-cbc" | "des-ede3-cbc" = "aes-256-cbc"
) => {
  const [length, blockSize, cipherOid] =
    cipher === "aes-256-cbc" ? ([32, 16, oids.aes256] as const) : ([24, 8, oids.tripleDes] as const)
  const iv = randomBytes(blockSize)
  const encryption = createCipheriv(cipher, pbkdf2Sync("secret", salt, iterations, length, digest), iv)
  const content = Buffer.concat([encryption.update(key.export({ type: "pkcs8", format: "der" })), encryption.final()])
  const prf = digest === "sha1" ? [] : [sequence(oid(oids.sha512), Buffer.from([5, 0]))]
  const derivation = sequence(oid(oids.pbkdf2), sequence(octets(salt), integer(stated), ...prf))
  return encryptedPem(sequence(oid(oids.pbes2), sequence(derivation, sequence(oid(cipherOid), octets(iv)))), content)
}

const scrypt = (n: number, r: number, p: number) => {
  const derivation = sequence(oid(oids.scrypt), sequence(octets(salt), integer(n), integer(r), integer(p)))
  const encryption = sequence(oid(oids.aes256), octets(randomBytes(16)))
  return encryptedPem(sequence(oid(oids.pbes2), sequence(derivation, encryption)), randomBytes(64))
}

const { key, privateKey } = makePair()

const reason = (text: string, password?: string) =>
  Effect.map(Effect.result(PrivateKeyFile.read(text, password)), (result) =>
    Result.isFailure(result) ? result.failure.reason : result.success.equals(key)
  )

describe("PrivateKeyFile", () => {
  it.effect.each<[what: string, text: string]>([
    ["PKCS#8", privateKey],
    ["PKCS#1", key.export({ type: "pkcs1", format: "pem" }).toString()],
    ["other blocks around it", `-----BEGIN EC PARAMETERS-----\nAA==\n-----END EC PARAMETERS-----\n${privateKey}`]
  ])("reads a key in %s", ([, text]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reason(text), true)
      assert.strictEqual(yield* reason(text, "a password that is not needed"), true)
    })
  )

  it.effect.each<[what: string, text: string]>([
    [
      "Node and OpenSSL write",
      key.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" }).toString()
    ],
    [
      "older OpenSSL writes",
      key.export({ type: "pkcs1", format: "pem", cipher: "aes-128-cbc", passphrase: "secret" }).toString()
    ],
    ["PBES2 has with SHA-512", pbes2(key, { digest: "sha512", iterations: 1000 })],
    ["PBES2 has by default", pbes2(key, { digest: "sha1", iterations: 1000 }, "des-ede3-cbc")]
  ])("opens an encryption that %s", ([, text]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reason(text, "secret"), true)
      assert.strictEqual(yield* reason(text, "other"), "password-wrong")
      assert.strictEqual(yield* reason(text, ""), "password-wrong")
      assert.strictEqual(yield* reason(text), "password-missing")
      assert.isUndefined(PrivateKeyFile.readPlain(text))
    })
  )

  it.effect.each<[what: string, text: string]>([
    ["PBKDF2", pbes2(key, { digest: "sha512", iterations: 1, stated: 2_000_001 })],
    ["PBKDF2 beyond any number", pbes2(key, { digest: "sha512", iterations: 1, stated: Number.MAX_SAFE_INTEGER })],
    ["scrypt", scrypt(2 ** 17, 1, 2 ** 17)],
    [
      "PKCS#12",
      encryptedPem(sequence(oid(oids.pbeSha1TripleDes), sequence(octets(salt), integer(2 ** 31 - 1))), randomBytes(64))
    ]
  ])("refuses the iterations of %s before it begins", ([, text]) =>
    Effect.gen(function* () {
      const start = process.cpuUsage()
      assert.strictEqual(yield* reason(text, "secret"), "too-costly")
      // Two million iterations would take several seconds in another thread of this process.
      const { system, user } = process.cpuUsage(start)
      assert.isBelow((user + system) / 1000, 1000)
    })
  )

  it.effect("hashes a password outside of the event loop", () =>
    Effect.gen(function* () {
      let turns = 0
      const ticks = setInterval(() => turns++, 1)
      assert.strictEqual(yield* reason(pbes2(key, { digest: "sha512", iterations: 300_000 }), "secret"), true)
      clearInterval(ticks)
      assert.isAbove(turns, 5)
    })
  )

  it.effect.each<[what: string, text: string]>([
    ["nothing", ""],
    ["no key", "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----"],
    ["an empty block", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----"],
    ["an empty encrypted block", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n-----END ENCRYPTED PRIVATE KEY-----"],
    ["an encryption with an endless identifier", encryptedPem(sequence(oid("ff".repeat(65)), sequence()), salt)],
    ["a block of another end", privateKey.replace("END PRIVATE", "END RSA PRIVATE")],
    ["a block within a block", privateKey.replace("\n", "\n-----BEGIN ENCRYPTED PRIVATE KEY-----\n")],
    ["a public key", privateKey.replaceAll("PRIVATE", "PUBLIC")]
  ])("refuses %s", ([, text]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reason(text, "secret"), "unreadable")
      assert.isUndefined(PrivateKeyFile.readPlain(text))
    })
  )
})
