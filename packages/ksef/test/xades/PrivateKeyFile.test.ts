import { assert, describe, it } from "@effect/vitest"
import { PrivateKeyFile } from "@govoice/ksef/xades"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createCipheriv, createHash, generateKeyPairSync, type KeyObject, pbkdf2Sync, randomBytes } from "node:crypto"
import { makePair } from "../support/certificates.ts"

const tlv = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const size = content.length < 0x80 ? [content.length] : [0x82, content.length >>> 8, content.length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => tlv(0x30, ...parts)
const octets = (content: Uint8Array) => tlv(0x04, content)
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, "hex"))
const integer = (value: number | bigint) => {
  const digits = value.toString(16)
  const hex = digits.length % 2 === 0 ? digits : `0${digits}`
  return tlv(0x02, Buffer.from(hex >= "8" ? `00${hex}` : hex, "hex"))
}

const oids = {
  pbes2: "2a864886f70d01050d",
  pbkdf2: "2a864886f70d01050c",
  scrypt: "2b06010401da47040b",
  sha512: "2a864886f70d020b",
  aes256: "60864801650304012a",
  tripleDes: "2a864886f70d0307",
  pbeSha1TripleDes: "2a864886f70d010c0103",
  dsa: "2a8648ce380401"
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

/** An odd number of so many bits. */
const number = (bits: number) =>
  integer(BigInt(`0x${randomBytes(bits / 8).toString("hex")}`) | (1n << BigInt(bits - 1)) | 1n)

const version = integer(0)

// With numbers as long as this, OpenSSL takes seconds to compute the public key, which the file leaves out.
const dsaBits = 20_000
const dsaAlgorithm = sequence(oid(oids.dsa), sequence(number(dsaBits), number(256), integer(2)))
const dsa = sequence(version, dsaAlgorithm, octets(number(dsaBits)))

/** Encrypts as OpenSSL did before PKCS#8. */
const older = (label: string, der: Uint8Array) => {
  const iv = randomBytes(16)
  const digest = (...parts: ReadonlyArray<Uint8Array>) => createHash("md5").update(Buffer.concat(parts)).digest()
  const cipher = createCipheriv("aes-128-cbc", digest(Buffer.from("secret"), iv.subarray(0, 8)), iv)
  const content = Buffer.concat([cipher.update(der), cipher.final()]).toString("base64")
  const header = `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${iv.toString("hex").toUpperCase()}`
  return `-----BEGIN ${label}-----\n${header}\n\n${content.replaceAll(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`
}

const { key, privateKey } = makePair()

/** The numbers of the key, of which some are replaced by ones that are as good, and longer. */
const rsa = (longer: "e" | "d" | "dp" | "none") => {
  const jwk = key.export({ format: "jwk" }) as Record<string, string>
  const value = (name: string) => BigInt(`0x${Buffer.from(jwk[name]!, "base64url").toString("hex")}`)
  const factor = (name: string, times: bigint) => (longer === name ? times << 30_000n : 0n)
  const numbers = [
    value("n"),
    value("e") + factor("e", (value("p") - 1n) * (value("q") - 1n)),
    value("d") + factor("d", (value("p") - 1n) * (value("q") - 1n)),
    ...["p", "q"].map(value),
    value("dp") + factor("dp", value("p") - 1n),
    ...["dq", "qi"].map(value)
  ]
  return pem("RSA PRIVATE KEY", sequence(version, ...numbers.map(integer)))
}

/** Whose parameters are in the file. */
const onOwnCurve = (type: "pkcs8" | "sec1") => {
  // The types of Node have this for PEM and DER alone.
  const options = { namedCurve: "P-256", paramEncoding: "explicit" } as { namedCurve: string }
  return generateKeyPairSync("ec", options).privateKey.export({ type, format: "pem" }).toString()
}

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
    ["PBKDF2", pbes2(key, { digest: "sha512", iterations: 1, stated: 600_001 })],
    ["PBKDF2 beyond any number", pbes2(key, { digest: "sha512", iterations: 1, stated: Number.MAX_SAFE_INTEGER })]
  ])("refuses the iterations of %s before it begins", ([, text]) =>
    Effect.gen(function* () {
      const start = process.cpuUsage()
      assert.strictEqual(yield* reason(text, "secret"), "too-costly")
      // So many iterations would take half a second in another thread of this process.
      const { system, user } = process.cpuUsage(start)
      assert.isBelow((user + system) / 1000, 200)
    })
  )

  it.effect.each<[what: string, text: string]>([
    ["scrypt", scrypt(2 ** 14, 8, 1)],
    [
      "PKCS#12",
      encryptedPem(sequence(oid(oids.pbeSha1TripleDes), sequence(octets(salt), integer(2048))), randomBytes(64))
    ]
  ])("does not support the encryption of %s, which OpenSSL opens on the event loop", ([, text]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reason(text, "secret"), "password-wrong")
    })
  )

  it.effect.each<[what: string, text: string, wanted: PrivateKeyFile.KeyFileError["reason"]]>([
    ["DSA", pem("PRIVATE KEY", dsa), "unsupported"],
    ["DSA, called RSA", pem("RSA PRIVATE KEY", dsa), "unreadable"],
    ["DSA, called EC", pem("EC PRIVATE KEY", dsa), "unreadable"],
    ["DSA, encrypted by older OpenSSL", older("PRIVATE KEY", dsa), "unsupported"],
    ["DSA, encrypted by older OpenSSL and called RSA", older("RSA PRIVATE KEY", dsa), "password-wrong"],
    ["EC on a curve of its own", onOwnCurve("pkcs8"), "unreadable"],
    ["EC on a curve of its own, by the older form", onOwnCurve("sec1"), "unreadable"],
    ["RSA with a long public exponent", rsa("e"), "unreadable"],
    ["RSA with a long exponent", rsa("d"), "unreadable"],
    ["RSA with a long exponent of a prime", rsa("dp"), "unreadable"]
  ])("refuses a key of %s before OpenSSL computes with it", ([, text, wanted]) =>
    Effect.gen(function* () {
      const start = process.cpuUsage()
      assert.strictEqual(yield* reason(text, "secret"), wanted)
      assert.isUndefined(PrivateKeyFile.readPlain(text))
      const { system, user } = process.cpuUsage(start)
      assert.isBelow((user + system) / 1000, 1000)
    })
  )

  it.effect("reads the keys that those were made from", () =>
    Effect.gen(function* () {
      const der = key.export({ type: "pkcs1", format: "der" })
      assert.strictEqual(yield* reason(rsa("none")), true)
      assert.strictEqual(yield* reason(older("RSA PRIVATE KEY", der), "secret"), true)
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
