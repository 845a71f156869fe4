/**
 * Reads the parts of a certificate that KSeF needs and Node does not expose: the names in their encoded order, the attributes
 * that identify a taxpayer, the key usage.
 *
 * @since 0.1.0
 */
import { X509Certificate } from "node:crypto"
import * as Der from "./Der.ts"

/**
 * An attribute of a name: its object identifier and its text, where it is text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attribute {
  readonly type: string
  readonly text: string | undefined
  /** The whole value in DER. */
  readonly der: Buffer
}

/**
 * A distinguished name: its relative names in encoded order, each of one attribute or more.
 *
 * @category models
 * @since 0.1.0
 */
export type Name = ReadonlyArray<ReadonlyArray<Attribute>>

/**
 * The subject that a certificate identifies, as KSeF reads it: by NIP or by PESEL.
 *
 * @category models
 * @since 0.1.0
 */
export interface Identity {
  readonly type: "Nip" | "Pesel"
  readonly value: string
}

/**
 * A bit of the key usage extension (RFC 5280, 4.2.1.3).
 *
 * @category models
 * @since 0.1.0
 */
export type KeyUsage = "digitalSignature" | "nonRepudiation"

/**
 * Reads a certificate in DER or PEM, the first one of a text.
 *
 * **Details**
 *
 * OpenSSL decodes the key as it reads a certificate, on the event loop. A key on a curve of its own has the parameters of that curve
 * with it, by which its owner can make that take half a second for 500 bytes. So it gets keys of RSA and on named curves alone.
 *
 * @throws {RangeError} where the key is another one, or the bytes are no certificate.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (bytes: string | Buffer): X509Certificate => {
  const [, block] = pemBlock.exec(typeof bytes === "string" ? bytes : "") ?? []
  const der = typeof bytes === "string" ? Buffer.from(block ?? "", "base64") : bytes
  checkKey(fieldsOf(der).key)
  // Written again, because OpenSSL would read a text in PEM within the bytes before them.
  return new X509Certificate(pemOf(der))
}

/**
 * Checks that a public key, a `SubjectPublicKeyInfo` in DER, is of RSA or on a named curve.
 *
 * @throws {RangeError} where it is not.
 *
 * @category parsing
 * @since 0.1.0
 */
export const checkKey = (key: Der.Value): void => checkAlgorithm(Der.inner(key)[0])

/**
 * Checks that an algorithm, an `AlgorithmIdentifier` in DER, is RSA, or EC on a named curve.
 *
 * @throws {RangeError} where it is not.
 *
 * @category parsing
 * @since 0.1.0
 */
export const checkAlgorithm = (algorithm: Der.Value | undefined): void => {
  const [type, parameters] = Der.inner(algorithm)
  const name = Der.identifier(type)
  if (name === rsa || (name === ellipticCurve && parameters?.tag === Der.tags.objectIdentifier)) return
  throw new RangeError("Expected a key of RSA or on a named curve")
}

/**
 * Writes a certificate in PEM.
 *
 * @category encoding
 * @since 0.1.0
 */
