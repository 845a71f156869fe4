/**
 * The signature of a simulated UPO: an enveloped XAdES signature like the Ministry's, by a certificate of the simulator.
 *
 * Everything that is signed is written in its exclusive canonical form here, so that no XML library is asked. The key is RSA,
 * whose signatures repeat: the same UPO has the same bytes whenever it is asked for.
 */
import { createHash, createPrivateKey, createSign, X509Certificate } from "node:crypto"
import type { Authority } from "../keys/Authority.ts"
import type { GenerateRsa } from "../keys/rsa.ts"
import type { Collection } from "../state/Collection.ts"
import { day } from "../time/Clock.ts"
import { renderUpo, type UpoContent } from "./Upo.ts"

const dsig = "http://www.w3.org/2000/09/xmldsig#"
const xades = "http://uri.etsi.org/01903/v1.3.2#"
const exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"
const sha256Uri = "http://www.w3.org/2001/04/xmlenc#sha256"

/** The name in the certificate that signs. */
export const signerName = "KSeF simulator (not the Ministry of Finance)"

const digest = (text: string): string => createHash("sha256").update(text).digest("base64")

interface Kept {
  readonly privateKey: string
  /** DER in Base64. */
  readonly certificate: string
}

const create = async (authority: Authority, now: number, generate: GenerateRsa): Promise<Kept> => {
  const { privateKey, publicKey } = await generate()
  const certificate = authority.certify({
    subject: { commonName: signerName, organization: "KSeF simulator", country: "PL" },
    validFrom: now - day,
    validTo: now + 20 * 365 * day,
    publicKey,
    usages: ["digitalSignature"]
  })
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    certificate: certificate.toString("base64")
  }
}

/** Signs UPOs. The key is made when the first one is asked for. */
export class UpoSigner {
  readonly #authority: Authority
  readonly #settings: Collection<string | number>
  readonly #now: () => number
  readonly #generate: GenerateRsa
  #kept: Promise<Kept> | undefined

  constructor(options: {
    readonly authority: Authority
    readonly settings: Collection<string | number>
    readonly now: () => number
    readonly generate: GenerateRsa
  }) {
    this.#authority = options.authority
    this.#settings = options.settings
    this.#now = options.now
    this.#generate = options.generate
  }

  /** Writes a UPO with its signature, in UTF-8. */
  async sign(content: UpoContent, signedAt: number): Promise<Buffer> {
    const { certificate, privateKey } = await (this.#kept ??= this.#open())
    const id =
      `Signature-${digest(content.sessionReference + content.documents[0]?.ksefNumber).slice(0, 8)}`.replaceAll(
        /[+/]/g,
        "-"
      )
    const properties = signedProperties(id, certificate, signedAt)
    const signedInfo = signedInfoOf(id, digest(renderUpo(content)), digest(properties))
    const value = createSign("sha256").update(signedInfo).sign(createPrivateKey(privateKey), "base64")
    const signature = [
      `<ds:Signature xmlns:ds="${dsig}" Id="${id}">`,
      signedInfo,
      `<ds:SignatureValue>${value}</ds:SignatureValue>`,
      `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`,
      `<ds:Object><xades:QualifyingProperties xmlns:xades="${xades}" Target="#${id}">`,
      properties,
      `</xades:QualifyingProperties></ds:Object></ds:Signature>`
    ].join("")
    return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${renderUpo(content, signature)}`, "utf8")
  }

  async #open(): Promise<Kept> {
    const kept = this.#settings.get("upoSigner")
    if (kept !== undefined) return JSON.parse(String(kept)) as Kept
    const created = await create(this.#authority, this.#now(), this.#generate)
    this.#settings.set("upoSigner", JSON.stringify(created))
    return created
  }
}

// In canonical form as it stands: each namespace is declared where its prefix is used first.
const signedProperties = (id: string, certificate: string, signedAt: number): string => {
  const x509 = new X509Certificate(Buffer.from(certificate, "base64"))
  const issuer = "C=PL,O=KSeF simulator,CN=KSeF simulator CA"
  return [
    `<xades:SignedProperties xmlns:xades="${xades}" Id="${id}-properties"><xades:SignedSignatureProperties>`,
    `<xades:SigningTime>${new Date(signedAt).toISOString().slice(0, 19)}Z</xades:SigningTime>`,
    `<xades:SigningCertificate><xades:Cert><xades:CertDigest>`,
    `<ds:DigestMethod xmlns:ds="${dsig}" Algorithm="${sha256Uri}"></ds:DigestMethod>`,
    `<ds:DigestValue xmlns:ds="${dsig}">${createHash("sha256").update(x509.raw).digest("base64")}</ds:DigestValue>`,
    `</xades:CertDigest><xades:IssuerSerial>`,
    `<ds:X509IssuerName xmlns:ds="${dsig}">${issuer}</ds:X509IssuerName>`,
    `<ds:X509SerialNumber xmlns:ds="${dsig}">${BigInt(`0x${x509.serialNumber}`)}</ds:X509SerialNumber>`,
    `</xades:IssuerSerial></xades:Cert></xades:SigningCertificate>`,
    `</xades:SignedSignatureProperties></xades:SignedProperties>`
  ].join("")
}

const method = (name: string, algorithm: string): string => `<ds:${name} Algorithm="${algorithm}"></ds:${name}>`

const signedInfoOf = (id: string, documentDigest: string, propertiesDigest: string): string =>
  [
    `<ds:SignedInfo xmlns:ds="${dsig}">`,
    method("CanonicalizationMethod", exclusive),
    method("SignatureMethod", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
    `<ds:Reference URI=""><ds:Transforms>`,
    method("Transform", `${dsig}enveloped-signature`),
    method("Transform", exclusive),
    `</ds:Transforms>`,
    method("DigestMethod", sha256Uri),
    `<ds:DigestValue>${documentDigest}</ds:DigestValue></ds:Reference>`,
    `<ds:Reference Type="http://uri.etsi.org/01903#SignedProperties" URI="#${id}-properties"><ds:Transforms>`,
    method("Transform", exclusive),
    `</ds:Transforms>`,
    method("DigestMethod", sha256Uri),
    `<ds:DigestValue>${propertiesDigest}</ds:DigestValue></ds:Reference></ds:SignedInfo>`
  ].join("")
