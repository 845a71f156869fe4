/**
 * X.509 certificates for tests (RFC 5280), made when they are needed, so that none is stored and none expires.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"

/** The parts of a certificate. An attribute of a name is its object identifier and its text. */
export interface Options {
  readonly key?: "rsa" | "rsa-1024" | "rsa-2080" | "rsa-4160" | "P-256" | "P-384" | "own curve"
  readonly subject?: ReadonlyArray<readonly [type: string, text: string]>
  readonly keyUsage?: ReadonlyArray<"digitalSignature" | "nonRepudiation" | "keyEncipherment"> | "absent"
  /** Milliseconds since the epoch. */
  readonly from?: number
  readonly until?: number
  readonly serial?: string
  /** Host names that the certificate is for, as a server's. */
  readonly names?: ReadonlyArray<string>
}

/** A self-signed certificate with its key, both in PEM and as objects. */
export interface Pair {
  readonly certificate: string
  readonly privateKey: string
  readonly publicKey: KeyObject
  readonly key: KeyObject
  readonly der: Buffer
}

/** Makes a self-signed certificate; by default the seal of an organization, with a key that is made once for each kind. */
export const makePair = (options: Options = {}): Pair => {
  const { privateKey, publicKey } = keysOf(options.key ?? "rsa")
  const name = sequence(...(options.subject ?? organization).map(([type, text]) => set(attribute(type, text))))
  const algorithm = publicKey.asymmetricKeyType === "rsa" ? sha256WithRsa : ecdsaWithSha256
  const extensions = [
    ...(options.keyUsage === "absent" ? [] : [keyUsage(options.keyUsage ?? ["digitalSignature"])]),
    ...(options.names === undefined ? [] : [alternativeNames(options.names)])
  ]
  const toBeSigned = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.from(options.serial ?? `01${randomBytes(15).toString("hex")}`, "hex")),
    algorithm,
    name,
    sequence(time(options.from ?? Date.now() - day), time(options.until ?? Date.now() + 30 * day)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    ...(extensions.length === 0 ? [] : [tlv(0xa3, sequence(...extensions))])
  )
  const der = sequence(toBeSigned, algorithm, bits(0, sign("sha256", toBeSigned, privateKey)))
  return {
    certificate: pem(der),
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKey,
    key: privateKey,
    der
  }
}

/** The object identifiers of the attributes that tests use. */
export const types = {
  commonName: "2.5.4.3",
  surname: "2.5.4.4",
  serialNumber: "2.5.4.5",
  country: "2.5.4.6",
  organization: "2.5.4.10",
  givenName: "2.5.4.42",
  organizationIdentifier: "2.5.4.97"
} as const

const organization: Required<Options>["subject"] = [
  [types.country, "PL"],
  [types.organization, "Example"],
  [types.organizationIdentifier, "VATPL-5265877635"],
  [types.commonName, "Example"]
]

const day = 86_400_000

const made = new Map<string, ReturnType<typeof makeKeys>>()

const keysOf = (kind: NonNullable<Options["key"]>) => {
  const keys = made.get(kind) ?? makeKeys(kind)
  made.set(kind, keys)
  return keys
}

// The types of Node have this for PEM and DER alone.
const ownCurve = { namedCurve: "P-256", paramEncoding: "explicit" } as { namedCurve: string }

const makeKeys = (kind: NonNullable<Options["key"]>) =>
  kind === "P-256" || kind === "P-384" || kind === "own curve"
    ? generateKeyPairSync("ec", kind === "own curve" ? ownCurve : { namedCurve: kind })
    : generateKeyPairSync("rsa", { modulusLength: Number(kind.split("-")[1] ?? 2048) })

const tlv = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >>> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: ReadonlyArray<Uint8Array>) => tlv(0x30, ...parts)
const set = (...parts: ReadonlyArray<Uint8Array>) => tlv(0x31, ...parts)
const bits = (unused: number, content: Uint8Array) => tlv(0x03, Buffer.from([unused]), content)

const objectIdentifier = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number)
  const arcs = [first * 40 + second, ...rest].map((arc) => {
    const bytes = [arc & 0x7f]
    for (let next = Math.floor(arc / 128); next > 0; next = Math.floor(next / 128)) bytes.unshift((next & 0x7f) | 0x80)
    return Buffer.from(bytes)
  })
  return tlv(0x06, ...arcs)
}

const attribute = (type: string, text: string) => sequence(objectIdentifier(type), tlv(0x0c, Buffer.from(text)))

const time = (millis: number) => tlv(0x18, Buffer.from(new Date(millis).toISOString().replaceAll(/[-:T]|\.\d+/g, "")))

const sha256WithRsa = sequence(objectIdentifier("1.2.840.113549.1.1.11"), tlv(0x05))
const ecdsaWithSha256 = sequence(objectIdentifier("1.2.840.10045.4.3.2"))

const keyUsage = (usages: ReadonlyArray<string>) => {
  const flags = ["digitalSignature", "nonRepudiation", "keyEncipherment"]
  const byte = usages.reduce((value, usage) => value | (0x80 >>> flags.indexOf(usage)), 0)
  const value = bits(5, Buffer.from([byte]))
  return sequence(objectIdentifier("2.5.29.15"), tlv(0x01, Buffer.from([0xff])), tlv(0x04, value))
}

const alternativeNames = (names: ReadonlyArray<string>) =>
  sequence(objectIdentifier("2.5.29.17"), tlv(0x04, sequence(...names.map((name) => tlv(0x82, Buffer.from(name))))))

const pem = (der: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${der
    .toString("base64")
    .match(/.{1,64}/g)!
    .join("\n")}\n-----END CERTIFICATE-----\n`
