/**
 * The certification authority of a simulator. It signs the certificates of the Ministry's keys, and certificates to log in
 * with, whose trust ends at this simulator.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto"
import type { Collection } from "../state/Collection.ts"
import type { Serials } from "../state/Serials.ts"
import { day } from "../time/Clock.ts"
import * as Certificate from "./Certificate.ts"

/** A certificate with its private key, both in PEM. */
export interface IssuedCertificate {
  readonly certificate: string
  /** PKCS#8, not encrypted. */
  readonly privateKey: string
}

/** Whom a certificate is for, and what it may do. */
export interface CertificateRequest {
  /** The NIP in the subject. */
  readonly nip: string
  /**
   * The value of a context in which it has all permissions, besides that of the NIP: an internal identifier, or a NIP with a VAT
   * number of the EU, where KSeF knows it by its fingerprint.
   */
  readonly context?: string
  /** `offline` certificates confirm invoices that were issued offline, and cannot log in. Defaults to `authentication`. */
  readonly kind?: "authentication" | "offline"
  /** Defaults to `ec`, a key on the curve P-256. `rsa` has 2048 bits. */
  readonly key?: "ec" | "rsa"
  /** In milliseconds since the epoch. Defaults to a day ago. */
  readonly validFrom?: number
  /** In milliseconds since the epoch. Defaults to two years after `validFrom`. */
  readonly validTo?: number
}

/** How long certificates are valid, in milliseconds. */
export const lifetime = 730 * day

/** A certificate for a key that somebody else has. */
export type IssueRequest = Pick<Certificate.Content, "subject" | "publicKey" | "validFrom" | "validTo"> & {
  readonly kind: "authentication" | "offline"
}

const name = { commonName: "KSeF simulator CA", organization: "KSeF simulator", country: "PL" }

/** What an authority needs besides its own key. `issued` has the certificates in PEM, by serial number. */
interface Open {
  readonly issued: Collection<string>
  readonly serials: Serials
  readonly now: () => number
}

/** Signs certificates. */
export class Authority {
  readonly #key: KeyObject
  readonly #serials: Serials
  readonly #issued: Collection<string>
  readonly #now: () => number
  /** The certificate of the authority. */
  readonly certificate: X509Certificate

  private constructor(key: KeyObject, certificate: X509Certificate, { issued, now, serials }: Open) {
    this.#key = key
    this.#serials = serials
    this.#issued = issued
    this.#now = now
    this.certificate = certificate
  }

  /** Takes the key of an earlier process, or generates one. */
  static open(settings: Collection<string | number>, open: Open): Authority {
    const kept = settings.get("authority")
    const [key, der] =
      kept === undefined ? create(settings, open.serials, open.now()) : (JSON.parse(String(kept)) as [string, string])
    return new Authority(createPrivateKey(key), new X509Certificate(Buffer.from(der, "base64")), open)
  }

  /** Signs a certificate, and returns its DER. */
  certify(content: Omit<Certificate.Content, "serial" | "issuer">): Buffer {
    const serial = Buffer.from(`01${this.#serials.digits("certificate", 14)}`, "hex")
    return Certificate.build({ ...content, serial, issuer: name }, this.#key)
  }

  /** Issues a certificate and its private key. */
  issue({
    key = "ec",
    kind = "authentication",
    nip,
    ...validity
  }: Omit<CertificateRequest, "context">): IssuedCertificate {
    const { privateKey, publicKey } =
      key === "ec"
        ? generateKeyPairSync("ec", { namedCurve: "P-256" })
        : generateKeyPairSync("rsa", { modulusLength: 2048 })
    const validFrom = validity.validFrom ?? this.#now() - day
    const certificate = this.issueFor({
      subject: {
        organization: `Firma ${nip}`,
        organizationIdentifier: `VATPL-${nip}`,
        commonName: `Firma ${nip}`,
        country: "PL"
      },
      validFrom,
      validTo: validity.validTo ?? validFrom + lifetime,
      publicKey,
      kind
    })
    return {
      certificate: Certificate.toPem(certificate.raw),
      privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString()
    }
  }

  /** Issues a certificate of a kind for a public key. */
  issueFor({ kind, ...content }: IssueRequest): X509Certificate {
    const usages = [kind === "authentication" ? ("digitalSignature" as const) : ("nonRepudiation" as const)]
    const certificate = new X509Certificate(this.certify({ ...content, usages }))
    this.#issued.set(certificate.serialNumber, Certificate.toPem(certificate.raw))
    return certificate
  }

  /** Returns a certificate that was issued to a taxpayer, by its serial number in hexadecimal digits. */
  find(serialNumber: string): X509Certificate | undefined {
    const pem = this.#issued.get(serialNumber)
    return pem === undefined ? undefined : new X509Certificate(pem)
  }

  /** Whether a certificate was issued here. */
  isIssuer(certificate: X509Certificate): boolean {
    return certificate.checkIssued(this.certificate) && certificate.verify(createPublicKey(this.#key))
  }
}

const create = (settings: Collection<string | number>, serials: Serials, now: number): [string, string] => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const certificate = Certificate.build(
    {
      serial: Buffer.from(`01${serials.digits("certificate", 14)}`, "hex"),
      subject: name,
      issuer: name,
      validFrom: now - 365 * day,
      validTo: now + 20 * 365 * day,
      publicKey,
      usages: ["keyCertSign"],
      authority: true
    },
    privateKey
  )
  const kept: [string, string] = [
    privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    certificate.toString("base64")
  ]
  settings.set("authority", JSON.stringify(kept))
  return kept
}
