/**
 * Login documents as other programs sign them, made with the canonical forms of libxml2.
 */
import { hash, sign } from "node:crypto"
import { makePair, type Pair } from "../support/certificates.ts"
import * as Libxml2 from "../xml/libxml2.ts"

/** The ways in which a signature can differ. Templates get the digests and the value filled in. */
export interface Style {
  /** The document, with `SIGNATURE` where the signature belongs. */
  readonly document?: string
  readonly key?: "rsa" | "rsa-1024" | "P-256" | "P-384"
  /** The certificate and its key, in place of those of `key`. */
  readonly pair?: Pair
  readonly prefix?: string
  readonly signatureMethod?: string
  readonly hash?: "sha256" | "sha384" | "sha512"
  readonly padding?: { readonly padding: number; readonly saltLength: number }
  readonly encoding?: "der" | "ieee-p1363"
  readonly digestMethod?: string
  readonly signedInfoForm?: "exclusive" | "inclusive-1.0" | "inclusive-1.1"
  readonly enveloped?: string
  readonly propertiesForm?: "exclusive" | "inclusive-1.0" | "none"
  readonly signingCertificate?: (digest: string) => string
  readonly certificate?: Buffer
  readonly rootUri?: string
  readonly propertiesType?: string
  readonly target?: string
  readonly withoutPropertiesReference?: boolean
  readonly withoutReferences?: boolean
  readonly extraReference?: string
}

const ds = "http://www.w3.org/2000/09/xmldsig#"
const xades = "http://uri.etsi.org/01903/v1.3.2#"

const forms = {
  exclusive: "http://www.w3.org/2001/10/xml-exc-c14n#",
  "inclusive-1.0": "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
  "inclusive-1.1": "http://www.w3.org/2006/12/xml-c14n11"
}

const enveloped = `<@Transform Algorithm="${ds}enveloped-signature"/>`

const template = `<?xml version="1.0" encoding="utf-8"?>
<AuthTokenRequest xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://ksef.mf.gov.pl/auth/token/2.0">
  <!-- a comment -->
  <Challenge>20250625-CR-20F5EE4000-DA48AE4124-46</Challenge>
  <ContextIdentifier>
    <Nip>5265877635</Nip>
  </ContextIdentifier>
  <SubjectIdentifierType>certificateSubject</SubjectIdentifierType>
SIGNATURE</AuthTokenRequest>`

/** Signs a document in a style. */
export const signed = (style: Style = {}): string => {
  const pair = style.pair ?? makePair({ key: style.key ?? "rsa" })
  const { prefix = "ds", signedInfoForm = "exclusive", propertiesForm = "exclusive" } = style
  const algorithm = style.hash ?? "sha256"
  const raw = style.certificate ?? pair.der
  const named = (text: string) => text.replaceAll("@", prefix === "" ? "" : `${prefix}:`)
  const digestMethod = style.digestMethod ?? "http://www.w3.org/2001/04/xmlenc#sha256"
  const digest = (value: string) => `<@DigestMethod Algorithm="${digestMethod}"/><@DigestValue>${value}</@DigestValue>`
  const signingCertificate =
    style.signingCertificate ??
    ((digest) =>
      `<xades:SigningCertificate><xades:Cert><xades:CertDigest>${digest}</xades:CertDigest></xades:Cert></xades:SigningCertificate>`)
  const transforms = {
    exclusive: `<@Transforms><@Transform Algorithm="${forms.exclusive}"/></@Transforms>`,
    "inclusive-1.0": `<@Transforms><@Transform Algorithm="${forms["inclusive-1.0"]}"/></@Transforms>`,
    none: ""
  }[propertiesForm]

  const build = (digests: { readonly root: string; readonly properties: string }, value: string): string => {
    const signature = named(`<@Signature Id="S1" xmlns${prefix === "" ? "" : `:${prefix}`}="${ds}">
    <@SignedInfo>
      <@CanonicalizationMethod Algorithm="${forms[signedInfoForm]}"/>
      <@SignatureMethod Algorithm="${style.signatureMethod ?? "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"}"/>
      <@Reference URI="${style.rootUri ?? ""}"><@Transforms>${style.enveloped ?? enveloped}<@Transform Algorithm="${forms.exclusive}"/></@Transforms>${digest(digests.root)}</@Reference>
      ${style.withoutPropertiesReference === true ? "" : `<@Reference Type="${style.propertiesType ?? "http://uri.etsi.org/01903#SignedProperties"}" URI="#P1">${transforms}${digest(digests.properties)}</@Reference>`}
      ${style.extraReference ?? ""}
    </@SignedInfo>
    <@SignatureValue>${value}</@SignatureValue>
    <@KeyInfo><@X509Data><@X509Certificate>
${pair.der.toString("base64").replaceAll(/.{64}(?=.)/g, "$&\n")}
    </@X509Certificate></@X509Data></@KeyInfo>
    <@Object><xades:QualifyingProperties xmlns:xades="${xades}" Target="${style.target ?? "#S1"}"><xades:SignedProperties Id="P1">
      <xades:SignedSignatureProperties><xades:SigningTime>2026-11-20T11:59:00.1234567Z</xades:SigningTime>
      ${signingCertificate(`<@DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><@DigestValue>${hash("sha256", raw, "base64")}</@DigestValue>`)}
      </xades:SignedSignatureProperties></xades:SignedProperties></xades:QualifyingProperties></@Object>
  </@Signature>`)
    const written =
      style.withoutReferences === true ? signature.replaceAll(/<(\w*:?)Reference .*?<\/\1Reference>/gs, "") : signature
    return (style.document ?? template).replace("SIGNATURE", written)
  }

  const without = (style.document ?? template).replace("SIGNATURE", "")
  const draft = build({ root: "", properties: "" }, "")
  const namespaces = { ds, xades }
  const propertiesCanonical = Libxml2.canonical(draft, {
    form: propertiesForm === "none" ? "inclusive-1.0" : propertiesForm,
    withComments: false,
    element: "//xades:SignedProperties",
    namespaces
  })
  const root = hash(algorithm, Libxml2.canonical(without, { form: "exclusive", withComments: false }), "base64")
  const digests = { root, properties: hash(algorithm, propertiesCanonical, "base64") }
  const toSign = Libxml2.canonical(build(digests, ""), {
    form: signedInfoForm,
    withComments: false,
    element: "//ds:SignedInfo",
    namespaces
  })
  const value = sign(algorithm, Buffer.from(toSign), {
    key: pair.key,
    dsaEncoding: style.encoding ?? "ieee-p1363",
    ...style.padding
  })
  return build(digests, value.toString("base64"))
}
