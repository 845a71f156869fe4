/**
 * Reads private keys in PEM, also encrypted ones, with bounded work: the file itself says how much a password and a key cost.
 *
 * @since 0.1.0
 */
import { createDecipheriv, createHash, createPrivateKey, type KeyObject, pbkdf2 } from "node:crypto"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { attempt } from "../crypto/attempt.ts"
import * as Certificate from "./Certificate.ts"
import * as Der from "./Der.ts"

/**
 * Why a key cannot be read. The message is a sentence for its owner.
 *
 * @category errors
 * @since 0.1.0
 */
export class KeyFileError extends Data.TaggedError("KeyFileError")<{
  readonly reason: "unreadable" | "unsupported" | "password-missing" | "password-wrong" | "too-costly"
  readonly message: string
}> {}

/**
 * Reads a private key, and decrypts it when it is encrypted. Passwords are hashed outside of the event loop.
 *
 * **Details**
 *
 * The text has one block `PRIVATE KEY`, `ENCRYPTED PRIVATE KEY`, `RSA PRIVATE KEY` or `EC PRIVATE KEY`; others are ignored.
 * A password may cost up to 600,000 iterations of PBKDF2.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (pem: string, password?: string): Effect.Effect<KeyObject, KeyFileError> =>
  Effect.suspend(() => {
    const block = blockOf(pem)
    if (block === undefined) return fail("unreadable")
    if (block.kind === "ENCRYPTED PRIVATE KEY") return decrypt(Buffer.from(block.content, "base64"), password)
    if (!isEncrypted(block)) return parse(() => keyOf(Buffer.from(block.content, "base64"), block.kind), "unreadable")
    return password === undefined
      ? fail("password-missing")
      : parse(() => keyOf(openOlder(block.content, password), block.kind), "password-wrong")
  })

/**
 * Reads a private key that is not encrypted, or returns `undefined`.
 *
 * @category parsing
 * @since 0.1.0
 */
export const readPlain = (pem: string): KeyObject | undefined => {
  const block = blockOf(pem)
  if (block === undefined || isEncrypted(block)) return undefined
  return attempt(() => keyOf(Buffer.from(block.content, "base64"), block.kind))
}

/**
 * Decrypts bytes that were encrypted as private keys are (RFC 5958), with PBES2.
 *
 * @category parsing
 * @since 0.1.0
 */
export const open = (encrypted: Buffer, password: string): Effect.Effect<Buffer, KeyFileError> =>
  Effect.suspend(() => {
    const encryption = attempt(() => readEncryption(encrypted))
    if (encryption === undefined) return fail("unreadable")
    if (encryption === "unknown") return fail("password-wrong")
    if (encryption.iterations > maxIterations) return tooCostly
    return Effect.flatMap(derive(password, encryption), (key) =>
      parse(() => decipher(encryption, key), "password-wrong")
    )
  })

/**
 * Returns how many iterations of PBKDF2 bytes take to decrypt that were encrypted as private keys are, as far as they say it.
 *
 * @category parsing
 * @since 0.1.0
 */
export const iterationsOf = (encrypted: Buffer): number => {
  const encryption = attempt(() => readEncryption(encrypted))
  return encryption === undefined || encryption === "unknown" ? 0 : encryption.iterations
}

/**
 * Decrypts a private key in DER (RFC 5958).
 *
 * @category parsing
 * @since 0.1.0
 */
export const openKey = (encrypted: Buffer, password: string): Effect.Effect<KeyObject, KeyFileError> =>
  Effect.suspend(() => decrypt(encrypted, password))

/**
 * How many iterations of PBKDF2 a file may take.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxIterations = 600_000

const keyBlock = /-----BEGIN ((?:ENCRYPTED |RSA |EC )?PRIVATE KEY)-----((?:(?!-----)[\s\S])*)-----END \1-----/

interface Block {
  readonly kind: string
  readonly content: string
}

const blockOf = (pem: string): Block | undefined => {
  const [, kind, content] = keyBlock.exec(pem) ?? []
  return kind === undefined || content === undefined ? undefined : { kind, content }
}

const isEncrypted = ({ content, kind }: Block): boolean =>
  kind === "ENCRYPTED PRIVATE KEY" || content.includes("ENCRYPTED")

const messages = {
  unreadable: "The private key is not a PEM key that can be read.",
  unsupported: "The private key is neither RSA nor EC.",
  "password-missing": "The private key is encrypted. Give its password.",
  "password-wrong": "The password of the private key is wrong, or its encryption is not supported.",
  "too-costly": "The private key is encrypted with too many iterations. Encrypt it with at most 600,000."
} as const

const fail = (reason: KeyFileError["reason"]) => Effect.fail(new KeyFileError({ reason, message: messages[reason] }))

/**
 * The failure of a file that takes more than {@link maxIterations}.
 *
 * @category errors
 * @since 0.1.0
 */
