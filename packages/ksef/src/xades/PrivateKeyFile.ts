/**
 * Reads private keys in PEM, also encrypted ones, with bounded work: the file itself says how much a password costs.
 *
 * @since 0.1.0
 */
import { createDecipheriv, createPrivateKey, type KeyObject, pbkdf2 } from "node:crypto"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Der from "./Der.ts"

/**
 * Why a key cannot be read. The message is a sentence for its owner.
 *
 * @category errors
 * @since 0.1.0
 */
export class KeyFileError extends Data.TaggedError("KeyFileError")<{
  readonly reason: "unreadable" | "password-missing" | "password-wrong" | "too-costly"
  readonly message: string
}> {}

/**
 * Reads a private key, and decrypts it when it is encrypted. Passwords are hashed outside of the event loop.
 *
 * **Details**
 *
 * The text has one block `PRIVATE KEY`, `ENCRYPTED PRIVATE KEY`, `RSA PRIVATE KEY` or `EC PRIVATE KEY`; others are ignored.
 * A password may cost up to 2,000,000 iterations of PBKDF2.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (pem: string, password?: string): Effect.Effect<KeyObject, KeyFileError> =>
  Effect.suspend(() => {
    const [block, kind, content = ""] = keyBlock.exec(pem) ?? []
    if (block === undefined) return fail("unreadable")
    if (kind === "ENCRYPTED PRIVATE KEY") return decrypt(Buffer.from(content, "base64"), password)
    // Older files name the cipher in a header. They cost one hash.
    if (content.includes("ENCRYPTED")) {
      return password === undefined ? fail("password-missing") : parse(block, password, "password-wrong")
    }
    return parse(block, "", "unreadable")
  })

/**
 * Reads a private key that is not encrypted, or returns `undefined`.
 *
 * @category parsing
 * @since 0.1.0
 */
export const readPlain = (pem: string): KeyObject | undefined => {
  const [block, kind, content = ""] = keyBlock.exec(pem) ?? []
  if (block === undefined || kind === "ENCRYPTED PRIVATE KEY" || content.includes("ENCRYPTED")) return undefined
  return attempt(() => createPrivateKey(block))
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
    if (encryption._tag === "Unknown") return fail("password-wrong")
    if (encryption.iterations > maxIterations) return fail("too-costly")
    return Effect.flatMap(derive(password, encryption), (key) => {
      const plain = attempt(() => decipher(encryption, key))
      return plain === undefined ? fail("password-wrong") : Effect.succeed(plain)
    })
  })

/**
 * Decrypts a private key in DER (RFC 5958).
 *
 * @category parsing
 * @since 0.1.0
 */
export const openKey = (encrypted: Buffer, password: string): Effect.Effect<KeyObject, KeyFileError> =>
  Effect.suspend(() => decrypt(encrypted, password))

const keyBlock = /-----BEGIN ((?:ENCRYPTED |RSA |EC )?PRIVATE KEY)-----((?:(?!-----)[\s\S])*)-----END \1-----/

const messages = {
  unreadable: "The private key is not a PEM key that can be read.",
  "password-missing": "The private key is encrypted. Give its password.",
  "password-wrong": "The password of the private key is wrong, or its encryption is not supported.",
  "too-costly": "The private key is encrypted with too many iterations. Encrypt it with at most 2,000,000."
} as const

const fail = (reason: KeyFileError["reason"]) => Effect.fail(new KeyFileError({ reason, message: messages[reason] }))

const attempt = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch {
    return undefined
  }
}

const parse = (key: string, passphrase: string, otherwise: KeyFileError["reason"]) => {
  const parsed = attempt(() => createPrivateKey({ key, passphrase }))
  return parsed === undefined ? fail(otherwise) : Effect.succeed(parsed)
}

