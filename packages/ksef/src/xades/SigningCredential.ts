/**
 * A certificate with its private key, checked for what its purpose needs: a login at KSeF, or the code KOD II of invoices that
 * are issued offline.
 *
 * @since 0.1.0
 */
import { type KeyObject, sign, verify, type X509Certificate } from "node:crypto"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { attempt } from "../crypto/attempt.ts"
import * as Certificate from "./Certificate.ts"
import * as Pkcs12 from "./Pkcs12.ts"
import * as PrivateKeyFile from "./PrivateKeyFile.ts"

/**
 * A pair that can sign. Its key is private, so it neither serializes nor prints it.
 *
 * @category models
 * @since 0.1.0
 */
export class SigningCredential {
  readonly certificate: X509Certificate
  readonly #key: KeyObject

  constructor(certificate: X509Certificate, key: KeyObject) {
    this.certificate = certificate
    this.#key = key
  }

  /**
   * The private key.
   */
  key(): KeyObject {
    return this.#key
  }
}

/**
 * Why a pair cannot be used. `message` is a sentence for its owner.
 *
 * **Details**
 *
 * - `certificate-unreadable`: no PEM that can be read, or an extension or a name that is no DER.
 * - `key-unreadable`: no PEM that can be read, or one that is encrypted with too many iterations.
 * - `password`: the password of the key is missing or wrong.
 * - `key-mismatch`: the key belongs to another certificate.
 * - `not-yet-valid`, `expired`: outside of the validity of the certificate.
 * - `key-unsupported`: neither RSA of 2048 bits, to log in up to 4096, nor EC P-256.
 * - `offline-certificate`: a KSeF certificate of the type Offline, which signs the code KOD II and cannot log in.
 * - `authentication-certificate`: a KSeF certificate of the type Authentication, which logs in and cannot sign the code KOD II.
 * - `key-usage`: the key usage excludes the purpose.
 *
 * @category errors
 * @since 0.1.0
 */
export class CredentialError extends Data.TaggedError("CredentialError")<{
  readonly reason:
    | "certificate-unreadable"
    | "key-unreadable"
    | "password"
    | "key-mismatch"
    | "not-yet-valid"
    | "expired"
    | "key-unsupported"
    | "offline-certificate"
    | "authentication-certificate"
    | "key-usage"
  readonly message: string
}> {}

/**
 * The sources of a pair: both in PEM.
 *
 * @category models
 * @since 0.1.0
 */
export interface Source {
  readonly certificate: string
  readonly privateKey: string
}

/**
 * What a pair is for: a KSeF certificate of the type Authentication logs in, one of the type Offline signs the code KOD II.
 *
 * @category models
 * @since 0.1.0
 */
export type Purpose = "login" | "offline"

/**
 * Reads a pair whose key is not encrypted, and checks it at a time in milliseconds. Of several certificates in the text, the
 * first is used.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (
  source: Source,
  now: number,
  purpose: Purpose = "login"
): Result.Result<SigningCredential, CredentialError> => {
  const certificate = readCertificate(source.certificate)
  if (certificate === undefined) return Result.fail(unreadableCertificate())
  const key = PrivateKeyFile.readPlain(source.privateKey)
  return key === undefined
    ? Result.fail(error("key-unreadable", "The private key is not a PEM key that can be read without a password."))
    : check(certificate, key, now, purpose, isPair(certificate, key))
}

/**
 * Reads a pair whose key may be encrypted, as `read` does. The key signs outside of the event loop.
 *
 * @category parsing
 * @since 0.1.0
 */
export const open = (
  { password, ...source }: Source & { readonly password?: string | undefined },
  now: number,
  purpose: Purpose = "login"
): Effect.Effect<SigningCredential, CredentialError> =>
  Effect.suspend(() => {
    const certificate = readCertificate(source.certificate)
    if (certificate === undefined) return Effect.fail(unreadableCertificate())
    return PrivateKeyFile.read(source.privateKey, password).pipe(
      Effect.mapError((fault) => keyError(fault, "key-unreadable")),
      Effect.flatMap((key) => checkOutside(certificate, key, now, purpose))
    )
  })

/**
 * Reads a pair from a PKCS#12 file, and checks it as `open` does.
 *
 * @category parsing
 * @since 0.1.0
 */
export const openPkcs12 = (
  file: Buffer,
  password: string,
  now: number,
  purpose: Purpose = "login"
): Effect.Effect<SigningCredential, CredentialError> =>
  Pkcs12.read(file, password).pipe(
    Effect.mapError((fault) => keyError(fault, "certificate-unreadable")),
    Effect.flatMap(({ certificates, key }) => {
      const certificate = readCertificate(certificates)
      return certificate === undefined
        ? Effect.fail(unreadableCertificate())
        : checkOutside(certificate, key, now, purpose)
    })
  )

const error = (reason: CredentialError["reason"], message: string) => new CredentialError({ reason, message })

const keyError = ({ message, reason }: PrivateKeyFile.KeyFileError, otherwise: CredentialError["reason"]) => {
  if (reason === "unsupported") return error("key-unsupported", message)
  return error(reason.startsWith("password") ? "password" : otherwise, message)
}

const unreadableCertificate = () =>
  error("certificate-unreadable", "The certificate is not a PEM certificate that can be read.")