export const tooCostly = fail("too-costly")

class UnsupportedKey extends Error {}

const parse = <A>(run: () => A, otherwise: KeyFileError["reason"]): Effect.Effect<A, KeyFileError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run())
    } catch (error) {
      return fail(error instanceof UnsupportedKey ? "unsupported" : otherwise)
    }
  })

const decrypt = (encrypted: Buffer, password: string | undefined): Effect.Effect<KeyObject, KeyFileError> =>
  Effect.suspend(() => {
    if (password !== undefined) {
      return Effect.flatMap(open(encrypted, password), (plain) => {
        const key = parse(() => keyOf(plain, "PRIVATE KEY"), "password-wrong")
        return Effect.ensuring(
          key,
          Effect.sync(() => plain.fill(0))
        )
      })
    }
    return fail(attempt(() => readEncryption(encrypted)) === undefined ? "unreadable" : "password-missing")
  })

const decipher = ({ cipher, content, iv }: Pick<Pbes2, "cipher" | "content" | "iv">, key: Buffer): Buffer => {
  const opened = createDecipheriv(cipher.name, key, iv)
  return Buffer.concat([opened.update(content), opened.final()])
}

const olderHeader = /^\s*Proc-Type: 4,ENCRYPTED\s+DEK-Info: ([A-Z\d-]{1,20}),([\dA-F]{16,32})\s/

/** Decrypts the content of a block that names its cipher in a header (RFC 1421), as OpenSSL wrote it before PKCS#8. */
const openOlder = (text: string, password: string): Buffer => {
  const [header, name = "", iv = ""] = olderHeader.exec(text) ?? []
  const cipher = Object.values(ciphers).find((known) => known.name === name.toLowerCase())
  if (header === undefined || cipher === undefined) throw new RangeError("Expected a header with a known cipher")
  const vector = Buffer.from(iv, "hex")
  let key = Buffer.alloc(0)
  for (let last = key; key.length < cipher.keyLength; key = Buffer.concat([key, last])) {
    last = createHash("md5").update(last).update(password).update(vector.subarray(0, 8)).digest()
  }
  const content = Buffer.from(text.slice(header.length), "base64")
  return decipher({ cipher, content, iv: vector }, key.subarray(0, cipher.keyLength))
}

const rsa = "1.2.840.113549.1.1.1"
const ec = "1.2.840.10045.2.1"

/**
 * Reads a key in the form that its block names: PKCS#8 (RFC 5958), RSAPrivateKey (RFC 8017, A.1.2) or ECPrivateKey (RFC 5915).
 *
 * OpenSSL computes with the numbers of a file, as long as they are, on the event loop: a DSA key of 10 KiB takes it seconds to read,
 * whatever the block is called, and an RSA key with long exponents as much to sign. So it gets RSA and EC only.
 */
const keyOf = (der: Buffer, kind: string): KeyObject => {
  const values = Der.inner(Der.readAll(der)[0])
  const format = "der"
  switch (kind) {
    case "RSA PRIVATE KEY":
      checkRsa(values)
      return createPrivateKey({ key: der, format, type: "pkcs1" })
    case "EC PRIVATE KEY":
      checkEc(values)
      return createPrivateKey({ key: der, format, type: "sec1" })
    default: {
      const [version, algorithm, key] = values
      if (Der.required(version).tag !== Der.tags.integer) throw new RangeError("Expected a version")
      const content = () => Der.inner(Der.inner(key)[0])
      const type = Der.identifier(Der.inner(algorithm)[0])
      if (type !== rsa && type !== ec) throw new UnsupportedKey()
      Certificate.checkAlgorithm(algorithm)
      if (type === rsa) checkRsa(content())
      else checkEc(content())
      return createPrivateKey({ key: der, format, type: "pkcs8" })
    }
  }
}

