/**
 * Requests for certificates: whose they are, how many somebody may have, and what a request in PKCS#10 says.
 */
import { constants, createPublicKey, createVerify, type KeyObject, X509Certificate } from "node:crypto"
import { Certificate as Reader, Der } from "@govoice/ksef/xades"
import { badRequest } from "../http/Reply.ts"
import * as Certificate from "../keys/Certificate.ts"
import type { Simulation } from "../Simulation.ts"
import type { Enrollment, Subject } from "../state/records.ts"
import { isSameSubject } from "./bearer.ts"

/** How many requests somebody may send, and how many valid certificates it may have. Source: limity.md of CIRFMF/ksef-docs. */
export const certificateLimitsOf = ({ type }: Subject) =>
  type === "Nip" ? { enrollments: 300, certificates: 100 } : { enrollments: 12, certificates: 6 }

/** The requests of somebody, the newest first. */
export const enrollmentsOf = ({ state }: Simulation, subject: Subject): ReadonlyArray<Enrollment> =>
  Array.from(state.enrollments.values())
    .filter((one) => isSameSubject(one.subject, subject))
    .toReversed()

/** The status of a certificate, under the names of the API. */
export const statusOf = ({ revoked, validTo }: Enrollment, now: number): "Active" | "Revoked" | "Expired" =>
  revoked ? "Revoked" : now > validTo ? "Expired" : "Active"

/** The attributes of a subject, as the certificate of a login has them. */
export const subjectOf = (certificate: string): Certificate.Name =>
  nameOf(Reader.subject(new X509Certificate(Buffer.from(certificate, "base64"))))

// In encoded order.
const nameOf = (name: Reader.Name): Certificate.Name =>
  Object.fromEntries(
    name.flat().flatMap(({ text, type }) => {
      const attribute = attributes.get(type)
      return attribute === undefined || text === undefined ? [] : [[attribute, text]]
    })
  )

const attributes = new Map(
  Object.entries(Certificate.attributes).map(([attribute, type]) => [type as string, attribute])
)

/** Reads a request, and returns the key to certify. Its subject has to be `expected`. */
export const readRequest = (csr: Buffer, expected: Certificate.Name): KeyObject => {
  const { algorithm, info, key, signature, subject } = parse(csr)
  const { asymmetricKeyDetails: details, asymmetricKeyType: type } = key
  const isSupported =
    (type === "rsa" && details?.modulusLength === 2048) || (type === "ec" && details?.namedCurve === "prime256v1")
  if (!isSupported) throw badRequest(25010)
  const method = methods[algorithm.type]
  if (method === undefined) throw badRequest(25011)
  const isPss = method === "pss"
  const hash = isPss ? (hashes[algorithm.hash ?? ""] ?? "sha1") : method
  const padding = isPss ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO } : {}
  if (
    !createVerify(hash)
      .update(info)
      .verify({ key, ...padding }, signature)
  )
    throw badRequest(25004)
  if (written(subject) !== written(expected)) throw badRequest(25003)
  return key
}

const written = (name: Certificate.Name): string =>
  JSON.stringify(Object.entries(name).sort(([left], [right]) => (left < right ? -1 : 1)))

const methods: Readonly<Record<string, string>> = {
  "1.2.840.113549.1.1.5": "sha1",
  "1.2.840.113549.1.1.10": "pss",
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
  "1.2.840.10045.4.1": "sha1",
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512"
}

const hashes: Readonly<Record<string, string>> = {
  "2.16.840.1.101.3.4.2.1": "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512"
}

interface Parsed {
  /** What is signed. */
  readonly info: Buffer
  readonly subject: Certificate.Name
  readonly key: KeyObject
  /** `hash` is that of RSA-PSS, where it is not the default. */
  readonly algorithm: { readonly type: string; readonly hash: string | undefined }
  readonly signature: Buffer
}

// RFC 2986, 4: SEQUENCE { SEQUENCE { version, subject, key, [0] attributes }, algorithm, signature }.
const parse = (csr: Buffer): Parsed => {
  try {
    const [request] = Der.readAll(csr)
    const [info, algorithm, signature] = Der.readAll(request!.content)
    const [, subject, key] = Der.readAll(info!.content)
    const [type, parameters] = Der.readAll(algorithm!.content)
    Reader.checkKey(key!)
    return {
      info: Der.write(info!),
      subject: nameOf(Reader.nameOf(subject!.content)),
      key: createPublicKey({ key: Der.write(key!), format: "der", type: "spki" }),
      algorithm: { type: Der.objectIdentifier(type!.content), hash: hashOf(parameters) },
      signature: signature!.content.subarray(1)
    }
  } catch {
    throw badRequest(25004)
  }
}

// RFC 4055, 3.1: SEQUENCE { [0] SEQUENCE { hash }, … }.
const hashOf = (parameters: Der.Value | undefined): string | undefined => {
  if (parameters?.tag !== Der.tags.sequence) return undefined
  const hash = Der.readAll(parameters.content).find(({ tag }) => tag === 0xa0)
  const [algorithm] = hash === undefined ? [] : Der.readAll(hash.content)
  const [type] = algorithm === undefined ? [] : Der.readAll(algorithm.content)
  return type === undefined ? undefined : Der.objectIdentifier(type.content)
}
