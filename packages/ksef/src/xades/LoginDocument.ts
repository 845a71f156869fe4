/**
 * The signed document of a login by certificate: `AuthTokenRequest` 2.1 with an enveloped XAdES signature.
 *
 * The document is written in exclusive canonical form, so what is sent and what is signed are the same text.
 *
 * @since 0.1.0
 */
import { hash, sign } from "node:crypto"
import type { ContextIdentifier } from "../format/ContextIdentifier.ts"
import * as algorithms from "./algorithms.ts"
import * as CanonicalXml from "./CanonicalXml.ts"
import * as Certificate from "./Certificate.ts"
import { ds, xades } from "./namespaces.ts"
import type { SigningCredential } from "./SigningCredential.ts"
import * as XmlTree from "./XmlTree.ts"

/**
 * The statements of a login.
 *
 * **Details**
 *
 * - `challenge`: as KSeF gave it.
 * - `context`: on whose behalf the session acts. In one of the type `NipVatUe`, KSeF grants permissions to certificates by their
 *   fingerprint alone, so the document names the subject by it.
 * - `signingTime`: milliseconds since the epoch. KSeF refuses a time in its future, so take one a minute ago.
 *
 * @category models
 * @since 0.1.0
 */
export interface Login {
  readonly challenge: string
  readonly context: ContextIdentifier
  readonly signingTime: number
}

/**
 * The namespace of the document.
 *
 * @category constants
 * @since 0.1.0
 */
export const namespace = "http://ksef.mf.gov.pl/auth/token/2.1"

/**
 * Writes and signs the document: RSA PKCS#1 v1.5 or ECDSA, by the key of the credential, with SHA-256.
 *
 * @category encoding
 * @since 0.1.0
 */
export const write = (login: Login, credential: SigningCredential): string => {
  const properties = signedProperties(login, credential)
  const unsigned = document(login, signature({ properties, references: "", value: "", credential }))
  const digests = { root: digestOf(unsigned, signatureOf(unsigned)), properties: digestOf(propertiesOf(unsigned)) }
  const references = rootReference(digests.root) + propertiesReference(digests.properties)
  const prepared = document(login, signature({ properties, references, value: "", credential }))
  const toSign = CanonicalXml.write(signedInfoOf(prepared), CanonicalXml.exclusive)
  const value = sign("sha256", Buffer.from(toSign), {
    key: credential.key(),
    ...algorithms.signatureMethods.get(methodFor(credential))!.options
  })
  const signed = document(login, signature({ properties, references, value: value.toString("base64"), credential }))
  return CanonicalXml.write(signed, CanonicalXml.exclusive)
}

const document = ({ challenge, context }: Login, signature: string): XmlTree.Document =>
  XmlTree.parse(
    `<AuthTokenRequest xmlns="${namespace}"><Challenge>${escaped(challenge)}</Challenge>` +
      `<ContextIdentifier><${context.type}>${escaped(context.value)}</${context.type}></ContextIdentifier>` +
      `<SubjectIdentifierType>${context.type === "NipVatUe" ? "certificateFingerprint" : "certificateSubject"}` +
      `</SubjectIdentifierType>${signature}</AuthTokenRequest>`
  )

interface Parts {
  readonly properties: string
  readonly references: string
  readonly value: string
  readonly credential: SigningCredential
}

const signature = ({ credential, properties, references, value }: Parts): string =>
  `<ds:Signature xmlns:ds="${ds}" Id="Signature"><ds:SignedInfo>` +
  `<ds:CanonicalizationMethod Algorithm="${algorithms.exclusiveCanonicalization}"/>` +
  `<ds:SignatureMethod Algorithm="${methodFor(credential)}"/>${references}</ds:SignedInfo>` +
  `<ds:SignatureValue>${value}</ds:SignatureValue>` +
  `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${credential.certificate.raw.toString("base64")}</ds:X509Certificate>` +
  `</ds:X509Data></ds:KeyInfo><ds:Object><xades:QualifyingProperties xmlns:xades="${xades}" Target="#Signature">` +
  `${properties}</xades:QualifyingProperties></ds:Object></ds:Signature>`

const signedProperties = ({ signingTime }: Login, { certificate }: SigningCredential): string =>
  `<xades:SignedProperties Id="SignedProperties"><xades:SignedSignatureProperties>` +
  `<xades:SigningTime>${new Date(signingTime).toISOString()}</xades:SigningTime>` +
  `<xades:SigningCertificate><xades:Cert><xades:CertDigest><ds:DigestMethod Algorithm="${algorithms.sha256}"/>` +
  `<ds:DigestValue>${hash("sha256", certificate.raw, "base64")}</ds:DigestValue></xades:CertDigest>` +
  `<xades:IssuerSerial><ds:X509IssuerName>${escaped(Certificate.formatName(Certificate.issuer(certificate)))}</ds:X509IssuerName>` +
  `<ds:X509SerialNumber>${Certificate.serialNumber(certificate)}</ds:X509SerialNumber></xades:IssuerSerial>` +
  `</xades:Cert></xades:SigningCertificate></xades:SignedSignatureProperties></xades:SignedProperties>`

const rootReference = (digest: string): string =>
  `<ds:Reference URI=""><ds:Transforms><ds:Transform Algorithm="${algorithms.envelopedSignature}"/>` +
  `<ds:Transform Algorithm="${algorithms.exclusiveCanonicalization}"/></ds:Transforms>${digestValue(digest)}</ds:Reference>`

const propertiesReference = (digest: string): string =>
  `<ds:Reference Type="http://uri.etsi.org/01903#SignedProperties" URI="#SignedProperties"><ds:Transforms>` +
  `<ds:Transform Algorithm="${algorithms.exclusiveCanonicalization}"/></ds:Transforms>${digestValue(digest)}</ds:Reference>`

const digestValue = (digest: string): string =>
  `<ds:DigestMethod Algorithm="${algorithms.sha256}"/><ds:DigestValue>${digest}</ds:DigestValue>`

const methodFor = ({ certificate }: SigningCredential): string =>
  certificate.publicKey.asymmetricKeyType === "ec" ? algorithms.ecdsaSha256 : algorithms.rsaSha256

const digestOf = (node: XmlTree.Document | XmlTree.Element, omitted?: XmlTree.Element): string =>
  hash("sha256", CanonicalXml.write(node, CanonicalXml.exclusive, omitted), "base64")

const find =
  (namespace: string, name: string) =>
  ({ root }: XmlTree.Document): XmlTree.Element =>
    XmlTree.elements(root).find((element) => element.namespace === namespace && element.name === name)!

const signatureOf = find(ds, "Signature")
const signedInfoOf = find(ds, "SignedInfo")
const propertiesOf = find(xades, "SignedProperties")

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => references[character]!)

const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }
