/**
 * Signatures that hold and signatures that do not, for every verifier of login documents.
 */
import { constants } from "node:crypto"
import { makePair } from "../support/certificates.ts"
import { signed, type Style } from "./foreign.ts"

const more = "http://www.w3.org/2001/04/xmldsig-more#"
const ds = "http://www.w3.org/2000/09/xmldsig#"

const digestMethods = {
  sha256: "http://www.w3.org/2001/04/xmlenc#sha256",
  sha384: `${more}sha384`,
  sha512: "http://www.w3.org/2001/04/xmlenc#sha512"
} as const

/** Ways to sign that KSeF takes. */
export const accepted: ReadonlyArray<readonly [what: string, style: Style]> = [
  ["exclusive canonicalization throughout", {}],
  ["no prefix, as the official client in C# writes it", { prefix: "", signedInfoForm: "inclusive-1.0" }],
  ["Canonical XML 1.0 of the signed info", { signedInfoForm: "inclusive-1.0" }],
  ["Canonical XML 1.1 of the signed info", { signedInfoForm: "inclusive-1.1" }],
  ["Canonical XML 1.0 of the signed properties", { propertiesForm: "inclusive-1.0" }],
  ["a reference without transforms", { propertiesForm: "none" }],
  [
    "the XPath transform that leaves out signatures",
    {
      enveloped: `<@Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><@XPath>not(ancestor-or-self::ds:Signature)</@XPath></@Transform>`
    }
  ],
  ["ECDSA on P-256", { key: "P-256", signatureMethod: `${more}ecdsa-sha256` }],
  [
    "ECDSA on P-384, as DSS signs with such keys",
    { key: "P-384", signatureMethod: `${more}ecdsa-sha384`, hash: "sha384", digestMethod: digestMethods.sha384 }
  ],
  ["RSA with SHA-512", { signatureMethod: `${more}rsa-sha512`, hash: "sha512", digestMethod: digestMethods.sha512 }],
  [
    "RSA-PSS",
    {
      signatureMethod: "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
      padding: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    }
  ],
  [
    "SigningCertificateV2",
    {
      signingCertificate: (digest) =>
        `<xades:SigningCertificateV2><xades:Cert><xades:CertDigest>${digest}</xades:CertDigest></xades:Cert></xades:SigningCertificateV2>`
    }
  ],
  ["instructions and comments around the root", { document: "<?p x?><!-- c --><a>\r\n<b/>SIGNATURE</a><?q?>" }]
]

// Ends the signed properties before the certificate, which stands in a second set that no reference covers.
const inUnsigned = (digest: string): string =>
  `</xades:SignedSignatureProperties></xades:SignedProperties></xades:QualifyingProperties>
    <xades:QualifyingProperties xmlns:xades="http://uri.etsi.org/01903/v1.3.2#" Target="#S2"><xades:SignedProperties Id="P2">
      <xades:SignedSignatureProperties><xades:SigningCertificate><xades:Cert><xades:CertDigest>${digest}</xades:CertDigest></xades:Cert></xades:SigningCertificate>`

/** Documents that are refused, with the code of the refusal. */
export const refused = (): ReadonlyArray<
  readonly [what: string, xml: string, code: 9101 | 9102 | 9103 | 9105 | 21115]
> => {
  const xml = signed()
  return [
    ["text", "no document", 9101],
    ["a document that is not well-formed", "<a>", 9101],
    ["a document type", "<!DOCTYPE a><a/>", 9101],
    ["a document without a signature", "<a/>", 9102],
    ["two signatures", xml.replace(/(<ds:Signature [^]*<\/ds:Signature>)/, "$1$1"), 9103],
    ["a signature inside of a signature", xml.replace("<ds:KeyInfo>", `<ds:KeyInfo><ds:Signature/>`), 9103],
    ["a signature below another element", signed({ document: "<a><b>SIGNATURE</b></a>" }), 9105],
    ["a signature as the root", `<ds:Signature xmlns:ds="${ds}"/>`, 9105],
    ["a changed document", xml.replace("5265877635", "5265877634"), 9105],
    ["an added element", xml.replace("</AuthTokenRequest>", "<x/></AuthTokenRequest>"), 9105],
    ["added text", xml.replace("</Challenge>", " </Challenge>"), 9105],
    ["an instruction that was added before the root", xml.replace("?>\n", "?>\n<?p?>"), 9105],
    ["a changed signing time", xml.replace("T11:59", "T11:58"), 9105],
    ["a changed digest", xml.replace(/(<ds:DigestValue>)./, "$1!"), 9105],
    ["an empty value", xml.replace(/(<ds:SignatureValue>)[^<]*/, "$1"), 9105],
    [
      "a value of another document",
      xml.replace(
        /<ds:SignatureValue>[^<]*/,
        /<ds:SignatureValue>[^<]*/.exec(signed({ document: "<b>SIGNATURE</b>" }))![0]
      ),
      9105
    ],
    ["another certificate", signed({ certificate: makePair({ serial: "07" }).der }), 9105],
    ["ECDSA values in DER", signed({ key: "P-256", signatureMethod: `${more}ecdsa-sha256`, encoding: "der" }), 9105],
    ["a method of another kind of key", signed({ signatureMethod: `${more}ecdsa-sha256` }), 9105],
    ["an HMAC", signed({ signatureMethod: `${ds}hmac-sha1` }), 9105],
    ["SHA-1", signed({ signatureMethod: `${ds}rsa-sha1` }), 9105],
    ["a digest method that is not supported", signed({ digestMethod: `${ds}sha1` }), 9105],
    ["a short key", signed({ key: "rsa-1024" }), 21115],
    ["no reference to the signed properties", signed({ withoutPropertiesReference: true }), 9105],
    ["a reference to the signed properties without its type", signed({ propertiesType: "" }), 9105],
    ["signed properties of another signature", signed({ target: "#S2" }), 9105],
    ["no signing certificate in the signed properties", signed({ signingCertificate: () => "" }), 9105],
    ["a signing certificate in properties that are not signed", signed({ signingCertificate: inUnsigned }), 9105],
    ["no enveloped transform", signed({ enveloped: "" }), 9105],
    [
      "an XPath that leaves out more",
      signed({
        enveloped: `<@Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><@XPath>not(ancestor-or-self::Nip)</@XPath></@Transform>`
      }),
      9105
    ],
    ["XSLT", signed({ enveloped: `<@Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"/>` }), 9105],
    [
      "a reference to something else",
      signed({
        extraReference: `<@Reference URI="http://example.com/"><@DigestMethod Algorithm="${digestMethods.sha256}"/><@DigestValue>AA==</@DigestValue></@Reference>`
      }),
      9105
    ],
    [
      "more references than a document needs",
      xml.replace(/<ds:Reference [^]*<\/ds:Reference>/, (all) => all.repeat(17)),
      9105
    ],
    [
      "a reference without an address",
      signed({
        extraReference: `<@Reference><@DigestMethod Algorithm="${digestMethods.sha256}"/><@DigestValue>AA==</@DigestValue></@Reference>`
      }),
      9105
    ]
  ]
}