export const pemOf = (der: Buffer): string => {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`
}

/**
 * Returns the subject of a certificate.
 *
 * @category getters
 * @since 0.1.0
 */
export const subject = (certificate: X509Certificate): Name => nameOf(fields(certificate).subject)

/**
 * Returns the issuer of a certificate.
 *
 * @category getters
 * @since 0.1.0
 */
export const issuer = (certificate: X509Certificate): Name => nameOf(fields(certificate).issuer)

/**
 * Returns the serial number of a certificate as a decimal number.
 *
 * @throws {RangeError} for one of more than 64 bytes. RFC 5280 (4.1.2.2) allows 20.
 *
 * @category getters
 * @since 0.1.0
 */
export const serialNumber = ({ serialNumber }: X509Certificate): string => {
  if (serialNumber.length > 128) throw new RangeError("Expected a serial number of at most 64 bytes")
  return BigInt(`0x${serialNumber}`).toString()
}

/**
 * Returns whom the subject identifies: an organization by `organizationIdentifier` (2.5.4.97), a person by `serialNumber`
 * (2.5.4.5); `undefined` where neither has a form that KSeF recognizes. Source: podpis-xades.md of CIRFMF/ksef-api.
 *
 * @category getters
 * @since 0.1.0
 */
export const identity = (certificate: X509Certificate): Identity | undefined => {
  const attributes = subject(certificate).flat()
  for (const { pattern, type, value } of identities) {
    for (const attribute of attributes) {
      const found = attribute.type === type ? pattern.exec(attribute.text ?? "")?.[1] : undefined
      if (found !== undefined) return { type: value, value: found }
    }
  }
  return undefined
}

/**
 * Returns the key usages of a certificate, or `undefined` where it has no such extension, which allows all.
 *
 * @category getters
 * @since 0.1.0
 */
export const keyUsage = (certificate: X509Certificate): ReadonlyArray<KeyUsage> | undefined => {
  for (const { content } of fields(certificate).extensions) {
    const [type, ...rest] = Der.readAll(content)
    const value = rest.at(-1)
    if (type === undefined || value === undefined || Der.objectIdentifier(type.content) !== keyUsageExtension) continue
    const [bits] = Der.readAll(value.content)
    // The first byte counts the unused bits; the highest bit of the next is the first usage.
    const first = bits?.content[1] ?? 0
    return usages.filter((_, index) => (first & (0x80 >>> index)) !== 0)
  }
  return undefined
}

/**
 * Writes a name as RFC 4514 has it: the last relative name first, `CN=Example,O=Example,C=PL`. Attributes without a short
 * name there are written as `2.5.4.97=#0c0a…`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const formatName = (name: Name): string =>
  name
    .toReversed()
    .map((attributes) => attributes.map(formatAttribute).join("+"))
    .join(",")

const pemBlock = /-----BEGIN CERTIFICATE-----((?:(?!-----)[\s\S])*)-----END CERTIFICATE-----/

const rsa = "1.2.840.113549.1.1.1"
const ellipticCurve = "1.2.840.10045.2.1"

const usages = ["digitalSignature", "nonRepudiation"] as const

const keyUsageExtension = "2.5.29.15"

// From the last mark before the digits: from each mark, the search would take time with the square of the text.
const identities = [
  { type: "2.5.4.97", pattern: /VATPL(?:(?!VATPL).)*?(\d{10})/, value: "Nip" },
  { type: "2.5.4.5", pattern: /(?:TINPL|NIP)(?:(?!TINPL|NIP).)*?(\d{10})/, value: "Nip" },
  { type: "2.5.4.5", pattern: /(?:PNOPL|PESEL)(?:(?!PNOPL|PESEL).)*?(\d{11})/, value: "Pesel" }
] as const

// RFC 4514, section 3.
const shortNames: Readonly<Record<string, string>> = {
  "2.5.4.3": "CN",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.9": "STREET",
  "2.5.4.10": "O",
  "2.5.4.11": "OU",
  "0.9.2342.19200300.100.1.1": "UID",
  "0.9.2342.19200300.100.1.25": "DC"
}

const formatAttribute = ({ der, text, type }: Attribute): string => {
  const name = shortNames[type]
  return name === undefined || text === undefined ? `${type}=#${der.toString("hex")}` : `${name}=${escaped(text)}`
}

const escaped = (text: string): string => text.replace(/["+,;<>\\]|^[ #]| $/g, "\\$&").replaceAll("\0", "\\00")

interface Fields {
  readonly key: Der.Value
  readonly issuer: Buffer
  readonly subject: Buffer
  readonly extensions: ReadonlyArray<Der.Value>
}

// TBSCertificate of RFC 5280: the version, which is the first field where there is one, has a tag of its own.
const fieldsOf = (der: Buffer): Fields => {
  const [outer] = Der.readAll(der)
  const [toBeSigned] = Der.inner(outer)
  const all = Der.inner(toBeSigned)
  const [, , issuer, , subject, key, ...rest] = all[0]?.tag === version ? all.slice(1) : all
  const wrapped = rest.find(({ tag }) => tag === extensions)
  const [list] = wrapped === undefined ? [] : Der.readAll(wrapped.content)
  return {
    key: Der.required(key),
    issuer: Der.required(issuer).content,
    subject: Der.required(subject).content,
    extensions: list === undefined ? [] : Der.readAll(list.content)
  }
}

const fields = ({ raw }: X509Certificate): Fields => fieldsOf(raw)

const version = 0xa0
const extensions = 0xa3

/**
 * Reads the content of a name in DER.
 *
 * @throws {RangeError} where it is no name.
 * @category parsing
 * @since 0.1.0
 */
export const nameOf = (content: Buffer): Name =>
  Der.readAll(content).map((relative) =>
    Der.readAll(relative.content).map((attribute) => {
      const [type, value] = Der.readAll(attribute.content)
      return { type: Der.objectIdentifier(type!.content), text: Der.text(value!), der: Der.write(value!) }
    })
  )