// 64 bits and a sign, which is what OpenSSL verifies with. It blinds with more than that, on the event loop.
const maxPublicExponent = 9

const checkRsa = (values: ReadonlyArray<Der.Value>): void => {
  const lengths = values.map(({ content }) => content.length)
  const [, modulus = 0, publicExponent = 0, exponent = 0, ...parts] = lengths
  const isRsa = values.length === 9 && values.every(({ tag }) => tag === Der.tags.integer)
  const isLong =
    publicExponent > maxPublicExponent || exponent > modulus || parts.some((length) => length > modulus / 2 + 2)
  if (!isRsa || isLong) {
    throw new RangeError("Expected an RSA key of two primes, with numbers no longer than its modulus has them")
  }
}

const curve = 0xa0

// A curve is named: see `Certificate.read`.
const checkEc = ([version, key, ...rest]: ReadonlyArray<Der.Value>): void => {
  const isNamed = rest.every((value) => value.tag !== curve || Der.inner(value)[0]?.tag === Der.tags.objectIdentifier)
  if (Der.required(version).tag !== Der.tags.integer || Der.required(key).tag !== Der.tags.octetString || !isNamed) {
    throw new RangeError("Expected an EC key on a named curve")
  }
}

const derive = (password: string, { cipher, digest, iterations, salt }: Pbes2): Effect.Effect<Buffer, KeyFileError> =>
  Effect.callback((resume) => {
    pbkdf2(password, salt, iterations, cipher.keyLength, digest, (error, key) => {
      resume(error === null ? Effect.succeed(key) : fail("password-wrong"))
    })
  })

interface Pbes2 {
  readonly salt: Buffer
  readonly iterations: number
  readonly digest: string
  readonly cipher: { readonly name: string; readonly keyLength: number }
  readonly iv: Buffer
  readonly content: Buffer
}

const pbes2 = "1.2.840.113549.1.5.13"
const pbkdf2Id = "1.2.840.113549.1.5.12"

const digests: Readonly<Record<string, string>> = {
  "1.2.840.113549.2.7": "sha1",
  "1.2.840.113549.2.8": "sha224",
  "1.2.840.113549.2.9": "sha256",
  "1.2.840.113549.2.10": "sha384",
  "1.2.840.113549.2.11": "sha512"
}

const ciphers: Readonly<Record<string, Pbes2["cipher"]>> = {
  "1.2.840.113549.3.7": { name: "des-ede3-cbc", keyLength: 24 },
  "2.16.840.1.101.3.4.1.2": { name: "aes-128-cbc", keyLength: 16 },
  "2.16.840.1.101.3.4.1.22": { name: "aes-192-cbc", keyLength: 24 },
  "2.16.840.1.101.3.4.1.42": { name: "aes-256-cbc", keyLength: 32 }
}

// EncryptedPrivateKeyInfo of RFC 5958, PBES2-params and PBKDF2-params of RFC 8018.
const readEncryption = (encrypted: Buffer): Pbes2 | "unknown" => {
  const [outer] = Der.readAll(encrypted)
  const [algorithm, content] = Der.inner(outer)
  const [scheme, parameters] = Der.inner(algorithm)
  if (Der.identifier(scheme) !== pbes2) return "unknown"
  const [derivation, encryption] = Der.inner(parameters)
  const [derivationId, derivationParameters] = Der.inner(derivation)
  const [cipherId, iv] = Der.inner(encryption)
  const cipher = ciphers[Der.identifier(cipherId)]
  if (Der.identifier(derivationId) !== pbkdf2Id || cipher === undefined) return "unknown"
  const [salt, iterations, ...options] = Der.inner(derivationParameters)
  const prf = options.find(({ tag }) => tag === Der.tags.sequence)
  const digest = prf === undefined ? "sha1" : digests[Der.identifier(Der.inner(prf)[0])]
  if (digest === undefined) return "unknown"
  return {
    salt: Der.required(salt).content,
    iterations: Math.max(1, integer(Der.required(iterations))),
    digest,
    cipher,
    iv: Der.required(iv).content,
    content: Der.required(content).content
  }
}

const integer = ({ content }: Der.Value): number =>
  content.length > 6 ? Infinity : content.reduce((number, byte) => number * 256 + byte, 0)
