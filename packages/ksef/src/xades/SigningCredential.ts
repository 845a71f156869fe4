/**
 * A certificate with its private key, checked for what a login at KSeF needs.
 *
 * @since 0.1.0
 */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Certificate from "./Certificate.ts"

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
 * - `certificate-unreadable`, `key-unreadable`: no PEM that can be read; for the key also a wrong or missing password.
 * - `key-mismatch`: the key belongs to another certificate.
 * - `not-yet-valid`, `expired`: outside of the validity of the certificate.
 * - `key-unsupported`: neither RSA of at least 2048 bits nor EC P-256.
 * - `offline-certificate`: a KSeF certificate of the type Offline, which signs the code KOD II and cannot log in.
 * - `key-usage`: the key usage excludes digital signatures.
 *
 * @category errors
 * @since 0.1.0
 */
export class CredentialError extends Data.TaggedError("CredentialError")<{
  readonly reason:
    | "certificate-unreadable"
    | "key-unreadable"
    | "key-mismatch"
    | "not-yet-valid"
    | "expired"
    | "key-unsupported"
    | "offline-certificate"
    | "key-usage"
  readonly message: string
}> {}

/**
 * What a pair is read from: both in PEM.
 *
 * @category models
 * @since 0.1.0
 */
export interface Source {
  readonly certificate: string
  readonly privateKey: string
  readonly password?: string | undefined
}

/**
 * Reads a pair and checks it at a time in milliseconds. Of several certificates in the text, the first is used.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (source: Source, now: number): Result.Result<SigningCredential, CredentialError> => {
  const fail = (reason: CredentialError["reason"], message: string) =>
    Result.fail(new CredentialError({ reason, message }))
  const certificate = attempt(() => new X509Certificate(source.certificate))
  if (certificate === undefined) {
    return fail("certificate-unreadable", "The certificate is not a PEM certificate that can be read.")
  }
  const key = attempt(() => createPrivateKey({ key: source.privateKey, passphrase: source.password ?? "" }))
  if (key === undefined) {
    return fail("key-unreadable", "The private key is not a PEM key, or its password is missing or wrong.")
  }
  if (!certificate.checkPrivateKey(key))
    return fail("key-mismatch", "The private key does not belong to the certificate.")
  if (now < certificate.validFromDate.getTime()) {
    return fail("not-yet-valid", `The certificate is valid from ${certificate.validFromDate.toISOString()}.`)
  }
  if (now > certificate.validToDate.getTime()) {
    return fail("expired", `The certificate expired at ${certificate.validToDate.toISOString()}.`)
  }
  if (!isSupported(key)) {
    return fail("key-unsupported", "The key is neither RSA of at least 2048 bits nor EC on the curve P-256.")
  }
  const usage = Certificate.keyUsage(certificate)
  if (usage !== undefined && !usage.includes("digitalSignature")) {
    return usage.includes("nonRepudiation")
      ? fail(
          "offline-certificate",
          "This is an Offline certificate, which cannot log in. Use a KSeF certificate of the type Authentication."
        )
      : fail("key-usage", "The key usage of the certificate does not include digital signatures.")
  }
  return Result.succeed(new SigningCredential(certificate, key))
}

const isSupported = ({ asymmetricKeyDetails, asymmetricKeyType }: KeyObject): boolean =>
  asymmetricKeyType === "rsa"
    ? (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
    : asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1"

const attempt = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch {
    return undefined
  }
}
