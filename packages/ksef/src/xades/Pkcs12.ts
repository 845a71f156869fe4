/**
 * Reads PKCS#12 files (RFC 7292): a certificate and its encrypted private key, as OpenSSL, browsers and Windows export them with AES.
 * The MAC of the file is not checked: the key has to belong to the certificate, which `SigningCredential` verifies.
 *
 * @since 0.1.0
 */
import type { KeyObject } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Certificate from "./Certificate.ts"
import * as Der from "./Der.ts"
import * as PrivateKeyFile from "./PrivateKeyFile.ts"

/**
 * The content of a file: all certificates in PEM, that of the key first, and the key.
 *
 * @category models
 * @since 0.1.0
 */
export interface Content {
  readonly certificates: string
  readonly key: KeyObject
}

/**
 * Reads a file. Its parts, of which at most four are read, and the key may cost 600,000 iterations of PBKDF2 together.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (file: Buffer, password: string): Effect.Effect<Content, PrivateKeyFile.KeyFileError> =>
  Effect.gen(function* () {
    const safes = yield* parsed(() => safesOf(file))
    const costOfSafes = safes.reduce((sum, { encryption }) => sum + iterationsOf(encryption), 0)
    if (costOfSafes > PrivateKeyFile.maxIterations) return yield* PrivateKeyFile.tooCostly
    const bags: Array<Bag> = []
    for (const safe of safes) {
      const content =
        safe.encryption === undefined ? safe.content : yield* PrivateKeyFile.open(safe.encryption, password)
      bags.push(...(yield* parsed(() => bagsOf(content))))
    }
    const keyBag = bags.find(({ type }) => type === shroudedKey)
    const certificates = bags.filter(({ type }) => type === certificate)
    if (keyBag === undefined || certificates.length === 0) return yield* unreadable
    if (costOfSafes + iterationsOf(keyBag.value) > PrivateKeyFile.maxIterations) return yield* PrivateKeyFile.tooCostly
    const key = yield* PrivateKeyFile.openKey(keyBag.value, password)
    const own = certificates.find(({ id }) => id !== undefined && keyBag.id?.equals(id) === true)
    const ordered = own === undefined ? certificates : [own, ...certificates.filter((other) => other !== own)]
    return { certificates: yield* parsed(() => ordered.map(({ value }) => pemOf(value)).join("")), key }
  })

const data = "1.2.840.113549.1.7.1"
const encryptedData = "1.2.840.113549.1.7.6"
const shroudedKey = "1.2.840.113549.1.12.10.1.2"
const certificate = "1.2.840.113549.1.12.10.1.3"
const x509Certificate = "1.2.840.113549.1.9.22.1"
const localKeyId = "1.2.840.113549.1.9.21"

const maxSafes = 4

interface Safe {
  readonly content: Buffer
  /** As of an encrypted private key: the algorithm and the content. */
  readonly encryption: Buffer | undefined
}

interface Bag {
  readonly type: string
  readonly value: Buffer
  readonly id: Buffer | undefined
}

const iterationsOf = (encrypted: Buffer | undefined): number =>
  encrypted === undefined ? 0 : PrivateKeyFile.iterationsOf(encrypted)

const unreadable = Effect.fail(
  new PrivateKeyFile.KeyFileError({
    reason: "unreadable",
    message: "The PKCS#12 file cannot be read, or has no certificate with a private key."
  })
)

const parsed = <A>(run: () => A): Effect.Effect<A, PrivateKeyFile.KeyFileError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run())
    } catch {
      return unreadable
    }
  })

// PFX: version, ContentInfo of the safes, and a MAC. A ContentInfo has its content in a tag of its own.
const safesOf = (file: Buffer): ReadonlyArray<Safe> => {
  const [pfx] = Der.readAll(file)
  const [, authSafe] = Der.inner(pfx)
  const [type, wrapped] = Der.inner(authSafe)
  if (Der.identifier(type) !== data) throw new RangeError("Expected data")
  const [octets] = Der.inner(wrapped)
  const [safes] = Der.inner(octets)
  return Der.inner(safes).slice(0, maxSafes).map(safeOf)
}

const safeOf = (info: Der.Value): Safe => {
  const [type, wrapped] = Der.inner(info)
  const [content] = Der.inner(wrapped)
  if (Der.identifier(type) === data) return { content: Der.required(content).content, encryption: undefined }
  if (Der.identifier(type) !== encryptedData) throw new RangeError("Expected data or encrypted data")
  // EncryptedData: version, and EncryptedContentInfo: type, algorithm, content with an implicit tag.
  const [, encryptedInfo] = Der.inner(content)
  const [, algorithm, encrypted] = Der.inner(encryptedInfo)
  const octets = { tag: Der.tags.octetString, content: Der.required(encrypted).content }
  const both = Buffer.concat([Der.write(Der.required(algorithm)), Der.write(octets)])
  return { content: both, encryption: Der.write({ tag: Der.tags.sequence, content: both }) }
}

const bagsOf = (content: Buffer): ReadonlyArray<Bag> => {
  const [bags] = Der.readAll(content)
  return Der.inner(bags).map((bag) => {
    const [type, wrapped, attributes] = Der.inner(bag)
    return {
      type: Der.identifier(type),
      value: Der.required(wrapped).content,
      id: attributes === undefined ? undefined : idOf(attributes)
    }
  })
}

const idOf = (attributes: Der.Value): Buffer | undefined => {
  for (const attribute of Der.inner(attributes)) {
    const [type, values] = Der.inner(attribute)
    if (Der.identifier(type) === localKeyId) return Der.inner(values)[0]?.content
  }
  return undefined
}

// CertBag: type, and the DER in octets in a tag of its own.
const pemOf = (value: Buffer): string => {
  const [bag] = Der.readAll(value)
  const [type, wrapped] = Der.inner(bag)
  if (Der.identifier(type) !== x509Certificate) throw new RangeError("Expected an X.509 certificate")
  const [octets] = Der.inner(wrapped)
  return Certificate.pemOf(Der.required(octets).content)
}
