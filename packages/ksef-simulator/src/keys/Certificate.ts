/**
 * Builds X.509 certificates, which Node cannot.
 */
import { createHash, createSign, type KeyObject, type X509Certificate } from "node:crypto"
import { Certificate as Reader } from "@govoice/ksef/xades"
import * as Der from "./Der.ts"

/** The attributes of names that certificates of KSeF have. */
export const attributes = {
  commonName: "2.5.4.3",
  surname: "2.5.4.4",
  serialNumber: "2.5.4.5",
  country: "2.5.4.6",
  organization: "2.5.4.10",
  givenName: "2.5.4.42",
  uniqueIdentifier: "2.5.4.45",
  organizationIdentifier: "2.5.4.97"
} as const

/** The name of a subject or an issuer, in the order in which it is written. */
export type Name = Readonly<Partial<Record<keyof typeof attributes, string>>>

/** The uses of a key; bits of the extension `keyUsage`. */
export type KeyUsage = "digitalSignature" | "nonRepudiation" | "keyEncipherment" | "keyCertSign"

/** The content of a certificate. Times are in milliseconds, and written in seconds. */
export interface Content {
  readonly serial: Uint8Array
  readonly subject: Name
  readonly issuer: Name
  readonly validFrom: number
  readonly validTo: number
  readonly publicKey: KeyObject
  readonly usages: ReadonlyArray<KeyUsage>
  readonly authority?: boolean
}

const usageBit: Readonly<Record<KeyUsage, number>> = {
  digitalSignature: 0x80,
  nonRepudiation: 0x40,
  keyEncipherment: 0x20,
  keyCertSign: 0x04
}

const oids = {
  keyUsage: "2.5.29.15",
  basicConstraints: "2.5.29.19",
  subjectKeyIdentifier: "2.5.29.14",
  rsaSha256: "1.2.840.113549.1.1.11",
  ecdsaSha256: "1.2.840.10045.4.3.2"
} as const

const name = (parts: Name): Buffer =>
  Der.sequence(
    ...Object.entries(parts).map(([attribute, value]) =>
      Der.set(Der.sequence(Der.oid(attributes[attribute as keyof Name]), Der.text(value)))
    )
  )

const extension = (oid: string, value: Buffer, critical: boolean): Buffer =>
  Der.sequence(Der.oid(oid), ...(critical ? [Der.yes] : []), Der.octets(value))

const keyUsage = (usages: ReadonlyArray<KeyUsage>): Buffer => {
  const byte = usages.reduce((all, usage) => all | usageBit[usage], 0)
  const unused = byte === 0 ? 7 : Math.log2(byte & -byte)
  return Der.bits(Buffer.from([byte]), unused)
}

/** Builds a certificate and signs it with the issuer's private key, RSA or EC, with SHA-256. Returns its DER. */
export const build = (content: Content, issuerKey: KeyObject): Buffer => {
  const publicKey = content.publicKey.export({ type: "spki", format: "der" })
  const isRsa = issuerKey.asymmetricKeyType === "rsa"
  const algorithm = Der.sequence(
    Der.oid(isRsa ? oids.rsaSha256 : oids.ecdsaSha256),
    ...(isRsa ? [Buffer.from([0x05, 0x00])] : [])
  )
  const signed = Der.sequence(
    Der.explicit(0, Der.integer(Buffer.from([2]))),
    Der.integer(content.serial),
    algorithm,
    name(content.issuer),
    Der.sequence(Der.time(content.validFrom), Der.time(content.validTo)),
    name(content.subject),
    publicKey,
    Der.explicit(
      3,
      Der.sequence(
        extension(oids.keyUsage, keyUsage(content.usages), true),
        extension(
          oids.basicConstraints,
          content.authority === true ? Der.sequence(Der.yes) : Der.sequence(),
          content.authority === true
        ),
        extension(oids.subjectKeyIdentifier, Der.octets(createHash("sha1").update(publicKey).digest()), false)
      )
    )
  )
  return Der.sequence(signed, algorithm, Der.bits(createSign("sha256").update(signed).sign(issuerKey)))
}

/** Parses a certificate in DER or PEM, or returns `undefined`: also where its key, its subject or its usages cannot be read. */
export const parse = (bytes: string | Uint8Array): X509Certificate | undefined => {
  try {
    const certificate = Reader.read(typeof bytes === "string" ? bytes : Buffer.from(bytes))
    // Node reads these later, and throws where they are malformed.
    const read = [certificate.publicKey.asymmetricKeyType, Reader.identity(certificate), Reader.keyUsage(certificate)]
    return read[0] === undefined ? undefined : certificate
  } catch {
    return undefined
  }
}

/** Writes a certificate in PEM. */
export const toPem = (der: Uint8Array): string => {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`
}
