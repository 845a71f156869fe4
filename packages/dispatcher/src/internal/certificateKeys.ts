/**
 * Whether a certificate has a public key of a kind that authorities sign (RFC 5280, RFC 5480).
 *
 * A key on a curve of its own has the parameters of that curve in the certificate. OpenSSL then decodes a compressed point by as
 * many multiplications as the owner of the key likes: half a second for 500 bytes.
 */

/** What an element of DER has, and where the next one begins. */
interface Element {
  readonly tag: number
  readonly content: Buffer
  readonly end: number
}

const readElement = (der: Buffer, at: number): Element | undefined => {
  const tag = der[at]
  const first = der[at + 1]
  // Tags of more than one byte and indefinite lengths are in no certificate.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f || first === 0x80 || first > 0x83)
    return undefined
  const lengthBytes = first < 0x80 ? 0 : first - 0x80
  const start = at + 2 + lengthBytes
  if (start > der.length) return undefined
  const end = start + (lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes))
  return end > der.length ? undefined : { tag, content: der.subarray(start, end), end }
}

/** Returns the contents of elements with these tags, which follow each other, or undefined. */
const readAll = (der: Buffer, tags: ReadonlyArray<number>): ReadonlyArray<Buffer> | undefined => {
  const contents: Array<Buffer> = []
  let at = 0
  for (const tag of tags) {
    const element = readElement(der, at)
    if (element?.tag !== tag) return undefined
    contents.push(element.content)
    at = element.end
  }
  return contents
}

const sequence = 0x30
const integer = 0x02
const objectIdentifier = 0x06
const version = 0xa0

const ellipticCurve = "2a8648ce3d0201"
const others = [
  "2a864886f70d010101", // RSA
  "2a864886f70d01010a", // RSASSA-PSS
  "2b6570", // Ed25519
  "2b6571" // Ed448
]

/** Whether the public key of a certificate, in DER, is of RSA, of a named curve or of EdDSA. */
export const hasUsualKey = (certificate: Buffer): boolean => {
  const [signed] = readAll(readAll(certificate, [sequence])?.[0] ?? empty, [sequence]) ?? []
  if (signed === undefined) return false
  const hasVersion = readElement(signed, 0)?.tag === version
  // Serial number, signature, issuer, validity, subject, public key.
  const fields = [integer, sequence, sequence, sequence, sequence, sequence]
  const key = readAll(signed, hasVersion ? [version, ...fields] : fields)?.at(-1)
  const [algorithm] = (key && readAll(key, [sequence])) ?? []
  const identifier = algorithm && readElement(algorithm, 0)
  if (identifier?.tag !== objectIdentifier) return false
  const name = identifier.content.toString("hex")
  return name === ellipticCurve
    ? readElement(algorithm!, identifier.end)?.tag === objectIdentifier
    : others.includes(name)
}

const empty = Buffer.alloc(0)