const mismatch = () => error("key-mismatch", "The private key does not belong to the certificate.")

interface ReadCertificate {
  readonly certificate: X509Certificate
  readonly usage: ReadonlyArray<Certificate.KeyUsage> | undefined
}

// Char of XML 1.0: a login document names the issuer.
const xmlText = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u

// OpenSSL reads extensions and names later. A login needs both.
const readCertificate = (pem: string): ReadCertificate | undefined =>
  attempt(() => {
    const certificate = Certificate.read(pem)
    if (!xmlText.test(Certificate.formatName(Certificate.issuer(certificate))))
      throw new RangeError("Expected XML text")
    Certificate.identity(certificate)
    Certificate.serialNumber(certificate)
    return { certificate, usage: Certificate.keyUsage(certificate) }
  })

/** Checks a pair. `isPair` is called if the key is supported. */
const check = (
  { certificate, usage }: ReadCertificate,
  key: KeyObject,
  now: number,
  purpose: Purpose,
  isPair: () => boolean
): Result.Result<SigningCredential, CredentialError> => {
  const fail = (reason: CredentialError["reason"], message: string) => Result.fail(error(reason, message))
  if (!isSupported(key, maxBits[purpose])) {
    return fail("key-unsupported", `The key is neither RSA of ${sizes[purpose]} nor EC on the curve P-256.`)
  }
  if (!isPair()) return Result.fail(mismatch())
  const from = certificate.validFromDate.getTime()
  const until = certificate.validToDate.getTime()
  if (Number.isNaN(from) || Number.isNaN(until)) return Result.fail(unreadableCertificate())
  if (now < from) return fail("not-yet-valid", `The certificate is valid from ${new Date(from).toISOString()}.`)
  if (now > until) return fail("expired", `The certificate expired at ${new Date(until).toISOString()}.`)
  const unfit = usageFault(usage, purpose)
  if (unfit !== undefined) return Result.fail(unfit)
  return Result.succeed(new SigningCredential(certificate, key))
}

// KSeF issues certificates of either type, each with its key usage alone. Others that log in may have none, which allows all.
const usageFault = (usage: ReadCertificate["usage"], purpose: Purpose): CredentialError | undefined => {
  const signs = usage?.includes("digitalSignature") ?? true
  const commits = usage?.includes("nonRepudiation") ?? false
  if (purpose === "login") {
    if (signs) return undefined
    return commits
      ? error(
          "offline-certificate",
          "This is an Offline certificate, which cannot log in. Use a KSeF certificate of the type Authentication."
        )
      : error("key-usage", "The key usage of the certificate does not include digital signatures.")
  }
  if (commits) return undefined
  return signs && usage !== undefined
    ? error(
        "authentication-certificate",
        "This is an Authentication certificate, which cannot sign for invoices that are issued offline. Request a KSeF certificate of the type Offline."
      )
    : error(
        "key-usage",
        "The key usage of the certificate does not include non-repudiation. Request a KSeF certificate of the type Offline."
      )
}

// The longest RSA keys. A signature takes the event loop ten times as long, 17 ms with 4096 bits, if the numbers of a file do not
// match. A login signs once, also with a qualified seal. Every invoice that is issued offline is signed, with the key of a KSeF
// certificate, which has 2048 bits (certyfikaty-KSeF.md).
const maxBits: Readonly<Record<Purpose, number>> = { login: 4096, offline: 2048 }

const sizes: Readonly<Record<Purpose, string>> = { login: "2048 to 4096 bits", offline: "2048 bits" }

const isSupported = ({ asymmetricKeyDetails, asymmetricKeyType }: KeyObject, max: number): boolean => {
  if (asymmetricKeyType === "ec") return asymmetricKeyDetails?.namedCurve === "prime256v1"
  const bits = asymmetricKeyDetails?.modulusLength ?? 0
  return asymmetricKeyType === "rsa" && bits >= 2048 && bits <= max
}

const probe = Buffer.from("probe")

// Only the public parts are compared by `checkPrivateKey`: a key file can have a private part of another key.
const isSigned = (certificate: X509Certificate, signature: Buffer): boolean =>
  verify("sha256", probe, certificate.publicKey, signature)

const isPair =
  ({ certificate }: ReadCertificate, key: KeyObject) =>
  (): boolean =>
    attempt(() => certificate.checkPrivateKey(key) && isSigned(certificate, sign("sha256", probe, key))) ?? false

// OpenSSL computes with the numbers of the file, and takes ten times as long if they do not match. Checked before: the key is
// supported and may belong to the certificate.
const checkOutside = (
  read: ReadCertificate,
  key: KeyObject,
  now: number,
  purpose: Purpose
): Effect.Effect<SigningCredential, CredentialError> => {
  const { certificate } = read
  const checked = check(read, key, now, purpose, () => attempt(() => certificate.checkPrivateKey(key)) ?? false)
  if (Result.isFailure(checked)) return Effect.fail(checked.failure)
  return Effect.callback((resume) => {
    sign("sha256", probe, key, (fault, signature) => {
      const isPair = fault === null && attempt(() => isSigned(certificate, signature)) === true
      resume(isPair ? Effect.succeed(checked.success) : Effect.fail(mismatch()))
    })
  })
}
