/**
 * Login documents inside of a signature, with the canonical forms of libxml2.
 */
import { hash, sign } from "node:crypto"
import { makePair } from "../../../ksef/test/support/certificates.ts"
import * as Libxml2 from "../../../ksef/test/xml/libxml2.ts"

const namespaces = { ds: "http://www.w3.org/2000/09/xmldsig#", xades: "http://uri.etsi.org/01903/v1.3.2#" }
const exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"
const sha256 = "http://www.w3.org/2001/04/xmlenc#sha256"

/** Envelops a login document in a signature by RSA. */
export const enveloping = (document: string): string => {
  const { der, key } = makePair()
  const digest = (value: string) => `<ds:DigestMethod Algorithm="${sha256}"/><ds:DigestValue>${value}</ds:DigestValue>`
  const reference = (id: string, value: string, attributes = "") =>
    `<ds:Reference URI="#${id}"${attributes}><ds:Transforms><ds:Transform Algorithm="${exclusive}"/></ds:Transforms>${digest(value)}</ds:Reference>`
  const write = (digests: { readonly object: string; readonly properties: string }, value: string): string =>
    [
      `<ds:Signature xmlns:ds="${namespaces.ds}" Id="S1"><ds:SignedInfo>`,
      `<ds:CanonicalizationMethod Algorithm="${exclusive}"/>`,
      `<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>`,
      reference("O1", digests.object),
      reference("P1", digests.properties, ' Type="http://uri.etsi.org/01903#SignedProperties"'),
      `</ds:SignedInfo><ds:SignatureValue>${value}</ds:SignatureValue>`,
      `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${der.toString("base64")}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`,
      `<ds:Object Id="O1">${document}</ds:Object>`,
      `<ds:Object><xades:QualifyingProperties xmlns:xades="${namespaces.xades}" Target="#S1"><xades:SignedProperties Id="P1">`,
      `<xades:SignedSignatureProperties><xades:SigningCertificate><xades:Cert><xades:CertDigest>`,
      digest(hash("sha256", der, "base64")),
      `</xades:CertDigest></xades:Cert></xades:SigningCertificate></xades:SignedSignatureProperties>`,
      `</xades:SignedProperties></xades:QualifyingProperties></ds:Object></ds:Signature>`
    ].join("")
  const canonical = (xml: string, element: string) =>
    Libxml2.canonical(xml, { form: "exclusive", withComments: false, element, namespaces })
  const draft = write({ object: "", properties: "" }, "")
  const digests = {
    object: hash("sha256", canonical(draft, "//ds:Object[@Id='O1']"), "base64"),
    properties: hash("sha256", canonical(draft, "//xades:SignedProperties"), "base64")
  }
  const signedInfo = canonical(write(digests, ""), "//ds:SignedInfo")
  return write(digests, sign("sha256", Buffer.from(signedInfo), key).toString("base64"))
}
