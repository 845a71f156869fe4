/**
 * X.509 certificates for tests (RFC 5280), generated on demand, so that none is stored and none expires.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"

export interface Certificate {
  readonly cert: string
  readonly key: string
}

interface Authority extends Certificate {
  readonly name: string
  readonly issue: (options: IssueOptions) => Certificate
}

interface Keys {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

interface IssueOptions {
  readonly names?: ReadonlyArray<string>
  readonly addresses?: ReadonlyArray<string>
  /** Days from now. */
  readonly from?: number
  readonly until?: number
  /** In place of a key on P-256. */
  readonly keys?: Keys
}

const tlv = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >>> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: ReadonlyArray<Uint8Array>) => tlv(0x30, ...parts)
const set = (...parts: ReadonlyArray<Uint8Array>) => tlv(0x31, ...parts)
const octets = (content: Uint8Array) => tlv(0x04, content)
const bits = (content: Uint8Array) => tlv(0x03, Buffer.from([0]), content)
const boolean = tlv(0x01, Buffer.from([0xff]))
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, "hex"))

const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"))
const commonName = (name: string) => sequence(set(sequence(oid("550403"), tlv(0x0c, Buffer.from(name)))))

const moment = (days: number) => {
  const text = new Date(Date.now() + days * 86_400_000).toISOString().replaceAll(/[-:T]|\.\d+/g, "")
  return tlv(0x18, Buffer.from(text))
}

const period = (from: number, until: number) => sequence(moment(from), moment(until))

const number = (bytes: Uint8Array) => tlv(0x02, Buffer.concat([Buffer.from([0]), bytes]))
const sha256WithRsa = sequence(oid("2a864886f70d01010b"), tlv(0x05))
const rsaEncryption = sequence(oid("2a864886f70d010101"), tlv(0x05))

/**
 * A certificate, for a name that nobody vouches for, behind a chain of so many others whose signatures take long to check: RSA of 3072
 * bits with public exponents of the same length.
 */
export const makeSlowChain = (name: string, length: number): Certificate => {
  const keys = newKeys()
  const random = (bytes: number) => {
    const value = randomBytes(bytes)
    value[0]! |= 0x80
    value[bytes - 1]! |= 1
    return value
  }
  const slowKey = () => sequence(rsaEncryption, bits(sequence(number(random(384)), number(Buffer.alloc(383, 0xff)))))
  const certificate = (subject: string, issuer: string, publicKey: Uint8Array) => {
    const authority = extension("551d13", true, sequence(boolean))
    const toBeSigned = sequence(
      tlv(0xa0, tlv(0x02, Buffer.from([2]))),
      tlv(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
      sha256WithRsa,
      commonName(issuer),
      period(-1, 7),
      commonName(subject),
      publicKey,
      tlv(0xa3, sequence(authority))
    )
    const signature = Buffer.concat([Buffer.from([1]), randomBytes(383)])
    return pemOf(sequence(toBeSigned, sha256WithRsa, bits(signature)))
  }
  const authorities = Array.from({ length }, (_, index) =>
    certificate(`slow ${index}`, `slow ${Math.min(index + 1, length - 1)}`, slowKey())
  )
  const own = certificate(name, "slow 0", keys.publicKey.export({ type: "spki", format: "der" }))
  return { key: keyPem(keys.privateKey), cert: [own, ...authorities].join("") }
}

const extension = (id: string, critical: boolean, content: Uint8Array) =>
  sequence(oid(id), ...(critical ? [boolean] : []), octets(content))

interface Fields {
  readonly subject: string
  readonly issuer: string
  readonly publicKey: KeyObject
  readonly signingKey: KeyObject
  readonly from: number
  readonly until: number
  readonly extensions: ReadonlyArray<Uint8Array>
}

const makePem = ({ extensions, from, issuer, publicKey, signingKey, subject, until }: Fields): string => {
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(15)])
  const toBeSigned = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, serial),
    ecdsaWithSha256,
    commonName(issuer),
    period(from, until),
    commonName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, sequence(...extensions))
  )
  const der = sequence(toBeSigned, ecdsaWithSha256, bits(sign("sha256", toBeSigned, signingKey)))
  return pemOf(der)
}

const pemOf = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString("base64").replaceAll(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`

const keyIdentifier = (key: KeyObject) =>
  createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest()
    .subarray(0, 20)

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const keyPem = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }).toString()

/** A certificate authority that only the test trusts. */
export const makeAuthority = (name = "Test authority"): Authority => {
  const keys = newKeys()
  const cert = makePem({
    subject: name,
    issuer: name,
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    from: -1,
    until: 30,
    extensions: [
      extension("551d13", true, sequence(boolean)),
      extension("551d0f", true, tlv(0x03, Buffer.from([1, 0x06]))),
      extension("551d0e", false, octets(keyIdentifier(keys.publicKey)))
    ]
  })
  const issue = ({
    addresses = [],
    from = -1,
    keys: own = newKeys(),
    names = [],
    until = 7
  }: IssueOptions): Certificate => {
    const alternatives = [
      ...names.map((dns) => tlv(0x82, Buffer.from(dns))),
      ...addresses.map((address) => tlv(0x87, Buffer.from(address.split(".").map(Number))))
    ]
    return {
      key: keyPem(own.privateKey),
      cert: makePem({
        subject: names[0] ?? addresses[0] ?? "nobody",
        issuer: name,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        from,
        until,
        extensions: [
          extension("551d11", false, sequence(...alternatives)),
          extension("551d23", false, sequence(tlv(0x80, keyIdentifier(keys.publicKey))))
        ]
      })
    }
  }
  return { name, cert, key: keyPem(keys.privateKey), issue }
}