const decrypt = (encrypted: Buffer, password: string | undefined): Effect.Effect<KeyObject, KeyFileError> => {
  const encryption = attempt(() => readEncryption(encrypted))
  if (encryption === undefined) return fail("unreadable")
  if (password === undefined) return fail("password-missing")
  if (encryption._tag === "Unknown") {
    if (encryption.cost > maxBlockingCost) return fail("too-costly")
    return parseDer(() => createPrivateKey({ key: encrypted, format: "der", type: "pkcs8", passphrase: password }))
  }
  if (encryption.iterations > maxIterations) return fail("too-costly")
  return Effect.flatMap(derive(password, encryption), (key) =>
    parseDer(() => {
      const plain = decipher(encryption, key)
      const parsed = createPrivateKey({ key: plain, format: "der", type: "pkcs8" })
      plain.fill(0)
      return parsed
    })
  )
}

const decipher = ({ cipher, content, iv }: Pbes2, key: Buffer): Buffer => {
  const opened = createDecipheriv(cipher.name, key, iv)
  return Buffer.concat([opened.update(content), opened.final()])
}

const parseDer = (run: () => KeyObject) => {
  const parsed = attempt(run)
  return parsed === undefined ? fail("password-wrong") : Effect.succeed(parsed)
}

const derive = (password: string, { cipher, digest, iterations, salt }: Pbes2): Effect.Effect<Buffer, KeyFileError> =>
  Effect.callback((resume) => {
    pbkdf2(password, salt, iterations, cipher.keyLength, digest, (error, key) => {
      resume(error === null ? Effect.succeed(key) : fail("password-wrong"))
    })
  })

const maxIterations = 2_000_000

// Of encryptions that OpenSSL opens on the event loop: as many steps as its own scrypt takes, about 50 ms.
const maxBlockingCost = 131_072

interface Pbes2 {
  readonly _tag: "Pbes2"
  readonly salt: Buffer
  readonly iterations: number
  readonly digest: string
  readonly cipher: { readonly name: string; readonly keyLength: number }
  readonly iv: Buffer
  readonly content: Buffer
}

/** Another encryption. `cost` is the product of the numbers of its parameters: iterations, or the factors of scrypt. */
interface Unknown {
  readonly _tag: "Unknown"
  readonly cost: number
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
const readEncryption = (encrypted: Buffer): Pbes2 | Unknown => {
  const [outer] = Der.readAll(encrypted)
  const [algorithm, content] = Der.readAll(required(outer).content)
  const [scheme, parameters] = Der.readAll(required(algorithm).content)
  const unknown: Unknown = { _tag: "Unknown", cost: costOf(required(parameters)) }
  if (oid(scheme) !== pbes2) return unknown
  const [derivation, encryption] = Der.readAll(required(parameters).content)
  const [derivationId, derivationParameters] = Der.readAll(required(derivation).content)
  const [cipherId, iv] = Der.readAll(required(encryption).content)
  const cipher = ciphers[oid(cipherId)]
  if (oid(derivationId) !== pbkdf2Id || cipher === undefined) return unknown
  const [salt, iterations, ...options] = Der.readAll(required(derivationParameters).content)
  const prf = options.find(({ tag }) => tag === Der.tags.sequence)
  const digest = prf === undefined ? "sha1" : digests[oid(Der.readAll(prf.content)[0])]
  if (digest === undefined) return unknown
  return {
    _tag: "Pbes2",
    salt: required(salt).content,
    iterations: Math.max(1, integer(required(iterations))),
    digest,
    cipher,
    iv: required(iv).content,
    content: required(content).content
  }
}

const costOf = (value: Der.Value): number => {
  if (value.tag === Der.tags.integer) return Math.max(1, integer(value))
  if (value.tag !== Der.tags.sequence) return 1
  return Der.readAll(value.content).reduce((cost, inner) => cost * costOf(inner), 1)
}

const integer = ({ content }: Der.Value): number =>
  content.length > 6 ? Infinity : content.reduce((number, byte) => number * 256 + byte, 0)

const oid = (value: Der.Value | undefined): string => Der.objectIdentifier(required(value).content)

const required = (value: Der.Value | undefined): Der.Value => {
  if (value === undefined) throw new RangeError("Expected a value")
  return value
}
